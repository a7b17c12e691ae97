"""Which exclusions are taken back: those of groups that are gone, and nobody else's.

An exclusion that a person made, or another operator, is none of ours: only what names a group that
went is taken back, by its own name or by an address that nobody else has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stateward.fdb.model.exclusions import ByAddress, ByLocality, Exclusion, of_instance
from stateward.fdb.views import GroupView


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A group that is gone, and what is to be taken back for it."""

    group: GroupView
    entries: tuple[Exclusion, ...]


def inclusions(
    gone: Sequence[GroupView], others: Sequence[GroupView], listed: Collection[Exclusion]
) -> tuple[Inclusion, ...]:
    """Return what to take back for groups that are gone; an address that another has stays."""
    in_use = {host for it in others for host in it.addresses}
    return tuple(Inclusion(it, _entries(it, in_use, listed)) for it in gone)


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
