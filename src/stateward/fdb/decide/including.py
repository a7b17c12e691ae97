"""Which exclusions are taken back: those of groups that are gone, and nobody else's.

An exclusion that a person made, or another operator, is none of ours: only what names a group that
went is taken back, by its own name or by an address that nobody else has who shall go. And what
stands for a group that shall stay after all, because the spec says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stateward.fdb.api.questions import is_target
from stateward.fdb.model.exclusions import ByAddress, ByLocality, Exclusion, of_instance
from stateward.fdb.views import ClusterView, GroupView


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A group that is gone, and what is to be taken back for it."""

    group: GroupView
    entries: tuple[Exclusion, ...]


def inclusions(
    gone: Sequence[GroupView], others: Sequence[GroupView], listed: Collection[Exclusion]
) -> tuple[Inclusion, ...]:
    """Return what to take back for groups that are gone.

    An address stays that another has who shall go, too. One who stays and has got it since must
    not inherit the exclusion.
    """
    in_use = {host for it in others if it.marked for host in it.addresses}
    return tuple(Inclusion(it, _entries(it, in_use, listed)) for it in gone)


def cancelled(view: ClusterView) -> tuple[GroupView, ...]:
    """Return who stays because the spec says so."""
    kept = view.spec.automation_options.cancel_replacements_for_process_groups
    if not kept:
        return ()
    return tuple(it for it in view.staying() if not it.leaving and is_target(kept, it.id))


def retained(view: ClusterView, listed: Collection[Exclusion]) -> tuple[Exclusion, ...]:
    """Return what to take back for groups that stay after all.

    That is what names them; and addresses, where groups are excluded by these, or where the spec
    names the very group: one that another has who shall go stays excluded.
    """
    every = (entry for entries in _kept(view, listed).values() for entry in entries)
    return tuple(dict.fromkeys(every))


def returning(view: ClusterView, listed: Collection[Exclusion]) -> frozenset[str]:
    """Return the names of groups that stay after all, and have yet to be included for it."""
    return frozenset(_kept(view, listed))


def _kept(view: ClusterView, listed: Collection[Exclusion]) -> dict[str, tuple[Exclusion, ...]]:
    """Return by the names of groups what is to be taken back for them."""
    options = view.spec.automation_options
    in_use = {host for it in view.groups if it.marked for host in it.addresses}
    found: dict[str, tuple[Exclusion, ...]] = {}
    for it in cancelled(view):
        named = str(it.id) in options.cancel_replacements_for_process_groups
        if named or not options.use_localities_for_exclusion:
            found[it.name] = _entries(it, in_use, listed)
        elif (mine := of_instance(str(it.id))) in listed:
            found[it.name] = (mine,)
    return {name: entries for name, entries in found.items() if entries}


def _entries(
    group: GroupView, in_use: Collection[str], listed: Collection[Exclusion]
) -> tuple[Exclusion, ...]:
    mine = of_instance(str(group.id))
    hosts = {it for it in group.addresses if it not in in_use}
    found = [
        it
        for it in listed
        if (isinstance(it, ByLocality) and it == mine)
        or (isinstance(it, ByAddress) and it.host in hosts)
    ]
    return tuple(sorted(found, key=str))
