"""What befalls the pods of FoundationDB clusters in stories, and who looks on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from operators.fdb.fdb_worlds import PATIENCE, World, told
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import CLASS_LABEL
from stateward.kube.client import Change, MergePatch, Selection
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import PODS, VOLUME_CLAIMS

NAMESPACE = "story"
CLUSTER = "shop"
#: Holds a pod that was deleted, as a node does that cannot end it.
HOLD = "story.stateward.dev/hold"


async def keep(it: World) -> None:
    """Write something that must be there at the end."""
    assert "Committed" in await it.typed(CLUSTER, "writemode on; set kept here")


async def is_kept(it: World) -> bool:
    return "`kept' is `here'" in await it.typed(CLUSTER, "get kept")


async def until(it: World, what: str, holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is true; say how the cluster stands when it does not come."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await holds():  # noqa: ASYNC110 - a cluster rings no bell
                await asyncio.sleep(0.2)
    except TimeoutError:
        stands = told(await it.get(CLUSTER))
        raise AssertionError(f"{what}: not within {PATIENCE:g} s: {stands}") from None


# ------------------------------------------------------------------ pods and claims
async def pods(it: World, process_class: str = "") -> dict[str, Pod]:
    """Return the pods, or those of a class, by their names, which are those of their groups."""
    labels = f"{CLASS_LABEL}={process_class}" if process_class else ""
    found = (await it.client.list(PODS, Selection(NAMESPACE, labels))).items
    return {pod.metadata.name: pod for pod in found}


async def uids(it: World, process_class: str = "") -> dict[str, str]:
    return {name: pod.metadata.uid for name, pod in (await pods(it, process_class)).items()}


async def sizes(it: World) -> dict[str, str]:
    """Return how large every claim is, by the name of its group."""
    found = (await it.client.list(VOLUME_CLAIMS, Selection(NAMESPACE))).items
    return {
        claim.metadata.name.removesuffix("-data"): str(claim.spec.resources.requests["storage"])
        for claim in found
    }


async def mark(it: World, pod: str, **metadata: Any) -> None:
    """Change what is said about a pod."""
    await it.client.patch(PODS, ObjectKey(NAMESPACE, pod), MergePatch({"metadata": metadata}))


async def delete(it: World, names: set[str]) -> None:
    """Delete pods, all at once."""
    found = await pods(it)
    some = [found[name].metadata for name in sorted(names)]
    await asyncio.gather(*(it.client.delete(PODS, one.key, uid=one.uid) for one in some))


async def coordinators(it: World) -> set[str]:
    """Return the names of the groups that coordinate."""
    string = ConnectionString.parse((await it.get(CLUSTER)).status.connection_string)
    hosts = {one.host for one in string.coordinators}
    groups = await it.groups(CLUSTER)
    return {one.metadata.name for one in groups if not hosts.isdisjoint(one.status.addresses)}


# ------------------------------------------------------------------ looking on
@dataclass(slots=True)
class Zones:
    """On which nodes a pod is away: about to end, gone, or not yet ready again."""

    home: dict[str, str]
    away: set[str] = field(default_factory=set)
    #: The nodes in the order in which pods went away from them.
    order: list[str] = field(default_factory=list)
    #: All that were empty in part at the same time, if ever more than one was.
    together: list[set[str]] = field(default_factory=list)

    def see(self, change: Change, pod: Pod) -> None:
        """Take in that a pod has changed."""
        name = pod.metadata.name
        if name not in self.home:
            return
        if change is not Change.DELETED and pod.ready and not pod.metadata.deleting:
            self.away.discard(name)
            return
        if name not in self.away:
            self.order.append(self.home[name])
        self.away.add(name)
        nodes = {self.home[one] for one in self.away}
        if len(nodes) > 1:
            self.together.append(nodes)


@asynccontextmanager
async def watched(it: World, process_class: str) -> AsyncGenerator[Zones, None]:
    """See which pods of a class go away and come back, until the end of the block."""
    chosen = Selection(NAMESPACE, f"{CLASS_LABEL}={process_class}")
    listing = await it.client.list(PODS, chosen)
    zones = Zones({pod.metadata.name: pod.spec.node_name for pod in listing.items})

    async def look() -> None:
        async for event in it.client.watch(PODS, chosen, since=listing.revision):
            if isinstance(event.object, Pod):
                zones.see(event.change, event.object)
        raise AssertionError("the watch ended: nobody looked on")

    task = asyncio.create_task(look())
    try:
        yield zones
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
