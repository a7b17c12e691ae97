"""What is configured first, what next, and what must be true before: by who is where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from stateward.core.facts import Known, Unknown
from stateward.fdb.decide import regions
from stateward.fdb.decide.configuration import in_order
from stateward.fdb.decide.layouts.needs import lacking, places
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import Guard, Refusal
from stateward.fdb.model import locality
from stateward.fdb.model.configuration import Configuration, DataCenter, Redundancy, Region
from stateward.fdb.status import regions as told
from stateward.fdb.status.processes import Roster, roster
from stateward.fdb.views import ClusterView

_GUARD: Final = "enough_places"


# ------------------------------------------------------------------ the first
def first(view: ClusterView, wanted: Configuration) -> Configuration:
    """Return what a database is made as: as wanted, or as near as those who report allow.

    The rest follows one step after another, as others come: a database that waits for data centers
    or halls which are not there yet could not be written to.
    """
    there = places(view)
    if isinstance(there, Unknown):
        return wanted
    return next((it for it in _nearer(wanted) if not lacking(there.value, it)), wanted)


def _nearer(wanted: Configuration) -> Iterator[Configuration]:
    """Yield what asks for less and less; all of it can become as wanted."""
    yield wanted
    if wanted.redundancy == Redundancy.THREE_DATA_HALL:
        yield replace(wanted, redundancy=Redundancy.TRIPLE)
    target = regions.Layout(wanted.usable_regions, in_order(wanted.regions))
    if not target.regions or not target.writers:
        return
    begun = regions.next_move(regions.Layout(1, ()), target)
    if begun is not None:
        yield replace(wanted, usable_regions=1, regions=begun.regions)
    alone = _alone(target.regions[0])
    yield replace(wanted, usable_regions=1, regions=(alone,))
    yield replace(wanted, usable_regions=1, regions=())


def _alone(region: Region) -> Region:
    """Return a region without anything beside it."""
    main = region.main or DataCenter("")
    return Region((replace(main, priority=1),))


# ------------------------------------------------------------------ and what follows
def elsewhere(view: ClusterView, live: Configuration) -> str:
    """Return who changes the database instead of this cluster; nothing: it does.

    Of several clusters with one database one does: two that ask for different things, or were not
    changed at the same moment, would undo each other's steps. With regions it is the one where the
    database is run, as long as there is one of us. Else it is the one that made the database: who
    has a seed joined it, and leaves it to others while there are any.
    """
    there = roster(view.database)
    if not isinstance(there, Known):
        return ""
    mine, now = view.spec.data_center, told.primary(view.database)
    if live.regions and mine and isinstance(now, Known) and now.value:
        if now.value == mine or not _is_managed(there.value, now.value):
            return ""
        return (
            f"the cluster in data center {now.value} changes it, where the database is run:"
            " databaseConfiguration must be the same there"
        )
    if not view.spec.seed_connection_string or not there.value.groups.keys() - _names(view):
        return ""
    return (
        "the cluster without a seedConnectionString changes it, which made the database:"
        " databaseConfiguration must be the same there; if there is none any more, take"
        " seedConnectionString out of one of the others"
    )


def moved_here(view: ClusterView, live: Configuration, step: Configuration) -> str:
    """Return why the database is not moved away from this cluster's data center; nothing: it may.

    Whoever is moved away from changes it no more. So of two clusters that each want the database at
    the other one's place each would send it there, for ever. A wish that was once fulfilled is the
    older one of two: somebody has moved the database here since.
    """
    there, mine = roster(view.database), view.spec.data_center
    now = told.primary(view.database)
    is_here = bool(live.regions and mine) and isinstance(now, Known) and now.value == mine
    if not is_here or not isinstance(there, Known) or not there.value.groups.keys() - _names(view):
        return ""
    is_sent = _leader(step) not in (mine, _leader(live))
    if not is_sent or view.status.generations.reconciled != view.generation:
        return ""
    return (
        f"somebody has moved the database to data center {mine} since this was so, and it is not"
        " sent back and forth: databaseConfiguration must be the same in all clusters of the"
        " database; change it here, too"
    )


def _leader(it: Configuration) -> str:
    """Return the data center that would rather write than all others."""
    found = in_order(it.regions)
    return found[0].main.id if found and found[0].main is not None else ""


def _names(view: ClusterView) -> set[str]:
    return {str(it.id) for it in view.groups}


def _is_managed(roster: Roster, center: str) -> bool:
    """Tell whether processes of a data center are of some cluster of an operator."""
    every = (it for some in roster.groups.values() for it in some)
    return any(it.localities.get(locality.DATA_CENTER) == center for it in every)


def enough_places(view: ClusterView, live: Configuration, step: Configuration) -> Refusal | None:
    """Refuse a step for which there is nobody where it wants somebody; what lacks already may."""
    there = places(view)
    if isinstance(there, Unknown):
        return Refusal(_GUARD, f"nobody knows: {there.reason}")
    before = set(lacking(there.value, live))
    found = [it for it in lacking(there.value, step) if it not in before]
    if not found:
        return None
    return Refusal(_GUARD, "; ".join(it.words for it in found), found[0].hint)


def guards(view: ClusterView, live: Configuration, step: Configuration) -> tuple[Guard, ...]:
    """Return what must be true before a step: more, where another region may write after it."""
    if not _moves(live, step):
        return acts.CONFIGURE
    writers = {it.main.id for it in step.regions if it.main is not None and it.priority >= 0}
    now = told.primary(view.database)
    stays = isinstance(now, Known) and writers == {now.value}
    return acts.MOVE_REGIONS if stays or not live.regions or not step.regions else acts.LET_WRITE


def _moves(live: Configuration, step: Configuration) -> bool:
    """Tell whether a step is about regions."""
    usable = max(1, live.usable_regions) != max(1, step.usable_regions)
    return usable or in_order(live.regions) != in_order(step.regions)
