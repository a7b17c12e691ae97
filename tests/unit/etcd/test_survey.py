"""Which list is taken of those that members tell, and which of them contradict it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from fakes.hand_clock import HandClock
from stateward.core.errors import PeerUnreachable
from stateward.core.facts import Known, Unknown
from stateward.etcd.members.port import MemberApi
from stateward.etcd.model.members import Alarm, AlarmKind, Member, MemberStatus, Roster
from stateward.etcd.survey import Answers, ask_all

OURS, OTHER = 0xC1, 0xC2


class Door:
    """A member that says what it is told to: a list is its ids, in hex, a learner's with an l."""

    def __init__(self, text: str) -> None:
        first, *words = text.split()
        self.id = int(first.rstrip("*!"), 16)
        self.leads, self.mute = first.endswith("*"), first.endswith("!")
        self.cluster = {"status": OURS, "list": OURS}
        self.entries = [it for it in words if "=" not in it]
        self.cluster |= {k: int(v, 16) for k, v in (it.split("=") for it in words if "=" in it)}

    async def status(self) -> MemberStatus:
        if self.mute:
            raise PeerUnreachable("it hangs")
        leader = self.id if self.leads else 0xA9
        errors = ("NOSPACE",) if self.leads else ()
        return MemberStatus(self.cluster["status"], self.id, "3.6.16", leader, errors=errors)

    async def members(self) -> Roster:
        if not self.entries:
            raise PeerUnreachable("no majority")
        entries = (
            Member(int(it.rstrip("l"), 16), "", (), learner=it.endswith("l")) for it in self.entries
        )
        return Roster(self.cluster["list"], tuple(entries))

    async def alarms(self) -> tuple[Alarm, ...]:
        return (Alarm(self.id, AlarmKind.NO_SPACE),)

    async def auth_enabled(self) -> bool:
        return self.leads


def asked(texts: list[str], latched: str = "", *, about_auth: bool = False) -> Answers:
    doors: Mapping[int, Any] = {ordinal: Door(text) for ordinal, text in enumerate(texts)}
    typed: Mapping[int, MemberApi] = doors
    return asyncio.run(ask_all(typed, HandClock(), latched=latched, about_auth=about_auth))


def taken(answers: Answers) -> str:
    """Whose list was taken, or nothing."""
    return answers.roster.source if isinstance(answers.roster, Known) else ""


@pytest.mark.parametrize(
    ("texts", "latched", "expected"),
    [
        (["a0 a0 a1", "a1* a0 a1"], "c1", "member 1"),
        (["a0 a0 a1", "a1 a0 a1"], "c1", "member 0"),
        (["a0", "a1 a0 a1"], "c1", "member 1"),
        (["a0! a0 a1", "a1 a0 a1"], "c1", "member 1"),
        (["a0! a0 a1", "a1"], "c1", ""),
        (["a0* a0 list=c2", "a1 a0 a1"], "c1", "member 1"),
        (["a0* a0 list=c2 status=c2", "a1 a0 a1"], "c1", "member 1"),
        (["a0* a0 list=c2 status=c2"], "c1", ""),
        (["a0* a0 list=c2 status=c2"], "", "member 0"),
        ([], "", ""),
    ],
    ids=[
        "the leader's",
        "the first, when nobody leads",
        "of one who knows it",
        "of one who tells its status too",
        "never without a status",
        "of one who is in the cluster that it lists",
        "of the cluster that this is",
        "of no other",
        "of any, before one is known",
        "of nobody",
    ],
)
def test_the_list_that_is_taken(texts: list[str], latched: str, expected: str) -> None:
    assert taken(asked(texts, latched)) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a0* a0 a1 a2", "a1 a0 a1 a2"], set()),
        (["a0* a0 a1 a2", "a1 a0 a1"], set()),
        (["a0* a0 a1 a2", "a1 a0 a1 a2l"], set()),
        (["a0* a0 a1 a2", "a1 a1"], {"c1 with members a1 (by member 1)"}),
        (["a0* a0", "a1 a1"], {"c1 with members a1 (by member 1)"}),
        (["a0* a0 a1 a2l", "a1 a0 a1l a2"], {"c1 with members a0, a1, a2 (by member 1)"}),
        (["a0* a0", "a1 a1 list=c2 status=c2"], {"c2"}),
        (["a0* a0", "a1! a1 list=c2"], {"c2"}),
        (["a0! a0", "a1! a1 list=c2"], {"c1", "c2"}),
    ],
    ids=[
        "they agree",
        "one member was removed meanwhile",
        "one member got its vote meanwhile",
        "two are missing",
        "each is alone",
        "two got another role",
        "another cluster",
        "another cluster, and no status",
        "nobody can be believed",
    ],
)
def test_lists_that_cannot_be_of_one_cluster(texts: list[str], expected: set[str]) -> None:
    assert asked(texts).other_lists == expected


def test_the_rest_is_asked_of_who_was_believed() -> None:
    answers = asked(["a0! a0 a1", "a1* a0 a1"], "c1", about_auth=True)

    assert isinstance(answers.alarms, Known)
    assert answers.alarms.value == (Alarm(0xA1, AlarmKind.NO_SPACE),)
    assert isinstance(answers.auth_enabled, Known)
    assert answers.auth_enabled.value


def test_it_is_said_why_there_is_no_list() -> None:
    silent, strange = asked(["a0", "a1"]), asked(["a0 a0 list=c2"])

    assert silent.roster == Unknown("PeerUnreachable: no majority")
    assert strange.roster == Unknown("nobody who listed members told its status")
