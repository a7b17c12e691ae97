"""What a database is told of maintenance, and what keeps it from being told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest

from fakes.fdb_desk import Desk
from fakes.fdb_views import NOW, cluster
from stateward.core.errors import OutcomeUnknown
from stateward.core.outcome import Outcome, Retry, Stop
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.status import MaintenanceModeInfo
from stateward.fdb.cluster.hands.maintaining import NOTHING, maintain
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.decide.groups.maintenance import Begin, End, Forget, Hold, Move, Note, Noted
from stateward.fdb.status.maintenance import Maintenance
from stateward.kube.errors import NotFound

WHOLE = "s1 s2 s3 l1 l2 l3 x1 x2"
OURS = Noted("1", NOW - 10, frozenset({"storage-1"}), 600)


@dataclass
class Console(Desk):
    """A desk with a database that says which zone is under maintenance, and is told others."""

    active: Maintenance | None = None
    record: MaintenanceModeInfo | None = None
    gone: bool = False
    silent: bool = False

    async def get(self, *words: Any) -> FoundationDBCluster:
        if self.gone:
            raise NotFound("it is gone")
        found = await super().get(*words)
        status = msgspec.structs.replace(found.status, maintenance_mode_info=self.record)
        return msgspec.structs.replace(found, status=status)

    async def maintenance(self) -> Maintenance | None:
        return self.active

    async def begin_maintenance(self, zone: str, seconds: int) -> None:
        self.asked.append(f"on {zone} {seconds}")
        self._answer()

    async def end_maintenance(self) -> None:
        self.asked.append("off")
        self._answer()

    def _answer(self) -> None:
        if self.silent:
            raise OutcomeUnknown("nobody answered")

    async def do(self, move: Move) -> Outcome:
        it: Any = self
        tools = Tools(client=it, turn=it, fence=it, chance=it)
        return await maintain(tools, self.seen(), "CheckMaintenanceMode", move)


def console(**said: Any) -> Console:
    view = cluster(WHOLE, counts={"s": 3, "l": 3, "x": 2})
    return Console(view, **{"record": OURS.info, **said})


BEGIN, END = Begin(OURS, "pods go"), End(OURS, "all are back")


async def test_what_is_noted_is_written_with_the_status_and_nobody_is_told() -> None:
    it = console(record=None)
    assert isinstance(await it.do(Note(OURS)), Stop)
    assert it.book.maintenance == OURS.info
    assert it.asked == []


async def test_it_is_begun_as_it_is_on_record() -> None:
    it = console()
    found = await it.do(BEGIN)
    assert isinstance(found, Stop)
    assert found.reason == "MaintenanceBegun"
    assert it.asked == ["on 1 600"]
    assert len(it.turns) == 1
    assert it.book.maintenance is None, "the record stays"


async def test_it_is_ended_and_forgotten() -> None:
    it = console(active=Maintenance("1", 300.0))
    found = await it.do(END)
    assert isinstance(found, Stop)
    assert found.reason == "MaintenanceEnded"
    assert it.asked == ["off"]
    assert it.book.maintenance == NOTHING


async def test_without_an_answer_the_record_stays() -> None:
    for move in (BEGIN, END):
        it = console(active=Maintenance("1", 300.0), silent=True)
        assert isinstance(await it.do(move), Retry)
        assert it.book.maintenance is None


#: What is otherwise right before the database is told.
OTHERWISE: dict[str, dict[str, Any]] = {
    "the record is gone": {"record": None},
    "the record is of another zone": {"record": replace(OURS, zone="2").info},
    "the record is of others": {"record": replace(OURS, ours=False).info},
    "another zone is under maintenance": {"active": Maintenance("2", 300.0)},
    "the cluster is gone": {"gone": True},
    "it is not our turn": {"is_ours": False},
}


@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.parametrize("move", [BEGIN, END], ids=["begin", "end"])
async def test_the_database_is_told_only_what_is_still_so(name: str, move: Move) -> None:
    it = console(**OTHERWISE[name])
    await it.do(move)
    assert it.asked == []
    assert it.book.maintenance is None


async def test_a_hold_tells_why_and_a_word_taken_back_is_forgotten() -> None:
    it = console()
    assert await it.do(Hold(3.0, "ZoneMaintained", "wait")) == Retry(3.0, "ZoneMaintained", "wait")
    assert isinstance(await it.do(Forget("it is over")), Stop)
    assert it.book.maintenance == NOTHING
    assert it.asked == []
