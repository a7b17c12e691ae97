"""Replacements that nobody asked for, because of taints; and those that are taken back."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.sim.fdb.acts import happenings
from stateward.sim.fdb.scripts.kit import (
    KEY,
    MORE,
    Script,
    Step,
    create,
    first_of,
    groups,
    is_mended,
    is_settled,
)
from stateward.sim.fdb.world import FdbWorld

_LEAVES: Final[Json] = {
    "replacements": {
        "enabled": True,
        "failureDetectionTimeSeconds": 60,
        "taintReplacementTimeSeconds": 60,
        "taintReplacementOptions": [{"key": "*", "durationInSeconds": 30}],
    }
}
#: Seconds for which there is no room: longer than all of a script takes in calm.
_NO_ROOM: Final = 1800


def _tainted() -> Step:
    """Have the node of a storage server be tainted until it has left."""

    async def do(it: FdbWorld) -> None:
        chosen = first_of(it, "storage")
        if chosen is not None:
            it.notes["tainted"] = chosen.spec.process_group_id
            node = it.node_of(chosen.metadata.key).removeprefix("node-")
            happenings.happen(it, None, "taint", node, "1200")

    def is_done(it: FdbWorld) -> bool:
        gone = it.notes.get("tainted")
        return is_mended(it) and gone not in {one.spec.process_group_id for one in groups(it)}

    return Step("a storage server's node is tainted", do, is_done, 3600.0, befalls=True)


def _storm() -> Step:
    """Have most nodes be tainted for long: whoever is there stays."""

    async def do(it: FdbWorld) -> None:
        it.notes["there"] = _names(it)
        for number in range(4):
            happenings.happen(it, None, "taint", str(number), "900")

    def is_done(it: FdbWorld) -> bool:
        return is_mended(it) and it.notes.get("there") == _names(it)

    return Step("four nodes are tainted for 900 s", do, is_done, 1500.0, befalls=True)


def _names(it: FdbWorld) -> str:
    return " ".join(sorted(one.spec.process_group_id for one in groups(it)))


def _begun() -> Step:
    """Have somebody ask for another group, for which there is no room."""

    async def do(it: FdbWorld) -> None:
        chosen = first_of(it, "storage")
        if chosen is not None:
            it.notes["there"], it.notes["kept"] = _names(it), chosen.spec.process_group_id
            happenings.happen(it, None, "no-room", str(_NO_ROOM))
            await _ask(it, processGroupsToRemove=[chosen.spec.process_group_id])

    def is_begun(it: FdbWorld) -> bool:
        return _names(it) != it.notes.get("there") and any(one.spec.remove for one in groups(it))

    return Step("another storage server is asked for, and no node has room", do, is_begun)


def _taken_back() -> Step:
    """Have somebody take that back, while there is still no room."""

    async def do(it: FdbWorld) -> None:
        kept = {"cancelReplacementsForProcessGroups": [it.notes.get("kept", "storage-1")]}
        await _ask(it, processGroupsToRemove=[], automationOptions=kept)

    def is_done(it: FdbWorld) -> bool:
        return is_settled(it) and it.notes.get("there") == _names(it)

    return Step("it is taken back", do, is_done, quick=1500.0)


async def _ask(it: FdbWorld, **spec: object) -> None:
    with suppress(NotFound):
        await it.world.client.patch(CLUSTERS, KEY, MergePatch({"spec": spec}))


SCENARIOS: Final[dict[str, Script]] = {
    "fdb-taint": (create(processCounts=MORE, automationOptions=_LEAVES), _tainted()),
    "fdb-taint-storm": (create(processCounts=MORE, automationOptions=_LEAVES), _storm()),
    "fdb-cancel": (create(processCounts=MORE), _begun(), _taken_back()),
}
