"""What the kubelet asks, /healthz and /readyz, and what Prometheus asks, /metrics.

``/healthz`` answers as long as the event loop runs, and says no when a watchdog complains: the
kubelet then restarts us. ``/readyz`` says no while something that we need is missing: restarting
would not help. Both answer "ok", or one line per check when one fails or when asked with
``?verbose``. Each has a site of its own, because the kubelet and Prometheus need not be let in by
the same door; both listen on loopback unless told otherwise.
"""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from aiohttp import web

from stateward.core.errors import UsageError
from stateward.runtime.telling import logs
from stateward.runtime.telling.metrics import Metrics

#: Says what is wrong, or None when all is well. Must answer at once.
Check: TypeAlias = Callable[[], str | None]

_log = logs.get("probes")

#: Probes are short; whoever has not read the answer by then is not going to.
_GRACE_SECONDS = 2.0


class Probes:
    """Checks by name, and the server that shows them. The same name again replaces the check."""

    def __init__(self) -> None:
        self._alive: dict[str, Check] = {}
        self._ready: dict[str, Check] = {}

    def alive_while(self, name: str, check: Check) -> None:
        """Add a watchdog: when it complains, restarting this process is the remedy."""
        self._alive[name] = check

    def ready_when(self, name: str, check: Check) -> None:
        """Add something without which we cannot do our work."""
        self._ready[name] = check

    def app(self) -> web.Application:
        """Return the web application, for those who have a server of their own."""
        app = web.Application(middlewares=[_without_traceback])
        app.router.add_get("/healthz", self._answer_health)
        app.router.add_get("/readyz", self._answer_readiness)
        return app

    async def _answer_health(self, request: web.Request) -> web.Response:
        return _verdict(self._alive, verbose="verbose" in request.query)

    async def _answer_readiness(self, request: web.Request) -> web.Response:
        return _verdict(self._ready, verbose="verbose" in request.query)


def metrics_app(metrics: Metrics) -> web.Application:
    """Return the web application that Prometheus scrapes."""

    async def answer(_request: web.Request) -> web.Response:
        body, content_type = metrics.render()
        return web.Response(body=body, headers={"Content-Type": content_type})

    app = web.Application(middlewares=[_without_traceback])
    app.router.add_get("/metrics", answer)
    return app


@asynccontextmanager
async def serving(
    app: web.Application, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[int]:
    """Listen while inside, and give the port; 0 lets the system choose one, "" means every host.

    Raise UsageError when the address cannot be had.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_GRACE_SECONDS)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host or None, port).start()
        except (OSError, OverflowError) as error:
            raise _cannot_listen(host or "every address", port, error) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _verdict(checks: dict[str, Check], *, verbose: bool) -> web.Response:
    problems = {name: _problem(name, check) for name, check in sorted(checks.items())}
    failed = any(problem is not None for problem in problems.values())
    verdict = "failed" if failed else "ok"
    lines = (
        [_line(name, problem) for name, problem in problems.items()] if failed or verbose else []
    )
    return _text("\n".join([*lines, verdict]), status=503 if failed else 200)


def _problem(name: str, check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - a broken check is a failed check
        _log.exception("a check failed to answer", check=name)
        return f"the check itself failed with {type(error).__name__}"


def _line(name: str, problem: str | None) -> str:
    return f"[+] {name}: ok" if problem is None else f"[-] {name}: {' '.join(problem.split())}"


def _text(text: str, *, status: int) -> web.Response:
    return web.Response(text=f"{text}\n", status=status, headers={"Cache-Control": "no-store"})


@web.middleware
async def _without_traceback(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException:
        raise
    except Exception:  # noqa: BLE001 - what went wrong is for our log, not for whoever asks
        _log.exception("a probe could not be answered", path=request.path)
        return _text("internal error, see the operator's log", status=500)


def _cannot_listen(host: str, port: int, error: OSError | OverflowError) -> UsageError:
    if isinstance(error, OverflowError):
        return UsageError(f"a port must be between 0 and 65535, got {port}")
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"port {port} on {host} is already in use",
            hint="stop what uses it, or choose another (--metrics-address, --probe-address)",
        )
    return UsageError(f"cannot listen on {host} port {port}: {error.strerror or error}")
