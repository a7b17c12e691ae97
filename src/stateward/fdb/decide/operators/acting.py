"""What an act that is done for all operators at once is done to: our own groups, and others'.

Of others' groups only that is known which their operators say, and what the database reports.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from stateward.core.facts import Known
from stateward.fdb.api import questions
from stateward.fdb.decide.exclusions import exclusions_of
from stateward.fdb.decide.operators.agreeing import is_alive
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.exclusions import ByAddress, Exclusion, of_instance, parse
from stateward.fdb.model.intents import Intent, Intents, Whose
from stateward.fdb.status.processes import roster
from stateward.fdb.views import ClusterView

Entries: TypeAlias = Mapping[Whose, tuple[Exclusion, ...]]


def going_elsewhere(told: Intents | None, operator: str) -> frozenset[str]:
    """Return which groups of other operators shall go."""
    every = told.of(Intent.REMOVAL) if told is not None else {}
    return frozenset(it.group for it in every if it.operator != operator)


def leaving_elsewhere(told: Intents | None, operator: str, now: float) -> frozenset[str]:
    """Return the same without those of operators that are gone: data does not leave these."""
    if told is None:
        return frozenset()
    every = {it for it in told.of(Intent.REMOVAL) if it.operator != operator}
    there = {it for it in {one.operator for one in every} if is_alive(told, it, now)}
    return frozenset(it.group for it in every if it.operator in there)


def excluded(view: ClusterView, told: Intents, together: Iterable[Whose]) -> Entries:
    """Return what stands for each on the database's list; who cannot be named is left out."""
    by_locality = bool(view.spec.automation_options.use_localities_for_exclusion)
    mine = {str(it.id): it for it in view.groups}
    found: dict[Whose, tuple[Exclusion, ...]] = {}
    for it in _credible(view, together):
        if it.group in mine:
            entries = exclusions_of(mine[it.group], by_locality=by_locality)
        elif by_locality:
            entries = tuple(_by_name(it))
        else:
            entries = tuple(_said(told, it))
        if entries:
            found[it] = entries
    return found


def included(
    view: ClusterView, told: Intents, together: Collection[Whose], listed: Collection[Exclusion]
) -> Entries:
    """Return what is taken off the list for each; not an address that another has who goes, too."""
    mine = {str(it.id): frozenset(it.addresses) for it in view.groups if it.marked}
    some = _credible(view, together)
    gone = {it.group for it in some}
    theirs = {it: _hosts(told, it) for it in told.of(Intent.REMOVAL) if it.group not in mine}
    in_use = {host for it, hosts in theirs.items() if it.group not in gone for host in hosts}
    in_use |= {host for name, hosts in mine.items() if name not in gone for host in hosts}
    found: dict[Whose, tuple[Exclusion, ...]] = {}
    for it in some:
        hosts = mine.get(it.group) or theirs.get(it, frozenset())
        wanted = {of_instance(it.group)}
        entries = [
            one
            for one in listed
            if one in wanted or (isinstance(one, ByAddress) and one.host in hosts - in_use)
        ]
        found[it] = tuple(sorted(entries, key=str))
    return found


def to_take_back(
    told: Intents | None, operator: str, listed: Collection[Exclusion]
) -> list[Exclusion]:
    """Return the list without addresses that groups of other operators have who shall go."""
    if told is None:
        return [*listed]
    theirs = (_hosts(told, it) for it in told.of(Intent.REMOVAL) if it.operator != operator)
    kept = frozenset(host for hosts in theirs for host in hosts)
    return [it for it in listed if not isinstance(it, ByAddress) or it.host not in kept]


def restarted(view: ClusterView, together: Iterable[Whose]) -> dict[Whose, tuple[Address, ...]]:
    """Return where the processes of each are; of whom nobody reports is left out."""
    reporting = roster(view.database)
    if not isinstance(reporting, Known):
        return {}
    found: dict[Whose, tuple[Address, ...]] = {}
    for it in _credible(view, together):
        some = reporting.value.groups.get(it.group, ())
        addresses = tuple(one.addresses[0] for one in some if one.addresses)
        if addresses:
            found[it] = addresses
    return found


def _credible(view: ClusterView, together: Iterable[Whose]) -> list[Whose]:
    """Return all but those of ours of which somebody else speaks: what they are about, we know."""
    me, mine = questions.lock_owner(view.spec), {str(it.id) for it in view.groups}
    return sorted(it for it in together if it.operator == me or it.group not in mine)


def _by_name(whose: Whose) -> Iterator[Exclusion]:
    found = of_instance(whose.group)
    try:
        str(found)
    except ValueError:  # no process can be called so
        return
    yield found


def _said(told: Intents, whose: Whose) -> Iterator[Exclusion]:
    """Yield what stands for a group by its operator's word: itself alone, and no other locality."""
    for text in told.addresses.get(whose, ()):
        try:
            found = parse(text)
        except ValueError:
            continue
        if isinstance(found, ByAddress) or found == of_instance(whose.group):
            yield found


def _hosts(told: Intents, whose: Whose) -> frozenset[str]:
    return frozenset(it.host for it in _said(told, whose) if isinstance(it, ByAddress))
