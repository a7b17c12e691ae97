"""Ask every member at once, each with a deadline, and take what comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Known, Unknown
from stateward.etcd.members.port import MemberApi
from stateward.etcd.model.members import Alarm, MemberStatus, Roster

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answers:
    """What the members of a cluster said."""

    statuses: Mapping[int, Fact[MemberStatus]] = field(default_factory=dict)
    #: A list that a quorum agreed to, by a member of the cluster that this is.
    roster: Fact[Roster] = field(default_factory=lambda: Unknown("nobody was asked"))
    alarms: Fact[tuple[Alarm, ...]] = field(default_factory=lambda: Unknown("nobody was asked"))
    auth_enabled: Fact[bool] = field(default_factory=lambda: Unknown("nobody was asked"))
    #: Lists that cannot be of the same cluster at the same moment, each in a few words.
    other_lists: frozenset[str] = frozenset()

    @property
    def anybody(self) -> bool:
        """True when a member answered."""
        return any(isinstance(it, Known) for it in self.statuses.values())


async def ask_all(
    doors: Mapping[int, MemberApi], clock: Clock, *, latched: str = "", about_auth: bool = False
) -> Answers:
    """Ask every door for its status and its list, then one of those who answered for the rest.

    A list counts only from a member that also told its status, and for the cluster whose id is
    latched, in hex; empty: none is known yet.
    """
    asked = await asyncio.gather(*(_ask(ordinal, doors[ordinal], clock) for ordinal in doors))
    statuses = {ordinal: status for ordinal, status, _ in asked}
    lists = {ordinal: roster for ordinal, _, roster in asked if isinstance(roster, Known)}
    ours = [it for it in lists if _is_sound(statuses[it], lists[it].value, latched)]
    if not ours:
        why = "; ".join(sorted({it.reason for _, _, it in asked if isinstance(it, Unknown)}))
        others = frozenset(f"{it.value.cluster_id:x}" for it in lists.values())
        nobody = "nobody who listed members told its status" if lists else "there is nobody to ask"
        return Answers(statuses, Unknown(why or nobody), other_lists=others)
    first = _leader_or_first(statuses, ours)
    door = doors[first]
    alarms: Fact[tuple[Alarm, ...]] = Known((), clock.now(), f"member {first}")
    if _speaks_of_alarms(statuses):
        alarms = await _fact(door.alarms, f"member {first}", clock)
    auth: Fact[bool] = Unknown("nobody was asked")
    if about_auth:
        auth = await _fact(door.auth_enabled, f"member {first}", clock)
    others = _other_lists(first, {ordinal: it.value for ordinal, it in lists.items()})
    return Answers(statuses, lists[first], alarms, auth, others)


async def _ask(
    ordinal: int, door: MemberApi, clock: Clock
) -> tuple[int, Fact[MemberStatus], Fact[Roster]]:
    who = f"member {ordinal}"
    status, roster = await asyncio.gather(
        _fact(door.status, who, clock), _fact(door.members, who, clock)
    )
    return ordinal, status, roster


def _is_sound(status: Fact[MemberStatus], roster: Roster, latched: str) -> bool:
    """Tell whether a list is of the cluster that its member says to be in, and that this is."""
    if not isinstance(status, Known) or status.value.cluster_id != roster.cluster_id:
        return False
    return latched in {"", f"{roster.cluster_id:x}"}


def _other_lists(first: int, lists: Mapping[int, Roster]) -> frozenset[str]:
    """Return what contradicts the list of one member.

    While somebody changes members two true lists differ by that one change. By more they can only
    differ when two majorities go their own ways.
    """
    taken = lists[first]
    found = set()
    for ordinal, roster in lists.items():
        if roster.cluster_id != taken.cluster_id:
            found.add(f"{roster.cluster_id:x}")
        elif len({id_ for id_, _ in _entries(taken) ^ _entries(roster)}) > 1:
            who = ", ".join(f"{it.id:x}" for it in sorted(roster.members, key=lambda it: it.id))
            found.add(f"{roster.cluster_id:x} with members {who} (by member {ordinal})")
    return frozenset(found)


def _entries(roster: Roster) -> frozenset[tuple[int, bool]]:
    return frozenset((it.id, it.learner) for it in roster.members)


def _speaks_of_alarms(statuses: Mapping[int, Fact[MemberStatus]]) -> bool:
    """Tell whether a member is troubled: its status names every alarm.

    The question itself is an entry in everybody's log, so it is asked only where it has an answer.
    """
    return any(isinstance(it, Known) and it.value.errors for it in statuses.values())


def _leader_or_first(statuses: Mapping[int, Fact[MemberStatus]], lists: list[int]) -> int:
    for ordinal in lists:
        said = statuses[ordinal]
        if isinstance(said, Known) and said.value.leader == said.value.member_id:
            return ordinal
    return lists[0]


async def _fact(ask: Callable[[], Awaitable[T]], who: str, clock: Clock) -> Fact[T]:
    try:
        return Known(await ask(), clock.now(), who)
    except PeerError as error:
        return Unknown(f"{error.reason}: {error.message}")
