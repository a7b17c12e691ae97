"""What scripts are made of: something that somebody does, and the end that is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import yaml

from stateward.fdb.api.kind import (
    CLUSTERS,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, decode
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.sim.fdb.acts import happenings, targets
from stateward.sim.fdb.oracles.costs import Cost
from stateward.sim.fdb.world import FdbWorld

KEY: Final = ObjectKey("ns", "shop")
OTHER: Final = ObjectKey("ns", "till")
#: Nothing waits longer than it must: all plans of it can be lived.
BRISK: Final[Mapping[str, object]] = {
    "minimumUptimeSecondsForBounce": 1,
    "automationOptions": {"podUpdateStrategy": "Delete", "waitBetweenRemovalsSeconds": 0},
}

Do = Callable[[FdbWorld], Awaitable[None]]
Holds = Callable[[FdbWorld], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that somebody does, and what must come of it."""

    text: str
    do: Do
    until: Holds
    #: Seconds that it may take in calm: guards let pass from one to ten minutes after a recovery.
    quick: float = 240.0
    #: Whether it is no wish, but something that befalls the world.
    befalls: bool = False
    #: What it costs in calm, where that is promised.
    costs: Cost | None = None
    #: Whether operators stand still in it: then passes of theirs fail when they go on.
    pauses: bool = False
    #: The law that is broken when it takes longer in calm.
    law: str = "L1"


Script = tuple[Step, ...]


# -------------------------------------------------------------------------- looking


def cluster(it: FdbWorld, key: ObjectKey = KEY) -> FoundationDBCluster | None:
    """Return a cluster as Kubernetes has it now."""
    stored = it.world.api.store.get(CLUSTERS.name, key)
    return decode(stored.text, FoundationDBCluster) if stored is not None else None


def groups(it: FdbWorld, key: ObjectKey = KEY) -> list[FoundationDBProcessGroup]:
    """Return the process groups of a cluster as Kubernetes has them now."""
    every = it.world.api.store.all(PROCESS_GROUPS.name, key.namespace)
    found = (decode(one.text, FoundationDBProcessGroup) for one in every)
    return [one for one in found if one.spec.cluster_name == key.name]


def is_ready(it: FdbWorld, key: ObjectKey = KEY) -> bool:
    """Tell whether a cluster says that it is as asked for, and nobody is about to leave it."""
    found = cluster(it, key)
    if found is None:
        return False
    told = found.status.generations
    return told.reconciled == found.metadata.generation and not told.has_pending_removal


def is_settled(it: FdbWorld, key: ObjectKey = KEY) -> bool:
    """Tell whether it says so and it is so: no group is left that shall go."""
    return is_ready(it, key) and not any(
        one.spec.remove or one.metadata.deleting for one in groups(it, key)
    )


def are_settled(it: FdbWorld, *keys: ObjectKey) -> bool:
    """Tell the same of several clusters."""
    return all(is_settled(it, key) for key in keys)


def is_mended(it: FdbWorld) -> bool:
    """Tell whether all that went wrong is over, and the cluster says that all is as asked."""
    return not it.world.troubled and is_settled(it)


def is_gone(it: FdbWorld) -> bool:
    """Tell whether a cluster is gone, with its groups and its pods."""
    store = it.world.api.store
    return cluster(it) is None and not groups(it) and not list(store.all(PODS.name, KEY.namespace))


# -------------------------------------------------------------------------- doing

SMALL: Final[Json] = {"storage": 3, "log": 2, "stateless": 1, "cluster_controller": -1}
MORE: Final[Json] = {**SMALL, "storage": 4}
FEW: Final[Json] = {**SMALL, "storage": 1, "log": 1}
ONE: Final[Json] = {"redundancy_mode": "single"}


def manifest(key: ObjectKey = KEY, **spec: object) -> Json:
    """Return a small cluster as a user writes it: double redundancy on three zones."""
    volume = {"spec": {"resources": {"requests": {"storage": "16G"}}}}
    asked: Json = {
        "version": "7.3.63",
        "databaseConfiguration": {"redundancy_mode": "double"},
        "processCounts": SMALL,
        "processes": {"general": {"volumeClaimTemplate": volume}},
    }
    return {
        "apiVersion": CLUSTERS.api_version,
        "kind": CLUSTERS.kind,
        "metadata": {"namespace": key.namespace, "name": key.name},
        "spec": asked | spec,
    }


def create(key: ObjectKey = KEY, **spec: object) -> Step:
    """Have somebody create a cluster."""

    async def do(it: FdbWorld) -> None:
        with suppress(AlreadyExists):
            await it.world.client.create(CLUSTERS, manifest(key, **spec))

    return Step(f"create {key.name} {in_a_line(spec)}".strip(), do, lambda it: is_settled(it, key))


def edit(key: ObjectKey = KEY, until: Holds | None = None, **spec: object) -> Step:
    """Have somebody change what a cluster asks for."""

    async def do(it: FdbWorld) -> None:
        with suppress(NotFound):
            await it.world.client.patch(CLUSTERS, key, MergePatch({"spec": spec}))

    done = until or (lambda it: is_settled(it, key))
    return Step(f"edit {key.name} {in_a_line(spec)}", do, done, quick=1500.0)


def join(key: ObjectKey, text: str, until: Holds, **spec: object) -> Step:
    """Have somebody create another cluster that joins the database of the first."""

    async def do(it: FdbWorld) -> None:
        first = cluster(it)
        if first is None:
            return
        asked = manifest(key, **spec, seedConnectionString=first.status.connection_string)
        with suppress(AlreadyExists):
            await it.world.client.create(CLUSTERS, asked)

    return Step(text, do, until, quick=3600.0)


def edit_all(text: str, *keys: ObjectKey, **spec: object) -> Step:
    """Have somebody change several clusters alike, one after the other."""

    async def do(it: FdbWorld) -> None:
        for key in keys:
            with suppress(NotFound):
                await it.world.client.patch(CLUSTERS, key, MergePatch({"spec": spec}))

    return Step(text, do, lambda it: are_settled(it, *keys), quick=3600.0)


def in_a_line(spec: Mapping[str, object]) -> str:
    """Return a spec in one line, as one would write it in a manifest."""
    if not spec:
        return ""
    return yaml.safe_dump(spec, default_flow_style=True, width=2**16, sort_keys=False).strip()


def first_of(it: FdbWorld, process_class: str) -> FoundationDBProcessGroup | None:
    """Return the first group of a class that does not coordinate, or just the first."""
    mine = [one for one in groups(it) if one.spec.process_class == process_class]
    spare = [one for one in mine if not targets.coordinates(it, one.metadata.key)]
    return next(iter(spare or mine), None)


def replaced(process_class: str, *, field: str = "processGroupsToRemove") -> Step:
    """Have somebody ask for another group in the place of one of a class."""

    async def do(it: FdbWorld) -> None:
        chosen = first_of(it, process_class)
        if chosen is None:
            return
        it.notes[process_class] = name = chosen.spec.process_group_id
        with suppress(NotFound):
            listed = {"spec": {field: [name]}}
            await it.world.client.patch(CLUSTERS, KEY, MergePatch(listed))

    def is_done(it: FdbWorld) -> bool:
        gone = it.notes.get(process_class)
        return is_settled(it) and gone not in {one.spec.process_group_id for one in groups(it)}

    return Step(f"{field} of the first {process_class}", do, is_done, quick=2400.0)


def remove(key: ObjectKey = KEY) -> Step:
    """Have somebody delete a cluster."""

    async def do(it: FdbWorld) -> None:
        with suppress(NotFound):
            found = await it.world.client.get(CLUSTERS, key)
            await it.world.client.delete(CLUSTERS, key, uid=found.metadata.uid)

    return Step(f"delete {key.name}", do, is_gone)


def befall(*texts: str, until: Holds = is_mended) -> Step:
    """Have something befall the world, written as in plans: ``kill-pod:storage``."""

    async def do(it: FdbWorld) -> None:
        for text in texts:
            happenings.happen(it, None, *text.split(":"))

    return Step(" and ".join(texts), do, until, quick=1500.0, befalls=True)


def lose_node(seconds: int) -> Step:
    """Have the node of a storage server be dark for so long that its groups are replaced."""

    async def do(it: FdbWorld) -> None:
        mine = [one for one in groups(it) if one.spec.process_class == "storage"]
        if not mine:
            return
        it.notes["lost"] = mine[0].spec.process_group_id
        node = it.node_of(mine[0].metadata.key)
        happenings.happen(it, None, "power", node.removeprefix("node-"), str(seconds))

    def is_done(it: FdbWorld) -> bool:
        gone = it.notes.get("lost")
        return is_mended(it) and gone not in {one.spec.process_group_id for one in groups(it)}

    return Step(
        f"a storage server's node is dark for {seconds} s", do, is_done, 3600.0, befalls=True
    )


def lose_and_remove(process_class: str, seconds: int, *texts: str) -> Step:
    """Have something befall a group, or its node go dark, just when another is asked for."""
    asked = replaced(process_class)

    async def do(it: FdbWorld) -> None:
        await asked.do(it)
        chosen = first_of(it, process_class)
        if chosen is None:
            return
        pod = chosen.metadata.key
        node = it.node_of(pod).removeprefix("node-")
        for text in texts or (f"power:{node}:{seconds}",):
            happenings.happen(it, None, *text.format(pod=pod.name).split(":"))

    words = " and ".join(texts) or f"a node is dark for {seconds} s"
    text = f"{words}, and {asked.text}"
    return Step(text, do, asked.until, 3600.0, befalls=True)


def volume(size: str) -> Json:
    """Return what asks for volumes of a size."""
    template: dict[str, Any] = {"spec": {"resources": {"requests": {"storage": size}}}}
    return {"general": {"volumeClaimTemplate": template}}


KNOB: Final = {"general": {"customParameters": ["knob_max_trace_lines=1000"]}}
