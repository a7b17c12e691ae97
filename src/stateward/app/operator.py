"""The operator process: a client, sites for probes and metrics, and the operators, until told.

An operator is started when the API server serves its kind. Until then the process lives, says in a
sentence what is missing, and looks again: definitions may well be applied after us.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

from stateward import __version__
from stateward.app.products import USUAL, Product, Site
from stateward.app.settings import Address, Settings
from stateward.core.chance import Chance
from stateward.core.errors import StatewardError
from stateward.core.ports import Ports
from stateward.kube.client import Selection
from stateward.kube.errors import ApiError, NotFound
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.runtime.backoff import Backoff
from stateward.runtime.telling import logs
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.probes import Probes, metrics_app, serving

_log = logs.get("operator")

#: How soon a missing kind is looked for again.
_LOOKS = Backoff(first=1.0, limit=15.0)
_DEFINE = "apply its definition: {} | kubectl apply --server-side -f -"


def identity_of(chance: Chance) -> str:
    """Return a name that no other process has, of this machine or of another, now or later."""
    return f"{socket.gethostname()}_{os.getpid()}_{chance.suffix(8)}"


async def run(
    settings: Settings,
    access: ClusterAccess,
    products: Iterable[Product],
    stop: asyncio.Event,
    ports: Ports,
) -> None:
    """Run the operators until told to stop; raise what ends one of them before."""
    identity = identity_of(ports.chance.stream("identity"))
    metrics, probes = Metrics(ports.clock), Probes()
    metrics.tell_of_process()
    async with AsyncExitStack() as stack:
        await _serve(stack, "metrics", settings.metrics, metrics_app(metrics))
        await _serve(stack, "probes", settings.probes, probes.app())
        _log.info(
            "the operator starts",
            version=__version__,
            identity=identity,
            cluster=access.origin,
            server=access.server,
            namespaces=list(settings.namespaces) or "all",
            selector=settings.selector or "all",
        )
        lives: list[_Life] = []
        for product in products:
            name = f"stateward-{product.name}"
            client = await stack.enter_async_context(_client(access, ports, name, metrics))
            connected = partial(_another, access, ports, name, metrics)
            own = ports.stream(product.name)
            site = Site(client, connected, own, identity, metrics, settings)
            lives.append(_Life(product, site))
            probes.ready_when(product.name, lives[-1].problem)
        await _all_of(lives, stop)
    _log.info("the operator ended")


@dataclass(slots=True)
class _Life:
    """One operator from the wait for its kind to its end."""

    product: Product
    site: Site
    #: Says why it is not ready.
    problems: Callable[[], list[str]] = field(default=lambda: ["it has not begun yet"])

    def problem(self) -> str | None:
        """Return why it is not ready, or None when it is."""
        return "; ".join(self.problems()) or None

    async def live(self, stop: asyncio.Event) -> None:
        """Wait for the kind, then work until told to stop."""
        if not await self._has_its_kind(stop):
            return
        async with self.product.opened(self.site) as supervisor:
            self.problems = supervisor.problems
            await supervisor.run(stop)

    async def _has_its_kind(self, stop: asyncio.Event) -> bool:
        """Return True when the kind is served; False when we are told to stop before."""
        failures, said = 0, ""
        while not stop.is_set():
            problem = await self._missing()
            if problem is None:
                return True
            failures += 1
            self.problems = partial(list, [problem])
            if problem != said:
                said = problem
                _log.warning(problem, product=self.product.name)
            delay = _LOOKS.delay(failures, self.site.ports.chance)
            await _asleep_or_told(stop, self.site.ports.clock.sleep(delay))
        return False

    async def _missing(self) -> str | None:
        """Say why the kind cannot be listed, or None when it can."""
        kind = self.product.kind
        first = next(iter(self.site.settings.namespaces), "")
        try:
            await self.site.client.list(kind, Selection(first))
        except StatewardError as error:
            # A server that knows no such kind says so without a document, so this is no NotFound.
            if isinstance(error, ApiError) and error.code == NotFound.code:
                crds = "stateward crds" + ("" if self.product.name in USUAL else " --example")
                return f"the API server must serve {kind}, and does not; {_DEFINE.format(crds)}"
            return f"{kind} must be listed: {error.sentence()}"
        return None


async def _all_of(lives: Iterable[_Life], stop: asyncio.Event) -> None:
    """Let all live until told to stop; when one ends, so do the others."""
    tasks = [asyncio.create_task(it.live(stop), name=it.product.name) for it in lives]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in ended:
        if isinstance(error, BaseException):
            raise error


async def _asleep_or_told(stop: asyncio.Event, sleep: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(stop.wait()), asyncio.create_task(sleep)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _serve(
    stack: AsyncExitStack, what: str, place: Address | None, app: web.Application
) -> None:
    """Serve a site for as long as the stack lasts, and say where; or do not, if nobody wants it."""
    if place is not None:
        port = await stack.enter_async_context(serving(app, place.host, place.port))
        _log.info(f"{what} are served", address=str(Address(place.host, port)))


def _another(
    access: ClusterAccess, ports: Ports, name: str, metrics: Metrics, part: str
) -> HttpClient:
    return _client(access, ports, f"{name}-{part}", metrics)


def _client(access: ClusterAccess, ports: Ports, name: str, metrics: Metrics) -> HttpClient:
    return HttpClient(
        access,
        ports.clock,
        ports.chance.stream(name),
        field_manager=name,
        observe=metrics.rest().observed,
        warn=lambda text: _log.warning("the API server warns", text=text),
    )
