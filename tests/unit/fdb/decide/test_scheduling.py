"""At which moments of a schedule a backup is begun; and that each is dealt with once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stateward.core.calendar.schedule import Schedule
from stateward.core.facts import Known, Unknown
from stateward.core.outcome import Done, Retry
from stateward.fdb.decide.backups import backing, scheduling
from stateward.fdb.decide.backups.views import Arm, BackupView, ClusterIs, Due, Skip, Start
from stateward.fdb.status.backups.backup import BackupStage, BackupState, Point

TEN_MINUTES = 600.0


def live(stage: BackupStage, uid: str = "u1") -> Known[BackupState]:
    point = Point(9, 9.0) if stage is BackupStage.COMPLETED else None
    state = BackupState("t", stage, False, uid, restorable=point)
    return Known(state, 0.0, "test")


def view(**over: Any) -> BackupView:
    given: dict[str, Any] = {
        "name": "nightly", "uid": "1", "generation": 1, "tag": "t", "wish": "Running",
        "is_one_time": True, "is_unmanaged": False, "policy": "noop", "url": "file:///b",
        "period": 9, "cluster": ClusterIs.THERE, "live": live(BackupStage.COMPLETED),
        "former_uid": "u0", "is_scheduled": True, "since": 100.0,
    }  # fmt: skip
    return BackupView(**{**given, **over})


@pytest.mark.parametrize(
    ("over", "found"),
    [
        ({"since": None}, Arm()),
        ({"due": 600.0}, Due(600.0, "u1")),
        ({"due": 600.0, "live": live(BackupStage.RUNNING)}, Skip(600.0)),
        ({"due": 600.0, "live": live(BackupStage.NEVER, "")}, Due(600.0, "")),
    ],
)
def test_what_is_put_on_record(over: dict[str, Any], found: object) -> None:
    assert scheduling.scheduling(view(**over)) == found


@pytest.mark.parametrize(
    ("over", "found"),
    [
        ({}, Done),
        ({"is_scheduled": False, "due": 600.0}, Done),
        ({"wish": "Stopped", "due": 600.0}, Done),
        ({"holder": "older", "due": 600.0}, Done),
        ({"live": Unknown("silence"), "due": 600.0}, Done),
        ({"live": live(BackupStage.ABORTING), "due": 600.0}, Retry),
    ],
)
def test_when_nothing_is(over: dict[str, Any], found: type) -> None:
    assert isinstance(scheduling.scheduling(view(**over)), found)


def test_none_is_begun_before_its_first_moment() -> None:
    never = live(BackupStage.NEVER, "")
    assert isinstance(backing.starting(view(live=never)), Done)
    assert isinstance(backing.starting(view(live=never, last_due=600.0)), Start)
    assert isinstance(backing.starting(view(last_due=600.0)), Done), "it is made"
    assert isinstance(backing.starting(view(last_due=600.0, former_uid="u1")), Start)


# ------------------------------------------------------------------ each moment once
@dataclass
class World:
    """An object with a schedule, a tag of a database, and an operator that comes and goes."""

    now: float = 1.0
    since: float | None = None
    last: float | None = None
    former: str = ""
    stage: BackupStage = BackupStage.NEVER
    number: int = 0
    #: For which moment each was begun.
    begun: list[float | None] = field(default_factory=list)
    skipped: list[float] = field(default_factory=list)

    def live(self, event: str) -> None:
        """Let something befall, or an operator do its next thing."""
        if event == "later":
            self.now += 250.0
        elif event == "long":
            self.now += 5 * TEN_MINUTES
        elif event == "whole":
            if self.stage is BackupStage.RUNNING:
                self.stage = BackupStage.COMPLETED
        else:
            self._pass(event)

    def _pass(self, event: str) -> None:
        uid = f"u{self.number}" if self.number else ""
        schedule = Schedule(every=TEN_MINUTES)
        due = schedule.last(self.since, self.now) if self.since is not None else None
        seen = view(
            live=live(self.stage, uid),
            since=self.since,
            last_due=self.last,
            due=due,
            former_uid=self.former,
        )
        if event == "dies":
            return
        match scheduling.scheduling(seen):
            case Arm():
                self.since = self.now
            case Due(moment, former):
                self.since = self.last = moment
                self.former = former
            case Skip(moment):
                self.since = moment
                self.skipped.append(moment)
            case _ if isinstance(backing.starting(seen), Start):
                self.number, self.stage = self.number + 1, BackupStage.RUNNING
                self.begun.append(self.last)
            case _:
                pass


EVENTS = st.sampled_from(["passes", "passes", "dies", "later", "later", "long", "whole"])


@given(st.lists(EVENTS, max_size=60))
@example(["passes", "long", "passes", "passes", "passes", "whole", "passes"])
def test_each_moment_is_begun_at_most_once_and_two_never_go_on_at_once(events: list[str]) -> None:
    world = World()
    for event in events:
        before = world.stage
        many = len(world.begun)
        world.live(event)
        assert len(world.begun) == many or before is not BackupStage.RUNNING
    assert len(set(world.begun)) == len(world.begun)
    assert None not in world.begun
    assert not {*world.begun} & {*world.skipped}
    assert len({*world.begun, *world.skipped}) <= world.now / TEN_MINUTES


def test_moments_that_passed_unseen_are_caught_up_with_once() -> None:
    world = World()
    for event in ["passes", "long", "passes", "passes", "whole", "passes", "passes"]:
        world.live(event)
    assert len(world.begun) == 1
