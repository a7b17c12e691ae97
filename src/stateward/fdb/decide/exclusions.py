"""Who is told to hold nothing any more: marked groups, once others can take what they hold.

Data that is told to leave must find a place. So nobody is excluded while any process that shall
stay is away, nor before a group has its replacement, nor where too few zones would be left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.core.facts import Unknown
from stateward.fdb.decide.held import KEEPS, Held, hold, is_tester, is_whole, order
from stateward.fdb.decide.including import returning
from stateward.fdb.decide.layouts.needs import lacking_without
from stateward.fdb.guards.database import redundancy
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import ip_of
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.exclusions import ByAddress, Exclusion, of_instance
from stateward.fdb.status.processes import Reporting, roster
from stateward.fdb.views import ClusterView, GroupView

_NO_ADDRESS: Final = "it has no address, and groups are excluded by their addresses here"
#: Classes whose exclusion is no recovery.
_STORES: Final = frozenset({ProcessClass.STORAGE})


@dataclass(frozen=True, slots=True)
class ExclusionPlan:
    """Who is excluded now, all with one command; and who has to wait."""

    exclude: tuple[GroupView, ...] = ()
    held: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class _Others:
    """Who takes nothing, though it is not ours to send away, or stays."""

    #: Groups of other operators that shall go, by their ids.
    leaving: Collection[str]
    #: Ours that stay after all, by their names: they are empty until they are included again.
    returning: frozenset[str]


def exclusions_of(group: GroupView, *, by_locality: bool) -> tuple[Exclusion, ...]:
    """Return what stands for a group on the database's list; nothing: nobody can say it."""
    if by_locality:
        return (of_instance(str(group.id)),)
    hosts = (*group.addresses, *(it.host for one in group.processes for it in one.addresses))
    known = [found for it in hosts if (found := ip_of(it)) is not None]
    return tuple(map(ByAddress, dict.fromkeys(known)))


def is_listed(group: GroupView, excluded: frozenset[Exclusion], *, by_locality: bool) -> bool:
    """Tell whether a group is on the database's list with all that stands for it."""
    if of_instance(str(group.id)) in excluded:
        return True
    wanted = exclusions_of(group, by_locality=by_locality)
    return bool(wanted) and all(it in excluded for it in wanted)


def plan(
    view: ClusterView, excluded: frozenset[Exclusion], elsewhere: Collection[str] = ()
) -> ExclusionPlan:
    """Return who is excluded now; ``elsewhere`` are groups of other operators that shall go."""
    by_locality = bool(view.spec.automation_options.use_localities_for_exclusion)
    queue: list[GroupView] = []
    nameless: list[GroupView] = []
    for it in filter(must_be_excluded, view.groups):
        if is_listed(it, excluded, by_locality=by_locality):
            continue
        if exclusions_of(it, by_locality=by_locality):
            queue.append(it)
        else:
            nameless.append(it)
    queue.sort(key=lambda it: (it.marked_since or 0.0, order(it)))
    told = hold(nameless, _NO_ADDRESS)
    if away := _away(view):
        return ExclusionPlan((), (*told, *hold(queue, away)))
    return _allowed(view, queue, told, _Others(elsewhere, returning(view, excluded)))


def must_be_excluded(it: GroupView) -> bool:
    """Tell whether a group must be on the list until it is gone.

    Also one that was empty already, since somebody may have taken the exclusion back; and one whose
    object somebody deleted, who did not ask for less. But not one that is let go: its entry is
    taken off the list as soon as it is gone, which a view may not have seen yet.
    """
    if not it.marked or it.skipped or is_tester(it):
        return False
    return not (it.excluded and it.leaving)


def _away(view: ClusterView) -> str:
    """Return who is away that shall stay; nothing: all of them are there."""
    away = [it for it in view.groups if not it.marked and not is_tester(it) and not is_whole(it)]
    return f"processes that shall stay do not report: {', '.join(_ids(away))}" if away else ""


def _ids(groups: Sequence[GroupView]) -> list[str]:
    return [str(it.id) for it in sorted(groups, key=order)]


def _allowed(
    view: ClusterView,
    queue: Sequence[GroupView],
    told: tuple[Held, ...],
    others: _Others,
) -> ExclusionPlan:
    """Return who of a queue may go now: class by class, and nobody if roles would find no place."""
    by_class: dict[ProcessClass, list[GroupView]] = {}
    for it in queue:
        by_class.setdefault(it.process_class, []).append(it)
    chosen: list[GroupView] = []
    held = [*told]
    short = ""
    for kind, mine in by_class.items():
        why = _without_replacement(view, kind, others) or _without_zones(view, kind, others)
        why = why or _missed(view, [*chosen, *mine])
        if not why:
            chosen += mine
            continue
        held += hold(mine, why)
        if kind not in _STORES:
            short = f"of the class {kind} nobody can go yet, and each exclusion is a recovery"
    if short:
        return ExclusionPlan((), (*held, *hold(chosen, short)))
    return ExclusionPlan(tuple(chosen), tuple(held))


def _without_replacement(view: ClusterView, kind: ProcessClass, others: _Others) -> str:
    """Return why a class would be short of processes: those that stay must be enough by themselves.

    So there are always as many that are not empty as shall be, however many become so at once.
    """
    staying = [it for it in view.of_class(kind) if not it.marked and is_whole(it)]
    back = [it for it in staying if it.name in others.returning]
    wanted = view.counts.get(kind, 0)
    if len(staying) - len(back) >= wanted:
        return ""
    if len(staying) >= wanted:
        return f"of those that stay some have yet to be included: {', '.join(_ids(back))}"
    return f"of the class {kind} {len(staying)} report that stay, and {wanted} shall"


def _without_zones(view: ClusterView, kind: ProcessClass, others: _Others) -> str:
    """Return why copies would find no zones: those of other clusters of the database count too."""
    if kind not in KEEPS or not view.counts.get(kind, 0):
        return ""
    every = roster(view.database)
    if isinstance(every, Unknown):
        return f"nobody knows who would be left: {every.reason}"
    marked = {str(it.id) for it in view.groups if it.marked} | {*others.leaving}
    some = [one for name, them in every.value.groups.items() if name not in marked for one in them]
    zones = {it.localities.get(locality.ZONE, "") for it in some if _takes(it, kind)} - {""}
    needed = redundancy(view).fault_domains
    if len(zones) >= needed:
        return ""
    return f"of the class {kind} those that stay are in {len(zones)} zones, and {needed} are needed"


def _missed(view: ClusterView, going: Sequence[GroupView]) -> str:
    """Return what a data center, a satellite or a hall would lack without some groups."""
    return "; ".join(it.words for it in lacking_without(view, going))


def _takes(it: Reporting, kind: ProcessClass) -> bool:
    """Tell whether a process could have what others of a class had."""
    return it.entry.class_type == kind and it.entry.excluded is False
