"""Who can be asked whether a truth of the client port holds.

A backend is one function: it is given a truth, makes a :class:`Kube` and runs the truth over it, on
whatever loop it needs. To add one, write that function and name it in ``all_backends``; no truth has to
know. One that speaks HTTP is a server and a call of :func:`over_http`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from contract.widgets import DEFINITION, WIDGETS
from fakes import loops
from real import planes
from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.ports import Ports
from stateward.kube.client import Client, Selection
from stateward.kube.codec import plain
from stateward.kube.errors import AlreadyExists, ApiError, Forbidden, NotFound
from stateward.kube.http.access import BearerToken, ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.meta import Object
from stateward.kube.resources import (
    BUILT_IN,
    CONFIG_MAPS,
    CUSTOM_RESOURCES,
    NAMESPACES,
    PODS,
    Registry,
    Resource,
)
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.sim import loop as sim_loop

#: Names the kubeconfig of one more cluster that may be used for this; kube-apiserver and
#: kube-controller-manager are enough. The truths write into namespaces of their own and leave the
#: definition of one kind behind.
KUBECONFIG: Final = "STATEWARD_CONTRACT_KUBECONFIG"

#: Seconds for one truth on a real clock, and for a controller of a real cluster to do its work.
PATIENCE: Final = 60.0

Holds: TypeAlias = Callable[[], Awaitable[bool]]
Forgotten: TypeAlias = Callable[[Resource[Any]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Kube:
    """What a truth is about."""

    client: Client
    #: The same cluster, seen by somebody else: another field manager.
    rival: Client
    #: Two namespaces with nothing in them. The second one's name begins with the first one's.
    namespace: str
    elsewhere: str
    #: Let the cluster's own controllers work until something holds.
    until: Callable[[Holds], Awaitable[None]]
    #: Return a revision of a resource from which the server can no longer tell what happened; where a
    #: backend cannot bring that about, it skips the truth and says why.
    forgotten: Forgotten


Truth: TypeAlias = Callable[[Kube], Awaitable[None]]
Backend: TypeAlias = Callable[[Truth], None]


# ------------------------------------------------------------------ the embedded store, without a wire
def memory(truth: Truth) -> None:
    """Ask the embedded Kubernetes, by function call and in virtual time."""
    sim_loop.run(_in_memory(truth))


async def _in_memory(truth: Truth) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, sim_loop.SimLoop)
    api = served_api(Ports(sim_loop.SimClock(loop), Chance(1)))
    collector = Collector(api, Registry((*BUILT_IN, WIDGETS)))

    async def until(holds: Holds) -> None:
        while not await holds():
            assert collector.step(), "nobody will do anything about it any more"

    async def forgotten(resource: Resource[Any]) -> str:
        revision = api.store.revision
        doomed = {"metadata": {"namespace": "shop", "name": "soon-forgotten"}}
        made = await client.create(resource, doomed)
        await client.delete(resource, made.metadata.key, uid=made.metadata.uid)
        api.store.compact()
        return str(revision)

    client = MemoryClient(api, field_manager="stateward")
    rival = MemoryClient(api, field_manager="rival")
    await client.create(replace(CUSTOM_RESOURCES, type=Object), plain(DEFINITION))
    for name in ("shop", "shop-b"):
        await client.create(NAMESPACES, {"metadata": {"name": name}})
    await truth(Kube(client, rival, "shop", "shop-b", until, forgotten))


# ------------------------------------------------------------------ the embedded Kubernetes, over its own wire
def http(truth: Truth) -> None:
    """Ask the embedded Kubernetes as everybody outside does: over HTTP, with every rule."""
    loops.run(_over_own_wire(truth), PATIENCE)


async def _over_own_wire(truth: Truth) -> None:
    ports = Ports(SystemClock(), Chance(1))
    api = served_api(ports)
    collector = Collector(api, lambda: [kind.resource for kind in api.kinds])

    async def forgotten(resource: Resource[Any]) -> str:
        revision = api.store.revision
        doomed = {"metadata": {"name": "soon-forgotten"}}
        made = api.create(CONFIG_MAPS, "default", doomed, Author())
        api.delete(CONFIG_MAPS, made.key, DeleteOptions())
        api.store.compact()
        return str(revision)

    async with ApiServer(api, ports, token="contract").listening() as url:
        collecting = asyncio.create_task(collector.run(ports))
        try:
            access = ClusterAccess(url, credentials=BearerToken("contract"))
            await over_http(access, truth, forgotten)
        finally:
            collecting.cancel()


# ------------------------------------------------------------------ real ones, and somebody else's
def real(access: ClusterAccess, truth: Truth) -> None:
    """Ask a real cluster."""
    loops.run(over_http(access, truth), PATIENCE)


async def over_http(
    access: ClusterAccess, truth: Truth, forgotten: Forgotten | None = None
) -> None:
    """Run a truth over the wire, in two fresh namespaces of a cluster that has controllers.

    They are left there: to empty some thousand of them would keep its controllers from their work.
    """
    chance = Chance.from_system()
    async with AsyncExitStack() as stack:
        client, rival = [
            await stack.enter_async_context(
                HttpClient(access, SystemClock(), chance.stream(name), field_manager=name)
            )
            for name in ("stateward", "rival")
        ]
        await _serve_widgets(client)
        namespace = f"contract-{chance.suffix(8)}"
        for name in (namespace, f"{namespace}-b"):
            await client.create(NAMESPACES, {"metadata": {"name": name}})
            await _open(client, name)
        past = forgotten or _long_gone
        await truth(Kube(client, rival, namespace, f"{namespace}-b", _until, past))


async def _serve_widgets(client: Client) -> None:
    with suppress(AlreadyExists):
        await client.create(replace(CUSTOM_RESOURCES, type=Object), DEFINITION)

    async def served() -> bool:
        try:
            await client.list(WIDGETS, Selection("default"))
        except (
            ApiError
        ) as error:  # a kind that is not served yet is a 404 without a Status document
            if error.code != NotFound.code:
                raise
            return False
        return True

    await _until(served)


async def _open(client: Client, namespace: str) -> None:
    """Wait until a namespace takes pods: some clusters want a service account in it first."""
    spec = {"containers": [{"name": "main", "image": "none"}]}
    body = {"metadata": {"namespace": namespace, "name": "first"}, "spec": spec}

    async def takes_pods() -> bool:
        try:
            await client.create(replace(PODS, type=Object), body, dry_run=True)
        except Forbidden:
            return False
        return True

    await _until(takes_pods)


async def _until(holds: Holds) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await holds():  # noqa: ASYNC110 - a cluster rings no bell
            await asyncio.sleep(0.05)


async def _long_gone(resource: Resource[Any]) -> str:
    """Return the first revision of all: a server remembers its custom kinds since they were defined."""
    return "1"


def all_backends() -> dict[str, Backend]:
    """Return who is asked in this run, by name."""
    access = planes.shared()
    if path := os.environ.get(KUBECONFIG):
        access["given"] = from_kubeconfig([Path(path)], os.environ)
    others = {name: partial(real, it) for name, it in access.items()}
    # Beside real ones the embedded one is asked as they are.
    own = {"http": http} if others else {"memory": memory, "http": http}
    return planes.columns(own, others)
