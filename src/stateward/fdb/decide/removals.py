"""Who is too many: of each class as many as shall be stay, in as many halls and zones as can be.

Whoever is not well goes first, and of equals who came last. Only classes that have too many are
touched, and none of which those that stay would be in fewer zones than copies need, or would be
missed in a data center or hall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from stateward.core.facts import Known
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.questions import is_target
from stateward.fdb.decide.coordinating import coordinates, coordinators_now
from stateward.fdb.decide.held import KEEPS, Held, is_whole, order
from stateward.fdb.decide.layouts.needs import HALLS, lacking_without
from stateward.fdb.guards.database import redundancy
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model import locality
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.listing import some_of
from stateward.fdb.status.processes import roster
from stateward.fdb.views import ClusterView, GroupView

_SHOWN: Final = 5


def surplus(view: ClusterView) -> tuple[GroupView, ...]:
    """Return the groups that are too many; none where nobody knows who reports."""
    if not isinstance(roster(view.database), Known):
        return ()
    staying = [it for it in view.groups if not it.marked and not it.leaving]
    by_class: dict[str, list[GroupView]] = {}
    for it in sorted(staying, key=order):
        by_class.setdefault(it.process_class, []).append(it)
    found: list[GroupView] = []
    for mine in by_class.values():
        wanted = view.counts.get(mine[0].process_class, 0)
        if len(mine) > wanted:
            found += _too_many(view, mine, wanted)
    return tuple(found)


def contradicted(view: ClusterView) -> tuple[Held, ...]:
    """Return of which classes more groups are never to be removed than there shall be."""
    found = []
    for kind in sorted({it.process_class for it in view.staying()}):
        kept = [str(it.id) for it in view.of_class(kind) if not it.marked and _must_stay(view, it)]
        wanted = view.counts.get(kind, 0)
        if len(kept) > wanted:
            words = f"{wanted} of class {kind} are wanted, and {len(kept)} are never to be removed"
            found.append(Held("", f"{words}: {some_of(kept, _SHOWN)}"))
    return tuple(found)


def without_too_few(
    view: ClusterView, going: Sequence[GroupView]
) -> tuple[tuple[GroupView, ...], tuple[Refusal, ...]]:
    """Return who of those that are too many may go, and of which classes nobody may, and why."""
    free: list[GroupView] = []
    refused: list[Refusal] = []
    for kind in dict.fromkeys(it.process_class for it in going):
        mine = [it for it in going if it.process_class is kind]
        why = _too_few(view, kind, going) or _missed(view, kind, [*free, *mine])
        if why is None:
            free += mine
        else:
            refused.append(why)
    return tuple(free), tuple(refused)


def _missed(view: ClusterView, kind: ProcessClass, going: Sequence[GroupView]) -> Refusal | None:
    """Return where those that go would be missed: in a data center, a satellite or a hall."""
    marked = [it for it in view.groups if it.marked]
    holds = kind.may_store or kind.may_log
    found = lacking_without(view, [*marked, *going]) if holds else ()
    if not found:
        return None
    return Refusal(
        "enough_zones_stay",
        f"without the {kind} processes that are too many: {found[0].words}: all stay",
        f"set processCounts.{kind} back, or first take this place out of databaseConfiguration",
    )


def _too_few(view: ClusterView, kind: ProcessClass, going: Sequence[GroupView]) -> Refusal | None:
    """Return why those of a class that stay would not be enough; a class may go as a whole."""
    many = view.counts.get(kind, 0)
    if kind not in KEEPS or not many:
        return None
    gone = {str(it.id) for it in going}
    mine = {_zone(it) for it in view.of_class(kind) if not it.marked and str(it.id) not in gone}
    zones, mode = mine | _elsewhere(view, kind), redundancy(view)
    if len(zones) >= (needed := mode.fault_domains):
        return None
    return Refusal(
        "enough_zones_stay",
        f"{kind} processes must be in {needed} zones with {mode}, and {many} of them would be in"
        f" {len(zones)}: all stay",
        f"set processCounts.{kind} to {needed} or more, or have fewer copies first:"
        " databaseConfiguration.redundancy_mode",
    )


def _elsewhere(view: ClusterView, kind: ProcessClass) -> set[str]:
    """Return the zones of processes of a class that other clusters of the database have."""
    found, mine = roster(view.database), {str(it.id) for it in view.groups}
    if not isinstance(found, Known):
        return set()
    others = [it for name, some in found.value.groups.items() if name not in mine for it in some]
    there = [it for it in others if it.entry.class_type == kind and it.entry.excluded is not True]
    return {it.localities.get(locality.ZONE, "") for it in there} - {""}


def _too_many(view: ClusterView, mine: Sequence[GroupView], wanted: int) -> list[GroupView]:
    """Return all but those that stay: the best first, each where fewest others stay."""
    keepers = [it for it in mine if _must_stay(view, it)]
    kept = {it.name for it in keepers}
    halls, zones = Counter(map(_hall, keepers)), Counter(map(_zone, keepers))
    by_hall = _uses_halls(view)
    tiers: dict[int, list[GroupView]] = {}
    for it in mine:
        if it.name not in kept:
            tiers.setdefault(_trouble(it), []).append(it)
    coordinating = coordinators_now(view)
    for level in sorted(tiers):
        # Who came in another's place goes when that one stays, and not who has data since long.
        left = sorted(
            tiers[level], key=lambda it: (not coordinates(view, it, coordinating), it.created)
        )
        while left and len(kept) < wanted:
            best = min(left, key=lambda it: (by_hall and halls[_hall(it)], zones[_zone(it)]))
            left.remove(best)
            kept.add(best.name)
            zones[_zone(best)] += 1
            halls[_hall(best)] += 1
    return [it for it in mine if it.name not in kept]


def _must_stay(view: ClusterView, it: GroupView) -> bool:
    """Tell whether somebody asked that a group is never removed."""
    asked = view.spec.automation_options.cancel_replacements_for_process_groups
    return is_target(asked, it.id)


def _uses_halls(view: ClusterView) -> bool:
    """Tell whether halls count for more than zones: each needs its copies and its coordinators."""
    asked = view.spec.database_configuration.redundancy_mode
    return asked in HALLS or redundancy(view) in HALLS


def _hall(it: GroupView) -> str:
    """Return the data hall of a group, by the word of its processes."""
    return next((one.localities.get(locality.DATA_HALL, "") for one in it.processes), "")


def _zone(it: GroupView) -> str:
    """Return where a group is; one that does not say so is alone there."""
    return it.zone or it.name


def _trouble(it: GroupView) -> int:
    """Return how much is wrong with a group: nothing, something, or it is away."""
    if not is_whole(it):
        return 2
    return 1 if set(it.conditions) - {GroupConditionType.READY} else 0
