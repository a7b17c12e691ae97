"""Names and addresses of another family, and clusters that are in each other's way."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.scripts.kit import (
    BRISK,
    FEW,
    KEY,
    ONE,
    OTHER,
    Holds,
    Script,
    Step,
    cluster,
    create,
    edit,
    edit_all,
    join,
)
from stateward.sim.fdb.world import FdbWorld

_APART: Final[Json] = {"lockOptions": {"disableLocks": True}, "processGroupIDPrefix": "a"}
_MORE: Final[Json] = {"redundancy_mode": "double", "resolvers": 2}


def _says(key: ObjectKey, guard: str) -> Holds:
    """Return whether a cluster says that something holds it."""

    def holds(it: FdbWorld) -> bool:
        found = cluster(it, key)
        return found is not None and guard in {one.guard for one in found.status.blockers}

    return holds


_FOUR: Final[Json] = {
    "databaseConfiguration": ONE, "processCounts": FEW, "routing": {"podIPFamily": 4}
}  # fmt: skip


def _found(*, by_name: bool) -> Step:
    """Ask for names in the cluster file, or for addresses."""
    return replace(edit(routing={"useDNSInClusterFile": by_name}), quick=3600.0)


SCENARIOS: Final[dict[str, Script]] = {
    # The service below which pods have names goes when nobody looks for a coordinator there.
    "fdb-names": (
        create(KEY, **BRISK),
        _found(by_name=False),
        _found(by_name=True),
    ),
    # All processes get addresses of the other family; coordinators go by name before and after.
    "fdb-family": (
        create(KEY, **_FOUR),
        replace(edit(routing={"podIPFamily": 6}), quick=7200.0),
    ),
    # Who comes second with a prefix that is taken makes nothing until it has its own; then both
    # ask for different things, and do not fight.
    "fdb-prefix-taken": (
        create(KEY, **_APART, dataCenter="a"),
        join(
            OTHER,
            "create till, which joins with the same prefix",
            _says(OTHER, "PrefixTaken"),
            **_APART,
            dataCenter="b",
        ),
        replace(edit(OTHER, processGroupIDPrefix="b"), quick=3600.0),
        replace(
            edit(
                OTHER,
                until=_says(OTHER, "ConfiguredElsewhere"),
                databaseConfiguration=_MORE,
            ),
            quick=900.0,
        ),
        edit_all("change both", OTHER, KEY, databaseConfiguration=_MORE),
    ),
}
