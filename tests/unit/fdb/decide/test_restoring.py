"""What is to be done about a restore; and that it is begun at most once, whatever befalls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stateward.core.facts import Known, Unknown
from stateward.core.outcome import Blocked, Done, Retry, Wait
from stateward.fdb.decide.backups import restoring
from stateward.fdb.decide.backups.views import (
    Abort,
    Begin,
    Clear,
    ClusterIs,
    LetGo,
    Note,
    Record,
)
from stateward.fdb.decide.backups.views import RestoreView as View
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState

NEVER = RestoreState("t", RestoreStage.NEVER)
BEGUN = Record(cluster_uid="c1", begun_at=0.0)


CLEARING = replace(BEGUN, clearing_at=900.0)
KEPT, GONE = Known(False, 0.0, "test"), Known(True, 0.0, "test")


def known(state: RestoreState) -> Known[RestoreState]:
    return Known(state, 0.0, "test")


def at(stage: str) -> Known[RestoreState]:
    return known(RestoreState("t", RestoreStage(stage), "r1", blocks=4, blocks_done=1))


RUNNING = at("running")


def view(**over: Any) -> View:
    given: dict[str, Any] = {
        "name": "again",
        "tag": "t",
        "url": "file:///b/backup-1",
        "cluster": ClusterIs.THERE,
        "cluster_uid": "c1",
        "live": known(NEVER),
        "now": 1000.0,
    }
    return View(**{**given, **over})


@pytest.mark.parametrize(
    ("over", "found", "reason"),
    [
        ({}, Note, ""),
        ({"record": BEGUN}, Begin, ""),
        ({"cluster": ClusterIs.GONE}, Wait, "ClusterMissing"),
        ({"cluster": ClusterIs.UNMADE}, Wait, "DatabaseNotMade"),
        ({"live": Unknown("silence")}, Retry, "RestoreUnknown"),
        ({"url_unknown": "no backup"}, Wait, "BackupUnknown"),
        ({"others": ("first",)}, Retry, "AnotherRestoreRuns"),
        ({"emptied": "a/b"}, Retry, "LeftoverLeaving"),
        ({"record": BEGUN, "emptied": "a/b"}, Retry, "LeftoverLeaving"),
        ({"record": CLEARING, "emptied": "a/b", "cleared": KEPT}, Retry, "LeftoverLeaving"),
        ({"record": BEGUN, "live": at("running"), "emptied": "a/b"}, Retry, "RestoreRuns"),
        ({"record": BEGUN, "live": at("running")}, Retry, "RestoreRuns"),
        ({"record": BEGUN, "live": at("queued"), "is_paused": True}, Retry, "AgentsPaused"),
        ({"record": BEGUN, "live": at("queued"), "has_agents": False}, Blocked, "NoAgents"),
        ({"has_agents": False}, Blocked, "NoAgents"),  # begun, it would lock the database
        ({"record": BEGUN, "has_agents": False}, Blocked, "NoAgents"),
        ({"record": CLEARING, "has_agents": False, "cleared": KEPT}, Blocked, "NoAgents"),
        ({"record": CLEARING, "is_paused": True, "cleared": KEPT}, Retry, "AgentsPaused"),
        ({"record": CLEARING, "is_paused": True, "cleared": GONE}, Begin, ""),
        ({"record": BEGUN, "live": at("completed")}, Done, ""),
        ({"record": replace(BEGUN, state="completed")}, Done, ""),
        ({"record": replace(BEGUN, uid="r1")}, Blocked, "RestoreForgotten"),
        ({"record": BEGUN, "cluster_uid": "c2"}, Blocked, "RestoreForgotten"),
        ({"bound_uid": "c1"}, Note, ""),
        ({"bound_uid": "c2"}, Blocked, "DestinationReplaced"),
        ({"bound_uid": "c2", "cluster": ClusterIs.GONE}, Wait, "ClusterMissing"),
        ({"record": BEGUN, "bound_uid": "c2"}, Begin, ""),  # it was said when it was begun
        ({"record": Record(is_foreign=True, state="running")}, Blocked, "BegunByAnother"),
        ({"record": BEGUN, "clears": True}, Begin, ""),  # nothing stands in its way yet
        ({"record": CLEARING}, Retry, "RestoreUnknown"),
        ({"record": CLEARING, "cleared": KEPT}, Clear, ""),
        ({"record": CLEARING, "cleared": KEPT, "now": 959.0}, Retry, "ClearingSoon"),
        ({"record": CLEARING, "cleared": KEPT, "now": 0.0}, Retry, "ClearingSoon"),
        ({"record": CLEARING, "cleared": GONE}, Begin, ""),
        ({"record": CLEARING, "cleared": KEPT, "live": Unknown("x")}, Retry, "RestoreUnknown"),
        ({"record": CLEARING, "cleared": KEPT, "others": ("a",)}, Retry, "AnotherRestoreRuns"),
        ({"record": CLEARING, "cleared": KEPT, "cluster_uid": "c2"}, Blocked, "RestoreForgotten"),
        ({"record": replace(CLEARING, uid="r1"), "cleared": KEPT}, Blocked, "RestoreForgotten"),
        ({"record": CLEARING, "cleared": KEPT, "live": RUNNING}, Retry, "RestoreRuns"),
    ],
)
def test_restoring(over: dict[str, Any], found: type, reason: str) -> None:
    said = restoring.restoring(view(**over))
    assert isinstance(said, found)
    assert getattr(said, "reason", "") == reason


@pytest.mark.parametrize(
    ("over", "found"),
    [
        ({}, LetGo),
        ({"record": Record(is_foreign=True)}, LetGo),
        ({"record": BEGUN, "live": at("running")}, Abort),
        ({"record": BEGUN, "live": at("completed")}, LetGo),
        ({"record": BEGUN, "live": Unknown("silence")}, Retry),
        ({"record": BEGUN, "cluster": ClusterIs.GONE}, LetGo),
        ({"record": BEGUN, "cluster_uid": "c2"}, LetGo),
        ({"record": BEGUN, "now": 10.0}, Retry),  # a program may still begin it
        ({"record": BEGUN, "deleted_at": 990.0}, Retry),  # as it was asked for right before
        ({"record": BEGUN, "deleted_at": 970.0}, LetGo),
        ({"record": BEGUN, "deleted_at": 1002.0}, Retry),  # by a clock that is ahead of ours
        ({"record": replace(BEGUN, begun_at=1030.0)}, Retry),
        ({"record": replace(BEGUN, begun_at=9000.0), "deleted_at": 9000.0}, LetGo),
        ({"record": BEGUN, "cluster": ClusterIs.UNMADE, "live": Unknown("none")}, Retry),
        ({"record": BEGUN}, LetGo),
    ],
)
def test_leaving(over: dict[str, Any], found: type) -> None:
    assert isinstance(restoring.leaving(view(**over)), found)


@pytest.mark.parametrize(
    ("over", "may"),
    [
        ({"record": BEGUN, "clears": True}, True),
        ({"record": BEGUN}, False),
        ({"clears": True}, False),
        ({"record": CLEARING, "clears": True}, False),  # it was said, and is done at most once
        ({"record": replace(BEGUN, uid="r1"), "clears": True}, False),
    ],
)
def test_when_keys_may_be_cleared(over: dict[str, Any], *, may: bool) -> None:
    assert restoring.may_clear(view(**over)) is may


# ------------------------------------------------------------------ at most once
@dataclass
class World:
    """An object, a cluster, a database: what survives, and what is lost with what."""

    record: Record = field(default_factory=Record)
    cluster: str = "c1"
    #: What the database has under the tag; None: it never heard of it.
    stage: str | None = None
    begun: int = 0

    def look(self, *, silent: bool) -> View:
        """Look, as an operator does."""
        state = NEVER if self.stage is None else at(self.stage).value
        live = Unknown("silence") if silent else known(state)
        if self.record.is_over:
            live = Unknown("it is over")
        return view(record=self.record, cluster_uid=self.cluster, live=live)

    def live(self, event: str) -> None:
        """Let something befall, or an operator do its next thing."""
        if event == "agents":
            self.stage = {"queued": "running", "running": "completed"}.get(
                self.stage or "", self.stage
            )
        elif event == "remade":  # another database, and another cluster of the name
            self.cluster, self.stage = f"{self.cluster}'", None
        elif event == "wiped":  # the same cluster, whose database forgot
            if self.record.uid:
                self.stage = None
        else:
            self._pass(event)

    def _pass(self, event: str) -> None:
        seen = self.look(silent=event == "silent")
        found = restoring.restoring(seen)
        if isinstance(found, Note) and event != "dies before":
            self.record = replace(self.record, cluster_uid=self.cluster, begun_at=0.0)
        if isinstance(found, Begin) and event != "dies before":
            if self.stage in ("queued", "running"):
                return  # refused: it goes on already
            self.stage, self.begun = "queued", self.begun + 1
            return  # whether anybody hears of it does not matter: it is looked up
        state = seen.state
        if event == "passes" and state is not None and state.uid:
            self.record = replace(self.record, uid=state.uid, state=str(state.stage))


EVENTS = st.sampled_from(
    ["passes", "passes", "dies before", "dies after", "silent", "agents", "remade", "wiped"]
)


@given(st.lists(EVENTS, max_size=40))
@example(["passes", "passes", "dies after", "agents", "agents", "remade", "passes", "passes"])
@example(["passes", "passes", "passes", "wiped", "passes", "passes"])
def test_it_is_begun_at_most_once(events: list[str]) -> None:
    world = World()
    for event in events:
        world.live(event)
        assert world.begun <= 1


def test_and_it_is_begun() -> None:
    world = World()
    for event in ("passes", "passes", "passes", "agents", "agents", "passes"):
        world.live(event)
    assert (world.begun, world.record.state) == (1, "completed")
