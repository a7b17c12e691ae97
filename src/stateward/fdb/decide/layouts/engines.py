"""Whether data may go over to another storage engine: the database must be told how it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from msgspec import UNSET

from stateward.core.facts import Known
from stateward.fdb.api.status import Progress
from stateward.fdb.decide.layouts.needs import HALLS, Place, places
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.configuration import Configuration, Redundancy, engine_of
from stateward.fdb.status import configuration as told
from stateward.fdb.status.processes import Reporting, roster
from stateward.fdb.views import ClusterView

_GUARD: Final = "engine_can_change"
_WHERE: Final = "databaseConfiguration"


def engine_can_change(
    view: ClusterView, live: Configuration, step: Configuration
) -> Refusal | None:
    """Refuse another engine where no data would ever go over to it."""
    is_, shall = engine_of(live.storage_engine), engine_of(step.storage_engine)
    if is_ == shall:
        return None
    how = step.storage_migration_type or live.storage_migration_type or "disabled"
    back = f", or set {_WHERE}.storage_engine back to {is_}"
    if how == "disabled":
        return Refusal(
            _GUARD,
            f"storage_engine must stay {is_} while storage_migration_type is disabled: no data"
            f" would go over to {shall}",
            f"set {_WHERE}.storage_migration_type to aggressive, which rewrites all storage servers"
            " as fast as it can, or to gradual with perpetual_storage_wiggle: 1, which rewrites"
            f" one after another{back}",
        )
    if how != "gradual":
        return None
    return _by_wiggle(view, live, step)


def _by_wiggle(view: ClusterView, live: Configuration, step: Configuration) -> Refusal | None:
    """Refuse what the wiggle never brings over: it is off, or has nowhere to put what one has."""
    is_, shall = engine_of(live.storage_engine), engine_of(step.storage_engine)
    back = f", or set {_WHERE}.storage_engine back to {is_}"
    if not _first(step.perpetual_storage_wiggle, live.perpetual_storage_wiggle):
        return Refusal(
            _GUARD,
            "perpetual_storage_wiggle must be 1 or more with storage_migration_type gradual: it is"
            f" what brings data over to {shall}",
            f"set {_WHERE}.perpetual_storage_wiggle to 1{back}",
        )
    there = places(view)
    found = cramped(there.value, step) if isinstance(there, Known) else None
    if found is None:
        return None
    (center, many), needed = found, _copies(step)
    where = f" of data center {center}" if center else ""
    kind = "data halls" if step.redundancy in HALLS else "zones"
    return Refusal(
        _GUARD,
        f"storage processes{where} must be in {needed + 1} {kind}, or two in each, for"
        f" storage_migration_type gradual; they are in {many}: it takes one out of use while others"
        " have its data",
        f"have more storage processes{where}, or set {_WHERE}.storage_migration_type to"
        f" aggressive, which needs no room elsewhere{back}",
    )


def cramped(there: Collection[Place], step: Configuration) -> tuple[str, int] | None:
    """Return where others have no room for what one server has, and in how many places they are.

    A region that has all data has its copies in its own data center; of data halls each has one.
    Who is alone in its zone leaves none there: another zone must have what it has.
    """
    regions = sorted(step.regions, key=lambda it: -it.priority)[: step.usable_regions]
    centers = [it.main.id for it in regions if it.main is not None] or [""]
    for center in centers:
        mine = (it for it in there if it.stores and center in ("", it.center))
        apart = Counter(it.hall if step.redundancy in HALLS else it.zone for it in mine)
        left = len(apart) - (1 in apart.values())
        if left < _copies(step):
            return center, len(apart)
    return None


def rewriting(view: ClusterView) -> Progress | None:
    """Return how many storage servers are of the engine of now, while some are not.

    What a status calls an engine is compared: several are called by one name there.
    """
    live, found = told.configuration(view.database), roster(view.database)
    if not isinstance(live, Known) or not isinstance(found, Known):
        return None
    every = [*found.value.nameless, *(it for some in found.value.groups.values() for it in some)]
    # What the wiggle makes anew may be of an engine of its own, to be tried out.
    fine = {engine_of(live.value.storage_engine), live.value.perpetual_storage_wiggle_engine}
    has = [engine_of(name) for it in every for name in _engines(it)]
    done = sum(it in fine for it in has)
    return None if done == len(has) else Progress(step="RewritingStorage", done=done, of=len(has))


def _engines(it: Reporting) -> Iterator[str]:
    for role in () if it.entry.roles is UNSET else it.entry.roles:
        metadata = role.storage_metadata
        if (
            role.role == "storage"
            and metadata is not UNSET
            and metadata.storage_engine is not UNSET
        ):
            yield metadata.storage_engine


def _copies(it: Configuration) -> int:
    try:
        return Redundancy(it.redundancy).storage_replicas
    except ValueError:
        return 1


def _first(said: int | None, live: int | None) -> int:
    return (live or 0) if said is None else said
