"""Which process groups somebody has named, so that they go, or so that they stay.

A group goes when the spec lists it, or when its object is deleted by hand; both ask for another
in its place. One that is listed to stay stays, whatever else is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stateward.fdb.api.questions import is_target
from stateward.fdb.decide.held import Held
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.views import ClusterView, GroupView

_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class Named:
    """A group that shall go and does not say so yet; skip: with all that it holds."""

    group: GroupView
    skip: bool
    why: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Who is to be marked; whose mark is to be taken off; and who is held.

    And names of nobody: of those who shall go these may be gone, of those who shall stay not.
    """

    to_mark: tuple[Named, ...] = ()
    to_keep: tuple[GroupView, ...] = ()
    unknown: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    unknown_kept: tuple[str, ...] = ()


def listed(view: ClusterView) -> Listing:
    """Return what lists of groups ask for that is not so yet."""
    kept = view.spec.automation_options.cancel_replacements_for_process_groups
    some = view.groups if _names(view) else [it for it in view.groups if it.leaving]
    to_mark = [it for group in some if (it := _named(view, group)) is not None]
    stay = [it for it in view.groups if it.marked and not it.leaving and is_target(kept, it.id)]
    return Listing(
        to_mark=tuple(it for it in to_mark if not is_target(kept, it.group.id)),
        to_keep=tuple(stay),
        unknown=tuple(_unknown(view, _names(view))),
        held=(*_for_good(view), *_conflicts(to_mark, kept), *_too_late(view, to_mark)),
        unknown_kept=tuple(_unknown(view, kept)),
    )


def _named(view: ClusterView, group: GroupView) -> Named | None:
    """Return why a group shall go; None: it need not, or says so already."""
    name, spec = str(group.id), view.spec
    bare = name in spec.process_groups_to_remove_without_exclusion
    if bare or name in spec.process_groups_to_remove:
        which = "processGroupsToRemove" + ("WithoutExclusion" if bare else "")
        why = f"{which} names it"
    elif group.leaving:
        why = "its object is deleted"
    else:
        return None
    # Testers hold nothing, and a database does not exclude them.
    skip = bare or group.process_class is ProcessClass.TEST
    is_so = group.marked and (group.skipped or not skip)
    return None if is_so else Named(group, skip, why)


def _unknown(view: ClusterView, named: Iterable[str]) -> Iterator[str]:
    """Yield names that no group has: one that has gone, or a slip of the pen."""
    if named:
        there = {str(it.id) for it in view.groups}
        yield from (it for it in dict.fromkeys(named) if it not in there and it != _ALL)


def _names(view: ClusterView) -> tuple[str, ...]:
    spec = view.spec
    return (*spec.process_groups_to_remove, *spec.process_groups_to_remove_without_exclusion)


def _for_good(view: ClusterView) -> Iterator[Held]:
    """Yield why a list that names all is not followed: those that come would be named, too."""
    lists = {
        "processGroupsToRemove": view.spec.process_groups_to_remove,
        "processGroupsToRemoveWithoutExclusion": (
            view.spec.process_groups_to_remove_without_exclusion
        ),
    }
    for name, ids in lists.items():
        if _ALL in ids:
            yield Held("", f"{name} names all groups, of which some must be there")


def _too_late(view: ClusterView, named: Iterable[Named]) -> Iterator[Held]:
    """Yield who shall stay and goes already: whose object is deleted cannot come back."""
    kept = view.spec.automation_options.cancel_replacements_for_process_groups
    told = {it.group.name for it in named}
    for it in view.groups:
        if it.leaving and it.name not in told and str(it.id) in kept:
            yield Held(it.name, "it shall stay, but its object is deleted already, so it goes")


def _conflicts(named: Iterable[Named], kept: Iterable[str]) -> Iterator[Held]:
    stay = tuple(kept)
    for it in named:
        if is_target(stay, it.group.id):
            yield Held(it.group.name, f"{it.why}, but it is never to be removed")
