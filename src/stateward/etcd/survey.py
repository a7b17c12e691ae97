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
    #: A list that a quorum agreed to.
    roster: Fact[Roster] = field(default_factory=lambda: Unknown("nobody was asked"))
    alarms: Fact[tuple[Alarm, ...]] = field(default_factory=lambda: Unknown("nobody was asked"))
    auth_enabled: Fact[bool] = field(default_factory=lambda: Unknown("nobody was asked"))

    @property
    def anybody(self) -> bool:
        """True when a member answered."""
        return any(isinstance(it, Known) for it in self.statuses.values())


async def ask_all(doors: Mapping[int, MemberApi], clock: Clock, *, about_auth: bool) -> Answers:
    """Ask every door for its status and its list, then one of those who answered for the rest."""
    asked = await asyncio.gather(*(_ask(ordinal, doors[ordinal], clock) for ordinal in doors))
    statuses = {ordinal: status for ordinal, status, _ in asked}
    lists = {ordinal: roster for ordinal, _, roster in asked if isinstance(roster, Known)}
    if not lists:
        why = "; ".join(sorted({it.reason for _, _, it in asked if isinstance(it, Unknown)}))
        return Answers(statuses, Unknown(why or "there is nobody to ask"))
    first = _leader_or_first(statuses, list(lists))
    door = doors[first]
    alarms: Fact[tuple[Alarm, ...]] = Known((), clock.now(), f"member {first}")
    if _speaks_of_alarms(statuses):
        alarms = await _fact(door.alarms, f"member {first}", clock)
    auth: Fact[bool] = Unknown("nobody was asked")
    if about_auth:
        auth = await _fact(door.auth_enabled, f"member {first}", clock)
    return Answers(statuses, lists[first], alarms, auth)


async def _ask(
    ordinal: int, door: MemberApi, clock: Clock
) -> tuple[int, Fact[MemberStatus], Fact[Roster]]:
    who = f"member {ordinal}"
    status, roster = await asyncio.gather(
        _fact(door.status, who, clock), _fact(door.members, who, clock)
    )
    return ordinal, status, roster


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
