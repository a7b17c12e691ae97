"""One database in several places, and places that change."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.scripts.kit import (
    KEY,
    SMALL,
    Holds,
    Script,
    Step,
    are_settled,
    cluster,
    create,
    edit,
    edit_all,
    join,
)
from stateward.sim.fdb.world import FdbWorld

_SECOND, _THIRD = ObjectKey("ns", "far"), ObjectKey("ns", "near")
#: How much there is to copy from one place to another: more than a minute of it.
_MUCH: Final = 600_000_000
#: Every pod is a zone, and nobody else acts on the database.
_APART: Final[Json] = {
    "faultDomain": {"key": "foundationdb.org/none"},
    "lockOptions": {"disableLocks": True},
}
_FEW: Final[Json] = {**SMALL, "storage": 2, "log": 2}


# -------------------------------------------------------------------------- what is wanted


def _region(center: str, priority: int, *satellites: str) -> Json:
    beside = [{"id": it, "priority": 1, "satellite": 1} for it in satellites]
    found: Json = {"datacenters": [{"id": center, "priority": priority}, *beside]}
    if satellites:
        found |= {"satellite_redundancy_mode": "one_satellite_double", "satellite_logs": 2}
    return found


def _database(usable: int, *regions: Json) -> Json:
    return {"redundancy_mode": "double", "usable_regions": usable, "regions": list(regions)}


_ALONE: Final = _database(1, _region("dc1", 1))
_BOTH: Final = _database(2, _region("dc1", 1, "dc3"), _region("dc2", 0, "dc3"))
_SWAPPED: Final = _database(2, _region("dc1", 0, "dc3"), _region("dc2", 1, "dc3"))
_TWO: Final = _database(2, _region("dc1", 1), _region("dc2", 0))
_HALLS: Final[Json] = {"redundancy_mode": "three_data_hall"}


# -------------------------------------------------------------------------- what is done


def _first(
    place: str, field: str, database: Json, until: Holds | None = None, **more: Json
) -> Step:
    """Have somebody create the first cluster of a database."""
    spec = {field: place, "processGroupIDPrefix": place, "databaseConfiguration": database}
    found = create(KEY, **{**_APART, "processCounts": _FEW, **spec, **more})
    return replace(found, until=until, quick=900.0) if until else replace(found, quick=900.0)


def _joins(
    key: ObjectKey, place: str, field: str, database: Json, until: Holds, **more: Json
) -> Step:
    """Have somebody create another cluster that joins the database of the first."""
    spec = {field: place, "processGroupIDPrefix": place, "databaseConfiguration": database}
    asked = {**_APART, "processCounts": _FEW, **spec, **more}
    return join(key, f"create {key.name} in {place}, which joins", until, **asked)


def _fill() -> Step:
    """Have the database hold so much that it takes a while to copy it."""

    async def do(it: FdbWorld) -> None:
        for database in it.realm.databases:
            database.shards.fill(_MUCH)

    return Step("write much", do, lambda _it: True)


def _has_begun(it: FdbWorld) -> bool:
    found = cluster(it)
    return found is not None and bool(found.status.connection_string)


def _waits_for(guard: str) -> Holds:
    """Return whether the first cluster says that a guard holds it."""

    def holds(it: FdbWorld) -> bool:
        found = cluster(it)
        return found is not None and guard in {one.guard for one in found.status.blockers}

    return holds


_ALL: Final = (KEY, _SECOND, _THIRD)
_LOGS_ONLY: Final[Json] = {**SMALL, "storage": -1, "stateless": -1, "log": 3}
_ENGINE: Final = {"storage_engine": "ssd-redwood-1", "storage_migration_type": "aggressive"}
_WIGGLE: Final = {
    "storage_engine": "ssd-2",
    "storage_migration_type": "gradual",
    "perpetual_storage_wiggle": 1,
}

SCENARIOS: Final[dict[str, Script]] = {
    # One region, then two, then the other one writes, then one again.
    "fdb-regions": (
        _first("dc1", "dataCenter", _ALONE, processCounts=SMALL),
        _fill(),
        replace(
            edit(databaseConfiguration=_BOTH, until=_waits_for("enough_places")), quick=900.0
        ),
        _joins(
            _THIRD, "dc3", "dataCenter", _BOTH, _waits_for("enough_places"),
            processCounts=_LOGS_ONLY,
        ),
        _joins(_SECOND, "dc2", "dataCenter", _BOTH, lambda it: are_settled(it, *_ALL)),
        edit_all("the other region writes", *_ALL, databaseConfiguration=_SWAPPED),
        edit_all("one region is left", *_ALL, databaseConfiguration=_ALONE),
    ),
    # Two data centers and no third, from the first moment on.
    "fdb-two-centers": (
        _first(
            "dc1", "dataCenter", _TWO, _has_begun, processCounts={**SMALL, "storage": 3, "log": 3}
        ),
        _joins(
            _SECOND, "dc2", "dataCenter", _TWO, lambda it: are_settled(it, KEY, _SECOND),
            processCounts={**SMALL, "storage": 3, "log": 3},
        ),
    ),
    "fdb-halls": (
        _first(
            "az1", "dataHall", _HALLS, _has_begun, processCounts={**SMALL, "storage": 3, "log": 4}
        ),
        _joins(
            _SECOND, "az2", "dataHall", _HALLS, _waits_for("enough_places"),
            processCounts={**SMALL, "storage": 2, "log": 2},
        ),
        _joins(
            _THIRD, "az3", "dataHall", _HALLS, lambda it: are_settled(it, *_ALL),
            processCounts={**SMALL, "storage": 2, "log": 2},
        ),
    ),
    "fdb-prefix": (create(), replace(edit(processGroupIDPrefix="b"), quick=7200.0)),
    "fdb-engine": (
        create(),
        edit(databaseConfiguration=_ENGINE),
        edit(databaseConfiguration=_WIGGLE),
    ),
}  # fmt: skip
