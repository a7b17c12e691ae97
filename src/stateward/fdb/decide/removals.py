"""Who is too many: of each class as many as shall be stay, in as many zones as can be.

Whoever is not well goes first. Only classes that have too many are touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stateward.core.facts import Known
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.questions import is_target
from stateward.fdb.decide.coordinating import coordinates, coordinators_now
from stateward.fdb.decide.held import is_whole, order
from stateward.fdb.status.processes import roster
from stateward.fdb.views import ClusterView, GroupView


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


def _too_many(view: ClusterView, mine: Sequence[GroupView], wanted: int) -> list[GroupView]:
    """Return all but those that stay: the best first, each where fewest others stay."""
    keepers = [it for it in mine if _must_stay(view, it)]
    kept = {it.name for it in keepers}
    zones = Counter(map(_zone, keepers))
    tiers: dict[int, list[GroupView]] = {}
    for it in mine:
        if it.name not in kept:
            tiers.setdefault(_trouble(it), []).append(it)
    coordinating = coordinators_now(view)
    for level in sorted(tiers):
        left = sorted(tiers[level], key=lambda it: not coordinates(view, it, coordinating))
        while left and len(kept) < wanted:
            best = min(left, key=lambda it: zones[_zone(it)])
            left.remove(best)
            kept.add(best.name)
            zones[_zone(best)] += 1
    return [it for it in mine if it.name not in kept]


def _must_stay(view: ClusterView, it: GroupView) -> bool:
    """Tell whether somebody asked that a group is never removed."""
    asked = view.spec.automation_options.cancel_replacements_for_process_groups
    return is_target(asked, it.id)


def _zone(it: GroupView) -> str:
    """Return where a group is; one that does not say so is alone there."""
    return it.zone or it.name


def _trouble(it: GroupView) -> int:
    """Return how much is wrong with a group: nothing, something, or it is away."""
    if not is_whole(it):
        return 2
    return 1 if set(it.conditions) - {GroupConditionType.READY} else 0
