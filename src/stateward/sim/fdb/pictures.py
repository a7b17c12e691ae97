"""What people are told of FoundationDB and of its kinds, while a life is told to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.sim.fdb.world import FdbWorld


def pictures(it: FdbWorld) -> Iterator[tuple[str, str]]:
    """Yield how each database is: who is part of it, who coordinates, and what moves."""
    for number, database in enumerate(it.realm.databases):
        there = sorted(str(one.address) for one in database.servers.values())
        coordinators = ", ".join(map(str, database.string.coordinators))
        excluded = ", ".join(sorted(map(str, database.excluded)))
        moving = "; data moves" if database.shards.is_moving() else ""
        yield (
            str(number),
            f"database {number}: {database.recovery.name}, {len(there)} processes;"
            f" found by {coordinators}{moving}" + (f"; excluded: {excluded}" if excluded else ""),
        )


def _tell_cluster(it: dict[str, Any]) -> str:
    status = it.get("status", {})
    told = ", ".join(f"{name} {value}" for name, value in status.get("generations", {}).items())
    leaving = ", deleted" if it["metadata"].get("deletionTimestamp") else ""
    return f"generation {it['metadata'].get('generation')}{leaving}: {told}"


def _tell_group(it: dict[str, Any]) -> str:
    spec = it["spec"]
    flags = [name for name in ("remove", "excluded", "exclusionSkipped") if spec.get(name)]
    if spec.get("obsoletePod"):
        flags.append("obsoletePod")
    wrong = [
        one["type"]
        for one in it.get("status", {}).get("conditions", ())
        if (one["status"] == "True") is not (one["type"] == "Ready")
    ]
    leaving = ", deleted" if it["metadata"].get("deletionTimestamp") else ""
    return f"{' '.join(flags) or 'stays'}{leaving}; {', '.join(wrong) or 'well'}"


TELLERS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    CLUSTERS.name: _tell_cluster,
    PROCESS_GROUPS.name: _tell_group,
}
