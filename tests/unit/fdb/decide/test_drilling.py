"""What is to be done about a drill; and that it ends, and takes away what it made, whatever befalls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stateward.core.facts import Known, Unknown
from stateward.core.outcome import Done
from stateward.fdb.decide.backups import drilling
from stateward.fdb.decide.backups.drills import (
    Close,
    Counted,
    DrillView,
    Drop,
    Forget,
    Found,
    Keep,
    Make,
    Move,
    Open,
    Piece,
    Restored,
    Run,
    Source,
    Verdict,
    Verify,
)
from stateward.fdb.decide.backups.views import Arm, Skip

SOURCE = Source("file:///b/backup-1", 9, 9.0)
HOUR = 3600.0
OURS = {it: Found(f"{it}-1", is_ours=True) for it in Piece}
UIDS = {it: f"{it}-1" for it in Piece}
CLUSTER, AGENTS, RESTORE = Piece
THEIRS = Found("other", is_ours=False)
LEFT = Found("other", is_ours=False, is_left=True)
COMPLETED = Restored("completed", 9, 100)
REFUSED = Restored(reason="BackupMissing", trouble="there is none", since=0.0)


def view(phase: str = "", **over: Any) -> DrillView:
    """Return a view of a drill in some phase; or of none."""
    given: dict[str, Any] = {
        "name": "nightly-drill", "now": 1000.0, "timeout": HOUR, "since": 100.0, "source": SOURCE,
    }  # fmt: skip
    if phase:
        many = {"MakingCluster": 0, "MakingAgents": 1, "Restoring": 2}.get(phase, 3)
        pieces = list(Piece)[: over.pop("pieces", many)]
        run = Run(phase, 900.0, 9, SOURCE.url, {it: UIDS[it] for it in pieces})  # type: ignore[arg-type]
        given |= {"run": run, "found": {it: OURS[it] for it in pieces}, "is_available": True}
    return DrillView(**{**given, **over})


def without(*pieces: Piece) -> dict[Piece, Found]:
    return {it: found for it, found in OURS.items() if it not in pieces}


# ------------------------------------------------------------------ before
@pytest.mark.parametrize(
    ("over", "found"),
    [
        ({"since": None}, Arm()),
        ({"since": None, "is_asked": False, "is_told": False}, None),
        ({"is_asked": False}, Forget()),
        ({"is_asked": False, "is_deleting": True}, None),
        ({"is_deleting": True, "due": 600.0}, None),
        ({}, None),
        ({"due": 600.0}, Open(600.0, SOURCE)),
        ({"due": 600.0, "source": None}, "DrillWaits"),
        ({"due": 600.0, "hindrance": "its cluster is gone"}, "DrillWaits"),
        ({"due": 600.0, "found": {CLUSTER: THEIRS}}, "NameTaken"),
        ({"due": 600.0, "found": {RESTORE: THEIRS}}, "NameTaken"),
        ({"due": 600.0, "found": {AGENTS: replace(THEIRS, is_going=True)}}, "LeftoverLeaving"),
        ({"due": 600.0, "found": {CLUSTER: LEFT, AGENTS: THEIRS}}, Drop({CLUSTER: "other"})),
        ({"found": {CLUSTER: LEFT}}, None),
    ],
)
def test_when_one_is_begun(over: dict[str, Any], found: object) -> None:
    told(drilling.drilling(view(**over)), found)


def told(outcome: object, found: object) -> None:
    """See that something was decided, or said: an act, the word of an outcome, or nothing."""
    if found is None:
        assert isinstance(outcome, Done)
    elif isinstance(found, str):
        assert getattr(outcome, "reason", outcome) == found
    else:
        assert outcome == found


# ------------------------------------------------------------------ while it goes on
@pytest.mark.parametrize(
    ("phase", "over", "found"),
    [
        ("MakingCluster", {}, Make(CLUSTER)),
        ("MakingCluster", {"hindrance": "its cluster is gone"}, "DrillWaits"),
        ("MakingCluster", {"found": without(AGENTS, RESTORE)},
         Keep(CLUSTER, UIDS[CLUSTER], "MakingAgents")),
        ("MakingCluster", {"found": {CLUSTER: THEIRS}}, "NameTaken"),
        ("MakingCluster", {"found": {CLUSTER: replace(OURS[CLUSTER], is_going=True)}},
         "LeftoverLeaving"),
        ("MakingAgents", {"is_available": False}, "DrillRuns"),
        ("MakingAgents", {}, Make(AGENTS)),
        ("MakingAgents", {"found": {}}, "DrillDisturbed"),
        ("MakingAgents", {"found": {CLUSTER: THEIRS}}, "DrillDisturbed"),
        ("MakingAgents", {"found": {CLUSTER: replace(OURS[CLUSTER], is_going=True)}},
         "DrillDisturbed"),
        ("MakingAgents", {"found": without(RESTORE)}, Keep(AGENTS, UIDS[AGENTS], "Restoring")),
        ("MakingAgents", {"found": {CLUSTER: OURS[CLUSTER], AGENTS: THEIRS}}, "NameTaken"),
        ("Restoring", {}, Make(RESTORE)),
        ("Restoring", {"found": OURS}, Keep(RESTORE, UIDS[RESTORE], "Restoring")),
        ("Restoring", {"found": without(RESTORE) | {RESTORE: THEIRS}}, "NameTaken"),
        ("Restoring", {"found": without(AGENTS)}, "DrillDisturbed"),
        ("Restoring", {"pieces": 3}, "DrillRuns"),
        ("Restoring", {"pieces": 3, "found": without(RESTORE)}, "DrillDisturbed"),
        ("Restoring", {"pieces": 3, "restored": COMPLETED}, Move("Verifying")),
        ("Restoring", {"pieces": 3, "restored": replace(COMPLETED, version=8)},
         "DrillAtAnotherVersion"),
        ("Restoring", {"pieces": 3, "restored": Restored("aborted")}, "RestoreAborted"),
        ("Restoring", {"pieces": 3, "restored": REFUSED}, Verdict("BackupMissing", "there is none")),
        ("Restoring", {"pieces": 3, "restored": replace(REFUSED, since=990.0)}, "DrillRuns"),
        ("Restoring", {"pieces": 3, "restored": replace(REFUSED, reason="NoAgents")}, "DrillRuns"),
        ("Verifying", {}, Verify()),
        ("Verifying", {"is_available": False}, "DrillRuns"),
        ("Verifying", {"found": without(CLUSTER)}, "DrillDisturbed"),
        ("Verifying", {"found": without(AGENTS)}, Verify()),
    ],
)  # fmt: skip
def test_what_comes_next(phase: str, over: dict[str, Any], found: object) -> None:
    told(drilling.drilling(view(phase, **over)), found)


@pytest.mark.parametrize("phase", ["MakingCluster", "MakingAgents", "Restoring", "Verifying"])
def test_one_that_takes_too_long_is_ended_and_one_that_nobody_wants_too(phase: str) -> None:
    late = drilling.drilling(view(phase, now=900.0 + HOUR))
    assert isinstance(late, Verdict)
    assert (late.reason, late.is_proof) == ("DrillTimedOut", False)
    assert drilling.drilling(view(phase, is_asked=False)) == Move("Ending")
    assert drilling.drilling(view(phase, is_deleting=True)) == Move("Ending")
    assert drilling.drilling(view(phase, due=950.0)) == Skip(950.0)
    assert drilling.drilling(view(phase, due=950.0, is_deleting=True)) == Move("Ending")


def test_what_is_late_says_what_it_waited_for() -> None:
    over = {"pieces": 3, "now": 900.0 + HOUR, "restored": Restored(doing="1 of 4 blocks")}
    late = drilling.drilling(view("Restoring", **over))
    assert isinstance(late, Verdict)
    assert "1 of 4 blocks" in late.trouble


def test_a_clock_that_was_set_back_ends_nothing() -> None:
    assert drilling.drilling(view("Verifying", now=10.0)) == Verify()


def test_one_that_a_wrong_clock_began_ends() -> None:
    late = drilling.drilling(view("Verifying", now=900.0 - HOUR))
    assert isinstance(late, Verdict)
    assert late.reason == "DrillTimedOut"


@pytest.mark.parametrize("phase", ["", "MakingCluster", "Verifying", "Ending"])
@pytest.mark.parametrize("over", [{}, {"is_asked": False}, {"is_deleting": True}])
def test_while_nobody_sees_what_there_is_nothing_is_done(phase: str, over: dict[str, Any]) -> None:
    told(drilling.drilling(view(phase, unseen="refused", due=600.0, **over)), "DrillWaits")


@pytest.mark.parametrize(
    ("there", "before", "reason", "keys"),
    [
        (7, None, "BackupRestored", 7),
        (0, 7, "NothingRestored", 0),
        (0, 0, "BackupRestored", 0),
        (0, None, "DrillRuns", None),
        (None, 7, "DrillRuns", None),
    ],
)
def test_what_keys_prove(
    there: int | None, before: int | None, reason: str, keys: int | None
) -> None:
    counted = Counted(
        *(Unknown("?") if it is None else Known(it, 0.0, "") for it in (there, before))
    )
    found = drilling.proving(view("Verifying"), counted)
    assert getattr(found, "reason", "") == reason
    assert getattr(found, "keys", None) == keys


# ------------------------------------------------------------------ after
@pytest.mark.parametrize(
    ("over", "found"),
    [
        ({}, Drop(UIDS)),
        ({"found": without(CLUSTER)}, Drop({it: UIDS[it] for it in (RESTORE, AGENTS)})),
        ({"found": {CLUSTER: THEIRS, RESTORE: THEIRS}}, Close()),
        ({"found": {CLUSTER: replace(OURS[CLUSTER], is_going=True)}}, "DrillEnds"),
        ({"found": {}, "groups_left": 2}, "DrillEnds"),
        ({"found": {}}, Close()),
        ({"found": {}, "is_asked": False}, Close()),
        ({"found": {}, "is_deleting": True}, Close()),
        ({"found": {}, "now": 10**9}, Close()),
    ],
)
def test_what_is_taken_away(over: dict[str, Any], found: object) -> None:
    told(drilling.drilling(view("Ending", **over)), found)


# ------------------------------------------------------------------ whatever befalls
@dataclass
class World:
    """A backup with drills, objects that come and go, and an operator that may end at any time."""

    now: float = 0.0
    since: float | None = None
    due: float | None = None
    run: Run | None = None
    objects: dict[Piece, Found] = field(default_factory=dict)
    asked: bool = True
    deleting: bool = False
    restored: Restored = field(default_factory=Restored)
    verdicts: list[Verdict] = field(default_factory=list)
    #: What a person made, and what was made at all.
    theirs: set[str] = field(default_factory=set)
    made: int = 0

    def live(self, event: str) -> None:
        """Let something befall, or an operator do its next thing."""
        if event in ("passes", "dies"):
            return self._pass(records=event == "passes")
        self.now += {"moment": 600.0, "long": 2 * HOUR}.get(event, 0.0)
        self.due = self.now if event == "moment" and self.since is not None else self.due
        self.asked = self.asked and event != "removed"
        self.deleting = self.deleting or event == "deleted"
        match event:
            case "completed" if RESTORE in self.objects:
                self.restored = COMPLETED
            case "taken":
                self.objects.setdefault(CLUSTER, THEIRS)
                self.theirs.add(THEIRS.uid)
            case "gone":
                self.objects.pop(AGENTS, None)
        return None

    def view(self) -> DrillView:
        return DrillView(
            name="d", is_asked=self.asked, is_deleting=self.deleting, now=self.now, timeout=HOUR,
            since=self.since, due=self.due, run=self.run, source=SOURCE, found=dict(self.objects),
            is_available=True, restored=self.restored,
        )  # fmt: skip

    def _pass(self, *, records: bool) -> None:
        """Do the next thing; one that ends in the middle did it, and put nothing on record."""
        run = self.run
        match drilling.drilling(self.view()):
            case Make(piece):
                assert run is not None
                assert piece not in self.objects
                self.made += 1
                self.objects[piece] = Found(f"u{self.made}", is_ours=True)
                self.restored = Restored() if piece is RESTORE else self.restored
            case Drop(pieces):
                for piece, uid in pieces.items():
                    assert uid not in self.theirs
                    assert self.objects.pop(piece).uid == uid
            case _ if not records:
                pass
            case act:
                self._record(act)

    def _record(self, act: object) -> None:
        match act:
            case Arm():
                self.since = self.now
            case Skip(moment):
                self.since, self.due = moment, None
            case Open(moment, source):
                assert {it.uid for it in self.objects.values()} <= self.theirs
                self.since, self.due = moment, None
                self.run = Run("MakingCluster", self.now, source.version, source.url)
            case Close():
                self.run = None
            case _ if self.run is not None:
                self.run = self._moved(self.run, act)

    def _moved(self, run: Run, act: object) -> Run:
        match act:
            case Keep(piece, uid, then):
                return replace(run, phase=then, uids={**run.uids, piece: uid})
            case Move(then):
                return replace(run, phase=then)
            case Verify():
                assert self.restored.state == "completed"
                return self._moved(run, Verdict("BackupRestored", keys=1))
            case Verdict() as verdict:
                self.verdicts.append(verdict)
                return replace(run, phase="Ending")
        return run


EVENTS = st.sampled_from(
    [
        *("passes", "passes", "passes", "dies", "moment", "moment"),
        *("long", "completed", "completed", "taken", "removed", "deleted", "gone"),
    ]
)
CALM = ["passes", "moment", *["passes"] * 7, "completed", *["passes"] * 6]


@given(st.lists(EVENTS, max_size=60))
@example(CALM)
@example([*CALM[:6], "dies", "dies", "long", "passes", "moment", "passes"])
def test_whatever_befalls_all_that_a_drill_made_goes_and_nothing_else_does(
    events: list[str],
) -> None:
    world = World()
    for event in events:
        world.live(event)
    for event in [*["passes"] * 20, "long", *["passes"] * 20]:
        world.live(event)
    assert world.run is None
    assert {it.uid for it in world.objects.values()} <= world.theirs


def test_a_calm_one_proves() -> None:
    world = World()
    for event in CALM:
        world.live(event)
    assert [it.reason for it in world.verdicts] == ["BackupRestored"]
    assert world.run is None
    assert world.objects == {}
