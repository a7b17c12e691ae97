"""Who coordinates: as few changes as make it right, one in a zone, no majority in a data center.

A process that is about to go is never chosen, and one that coordinates and may stay stays: whoever
changes all of them because one was lost makes clients look for them anew for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration, Redundancy
from stateward.fdb.model.listing import counted

#: Who is taken first where nobody says; others have nothing that lasts, and are not taken.
PREFERRED: Final[Mapping[ProcessClass, int]] = {
    ProcessClass.STORAGE: 2,
    ProcessClass.LOG: 1,
    ProcessClass.TRANSACTION: 0,
}
#: Coordinators of a database in several data centers or halls, and how many a hall may have.
_MANY, _IN_A_HALL = 9, 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A process that reports: where it is, and whether it may coordinate from now on."""

    name: str
    address: Address
    process_class: ProcessClass
    zone: str
    data_center: str = ""
    data_hall: str = ""
    #: Why it must not coordinate: it is excluded, or goes; nothing: it may.
    objection: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """How many there shall be, and how many of them in one place."""

    count: int
    in_a_data_center: int
    in_a_data_hall: int
    #: By class: whom to take first; a class that is not there does not coordinate.
    priorities: Mapping[ProcessClass, int] = field(default_factory=lambda: PREFERRED)
    #: The data centers in which they may be, the one first that would rather write; empty: any.
    centers: tuple[str, ...] = ()

    def places(self, it: Candidate) -> tuple[tuple[str, str, int], ...]:
        """Return where a process is, each place with how many it may have."""
        return (
            ("zone", it.zone, 1),
            ("data center", it.data_center, self.in_a_data_center),
            ("data hall", it.data_hall, self.in_a_data_hall),
        )


def rule_of(
    configuration: Configuration, priorities: Mapping[ProcessClass, int] = PREFERRED
) -> Rule:
    """Return what a configuration asks of coordinators.

    >>> [rule_of(Configuration(redundancy=it)).count for it in ("single", "double", "triple")]
    [1, 3, 5]
    """
    mode = Redundancy(configuration.redundancy)
    centers = _centers(configuration)
    if configuration.usable_regions > 1:
        # Of two data centers one has most of them: losing the other one is survived, at least.
        each = -(-_MANY // max(1, len(centers)))
        return Rule(_MANY, each, _MANY, priorities, centers)
    halls = mode in (Redundancy.THREE_DATA_HALL, Redundancy.THREE_DATA_HALL_FALLBACK)
    count = mode.coordinators
    return Rule(count, count, _IN_A_HALL if halls else count, priorities, centers)


def _centers(configuration: Configuration) -> tuple[str, ...]:
    """Return all data centers, those first that have data, and of them who would rather write."""
    mains = sorted(configuration.regions, key=lambda it: -it.priority)
    every = [it.main.id for it in mains if it.main is not None]
    every += [it.id for region in mains for it in region.data_centers]
    return tuple(dict.fromkeys(every))


@dataclass(frozen=True, slots=True)
class Choice:
    """Who shall coordinate, and who of them is new."""

    chosen: tuple[Candidate, ...]
    added: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class TooFew:
    """There are not enough who may: how many there are, and what keeps others out."""

    found: int
    wanted: int
    because: tuple[str, ...]


def objections(
    now: Iterable[Address], candidates: Sequence[Candidate], rule: Rule
) -> tuple[str, ...]:
    """Return all that is wrong with those who coordinate; nothing: let them be."""
    addresses = list(now)
    by_address = {it.address: it for it in candidates}
    found = [f"{it} is no process that reports" for it in addresses if it not in by_address]
    mine = [by_address[it] for it in addresses if it in by_address]
    found += [f"{it.name} {why}" for it in mine if (why := _objection(it, rule))]
    found += _crowded(mine, rule)
    if len(addresses) != rule.count:
        found.append(f"there are {len(addresses)}, and should be {rule.count}")
    return tuple(found)


def choose(now: Iterable[Address], candidates: Sequence[Candidate], rule: Rule) -> Choice | TooFew:
    """Return who shall coordinate: those who do and may, and then the best of the others.

    Zones lie in data halls, and those in data centers, so whoever takes the best that still fits,
    one after another, ends with the best set that there is.
    """
    coordinating = set(now)
    able = [it for it in candidates if not _objection(it, rule)]
    chosen: list[Candidate] = []
    for it in sorted(able, key=lambda one: _order(one, rule, coordinating)):
        if len(chosen) < rule.count and not _crowded([*chosen, it], rule):
            chosen.append(it)
    if len(chosen) < rule.count:
        return TooFew(len(chosen), rule.count, _reasons(candidates, rule))
    new = tuple(it for it in chosen if it.address not in coordinating)
    return Choice(tuple(chosen), new)


def _order(it: Candidate, rule: Rule, coordinating: set[Address]) -> tuple[bool, int, int, str]:
    place = rule.centers.index(it.data_center) if it.data_center in rule.centers else 0
    priority = -rule.priorities[it.process_class]
    return it.address not in coordinating, place, priority, it.name


def _objection(it: Candidate, rule: Rule) -> str:
    if it.objection:
        return it.objection
    if it.process_class not in rule.priorities:
        return f"is of the class {it.process_class}, which does not coordinate"
    if rule.centers and it.data_center not in rule.centers:
        return f"is in data center {it.data_center or '(not said)'}, which is none of the regions"
    return "" if it.zone else "does not say in which zone it is"


def _crowded(chosen: Sequence[Candidate], rule: Rule) -> list[str]:
    """Return the places that have more of them than they may."""
    places = Counter(place for it in chosen for place in rule.places(it))
    return [
        f"{kind} {name or '(not said)'} has {many} of them, and may have {most}"
        for (kind, name, most), many in sorted(places.items())
        if many > most
    ]


def _reasons(candidates: Sequence[Candidate], rule: Rule) -> tuple[str, ...]:
    """Return what keeps processes out, each reason once with how many it keeps out."""
    why = Counter(found for it in candidates if (found := _objection(it, rule)))
    zones = {it.zone for it in candidates if not _objection(it, rule)}
    said = [f"{_each_of(many)} {reason}" for reason, many in why.most_common()]
    if zones or not said:
        said.insert(0, f"those who may are in {counted(len(zones), 'zone')}")
    return tuple(said)


def _each_of(many: int) -> str:
    return "a process" if many == 1 else f"each of {many} processes"
