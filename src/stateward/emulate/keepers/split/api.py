"""The sidecar's HTTP API: questions by GET, orders by POST, all answers plain text.

With TLS, whoever asks shows a certificate that the rules allow; ``/ready`` may be asked by anybody,
since the kubelet has none.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aiohttp import web

from stateward.core.errors import UsageError
from stateward.core.peers.rules import Rules
from stateward.emulate.keepers.files import CopyFailed
from stateward.emulate.keepers.split.work import NotAllowed, NotThere, Work

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """Answers for one sidecar."""

    def __init__(
        self, work: Work, rules: Rules | None, renew: Callable[[], Awaitable[None]]
    ) -> None:
        self._work = work
        #: None: there is no TLS, and nobody shows anything.
        self._rules = rules
        self._renew = renew
        #: Set when somebody asked for a restart.
        self.restart = asyncio.Event()

    def app(self) -> web.Application:
        """Return the web application."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if refused := self._refusal(request):
                return refused
            return await _plainly(request, handler)

        app = web.Application(middlewares=[guard])
        work = self._work
        app.router.add_get("/check_hash/{name:.+}", self._check_hash)
        app.router.add_get("/is_present/{name:.+}", self._is_present)
        app.router.add_get("/ready", _ready)
        app.router.add_get("/substitutions", self._substitutions)
        app.router.add_post("/copy_files", _doing(work.copy_files))
        app.router.add_post("/copy_binaries", _doing(work.copy_programs))
        app.router.add_post("/copy_libraries", _doing(work.copy_libraries))
        app.router.add_post("/copy_monitor_conf", _doing(work.copy_monitor_conf))
        app.router.add_post("/refresh_certs", self._refresh_certs)
        app.router.add_post("/restart", self._restart)
        return app

    def _refusal(self, request: web.Request) -> web.Response | None:
        if self._rules is None or request.path == "/ready":
            return None
        transport = request.transport
        certificate = transport.get_extra_info("peercert") if transport is not None else None
        if self._rules.allow(certificate):
            return None
        return _text("a certificate that the rules about peers allow must be shown", 401)

    async def _check_hash(self, request: web.Request) -> web.Response:
        return web.Response(text=self._work.hash_of(request.match_info["name"]))

    async def _is_present(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if self._work.is_present(name):
            return _text("OK")
        raise NotThere(f"{name} must be in the output folder")

    async def _substitutions(self, _request: web.Request) -> web.Response:
        return _text(json.dumps(self._work.values))

    async def _refresh_certs(self, _request: web.Request) -> web.Response:
        if self._rules is None:
            return _text("certificates can be refreshed only with --tls", 400)
        await self._renew()
        return _text("OK")

    async def _restart(self, _request: web.Request) -> web.Response:
        self.restart.set()
        return _text("OK")


async def _ready(_request: web.Request) -> web.Response:
    return _text("OK")


def _doing(verb: Callable[[], None]) -> Handler:
    async def answer(_request: web.Request) -> web.Response:
        verb()
        return _text("OK")

    return answer


async def _plainly(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer with a sentence, whatever happens."""
    try:
        return await handler(request)
    except NotThere as error:
        return _text(error.sentence(), 404)
    except CopyFailed as error:
        return _text(error.sentence(), 500)
    except (NotAllowed, UsageError) as error:
        return _text(error.sentence(), 400)
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        return _text(f"{request.path} must be asked by {allowed}", 405)
    except web.HTTPException as error:
        return _text(f"{request.method} {request.path} must be something known here", error.status)
    except OSError as error:
        return _text(f"the files must be readable: {error.strerror or error}", 500)


def _text(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text + "\n", status=status)
