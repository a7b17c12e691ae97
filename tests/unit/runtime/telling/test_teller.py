"""People are told what changed, not what is still so."""

from __future__ import annotations

import asyncio

import pytest

from stateward.core.chance import Chance
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Stop, Wait
from stateward.core.ports import Ports
from stateward.kube.errors import Conflict
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import EVENTS
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.runtime.pipeline import Failure, Report, Said
from stateward.runtime.telling.journal import Journal, Subject
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import ObjectReference, Recorder
from stateward.runtime.telling.teller import Ears, Teller
from stateward.sim.loop import SimClock

SUBJECT = Subject("team", ObjectKey("play", "crew"), "uid-1", 3)
ABOUT = ObjectReference("example/v1", "Team", "play", "crew", "uid-1")


class Room:
    """A teller and everybody who listens."""

    def __init__(self) -> None:
        self.clock = SimClock(asyncio.get_running_loop())
        self.client = MemoryClient(Api(Ports(self.clock, Chance(0))))
        self.metrics = Metrics(self.clock)
        self.journal = Journal()
        recorder = Recorder(self.client, self.clock, "test", self.metrics.events())
        self.teller = Teller(Ears(self.journal, self.metrics.steps("team"), recorder), self.clock)

    async def tell(self, *outcomes: Outcome, failure: Exception | None = None) -> None:
        said = [Said(f"Step{n}", outcome, 0.1) for n, outcome in enumerate(outcomes)]
        failed = Failure("Last", failure) if failure else None
        await self.teller.tell(SUBJECT, ABOUT, Report(said, failed), began=self.clock.monotonic())

    async def heard(self) -> list[str]:
        events = (await self.client.list(EVENTS)).items
        return sorted(f"{e.type} {e.reason} x{e.count}: {e.message}" for e in events)


@pytest.mark.virtual
async def test_the_same_words_are_told_once():
    room = Room()
    for _ in range(5):
        await room.tell(Wait("Adding", "adding member 0"))

    assert await room.heard() == ["Normal Adding x1: adding member 0"]


@pytest.mark.virtual
async def test_what_moves_on_by_itself_is_no_news():
    room = Room()
    for until in range(5):
        await room.tell(Retry(1.0, "Held", f"b has it until {until}", "b has it"))
    await room.tell(Retry(1.0, "Held", "c has it until 9", "c has it"))

    assert await room.heard() == [
        "Normal Held x1: b has it until 0",
        "Normal Held x1: c has it until 9",
    ]


KINDS: dict[str, tuple[Outcome, str]] = {
    "it passes": (Retry(1.0, "Why", "so"), "Normal"),
    "it was done": (Stop(0.0, "Why", "so"), "Normal"),
    "a person must act": (Blocked("Why", "so", "do it"), "Warning"),
    "a person must act, and nothing goes on": (Stop(15.0, "Why", "so", "do it"), "Warning"),
}


@pytest.mark.virtual
@pytest.mark.parametrize("name", KINDS)
async def test_what_a_person_must_mend_is_a_warning(name: str):
    outcome, kind = KINDS[name]
    room = Room()
    await room.tell(outcome)

    assert await room.heard() == [f"{kind} Why x1: so"]


@pytest.mark.virtual
async def test_what_comes_back_is_told_again():
    room = Room()
    for outcome in (Wait("Adding", "a"), DONE, Wait("Adding", "a")):
        await room.tell(outcome)

    assert await room.heard() == ["Normal Adding x2: a"]


@pytest.mark.virtual
async def test_only_what_needs_a_person_is_a_warning():
    room = Room()
    await room.tell(Wait("Adding", "a"), Blocked("NameTaken", "taken", "rename it"))
    await room.tell(failure=ValueError("boom"))

    assert await room.heard() == [
        "Normal Adding x1: a",
        "Warning InternalError x1: boom",
        "Warning NameTaken x1: taken",
    ]


@pytest.mark.virtual
async def test_that_somebody_else_wrote_first_is_in_the_journal_alone():
    room = Room()
    await room.tell(Wait("Adding", "a"), Retry(1.0, "Conflict", "it changed meanwhile"))
    await room.tell(Wait("Adding", "a"), failure=Conflict("it changed meanwhile"))

    assert await room.heard() == ["Normal Adding x1: a"]
    assert [it.failure is None for it in room.journal.entries()] == [True, False]


@pytest.mark.virtual
async def test_silence_costs_no_write():
    room = Room()
    await room.tell(DONE, DONE)

    assert await room.heard() == []


@pytest.mark.virtual
async def test_the_journal_and_the_metrics_hear_everything():
    room = Room()
    await room.tell(Wait("Adding", "a"))
    await room.tell(DONE)

    told = room.journal.about(SUBJECT.key)
    assert [entry.said[0].outcome for entry in told] == ["Done", "Wait"]
    text = room.metrics.render()[0].decode()
    assert 'outcome="Wait",reason="Adding",step="Step0"} 1.0' in text
