"""Keys are taken away at most once for a restore, after a "no", and never once it was begun."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import example, given
from hypothesis import strategies as st

from stateward.core.facts import Known, Unknown
from stateward.fdb.decide.backups import restoring
from stateward.fdb.decide.backups.views import Begin, Clear, ClusterIs, Note, Record, RestoreView
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState

STEP = 15.0
#: Seconds after which a program is surely over.
LONGEST = {"begin": 60.0, "clear": 30.0}


@dataclass
class World:
    """An object that clears, a database, and programs that are slow: each may be done late."""

    now: float = 0.0
    record: Record = field(default_factory=Record)
    #: What the database has: keys, whether a mark says that they were taken away, a restore.
    keys: set[str] = field(default_factory=lambda: {"old"})
    marked: bool = False
    stage: RestoreStage = RestoreStage.NEVER
    clears: int = 0
    begun: int = 0
    refused: int = 0
    #: Programs that run without anybody who hears of them, and since when.
    late: list[tuple[str, float]] = field(default_factory=list)

    def live(self, event: str) -> None:
        """Let something befall, or an operator do its next thing."""
        self.now += STEP
        self.late = [it for it in self.late if self.now - it[1] < LONGEST[it[0]]]
        match event:
            case "agents":
                following = {"queued": RestoreStage.RUNNING, "running": RestoreStage.COMPLETED}
                self.stage = following.get(self.stage, self.stage)
                if self.stage is RestoreStage.COMPLETED:
                    self.keys.add("restored")
            case "written":
                self.keys |= {"new"} if not self.stage.is_active else set()
            case "emptied":
                self.keys -= {"new", "old"}
            case "wiped":
                self.record = Record()
            case "late":
                if self.late:
                    self.ask(self.late.pop(0)[0])
            case _:
                self._pass(event)

    def _pass(self, event: str) -> None:
        state = RestoreState("t", self.stage, "" if self.stage is RestoreStage.NEVER else "r")
        live = Unknown("over") if self.record.is_over else Known(state, self.now, "test")
        seen = RestoreView(
            name="again",
            tag="t",
            url="file:///b/backup-1",
            cluster=ClusterIs.THERE,
            cluster_uid="c",
            live=live,
            record=self.record,
            clears=True,
            cleared=Known(self.marked, self.now, "test"),
            now=self.now,
        )
        found = restoring.restoring(seen)
        if event == "dies before":
            return
        match found:
            case Note():
                self.record = replace(self.record, cluster_uid="c", begun_at=self.now)
            case Begin() | Clear():
                what = "begin" if isinstance(found, Begin) else "clear"
                if event == "unheard":  # it may be done later, or never
                    self.late.append((what, self.now))
                elif self.ask(what) == "not empty" and event == "passes":
                    self._say(seen)
            case _ if state.uid:
                self.record = replace(self.record, uid="r", state=str(self.stage))

    def _say(self, seen: RestoreView) -> None:
        if restoring.may_clear(seen):
            self.record = replace(self.record, clearing_at=self.now)

    def ask(self, what: str) -> str:
        """Do what a database does when a program asks."""
        if what == "clear":
            if not self.marked and not self.stage.is_active:
                assert self.refused, "nothing stood in the way of a restore"
                assert not self.begun, "what was restored would be taken away"
                self.clears, self.marked = self.clears + 1, True
                self.keys.clear()
            return "done"
        if self.stage is not RestoreStage.NEVER:
            return "runs"
        if self.keys:
            self.refused += 1
            return "not empty"
        self.stage, self.begun = RestoreStage.QUEUED, self.begun + 1
        return "done"


EVENTS = st.sampled_from(
    [
        *("passes", "passes", "passes", "dies before", "dies after", "unheard", "late"),
        *("agents", "written", "emptied", "wiped"),
    ]
)
CLEARED = ["passes"] * 8


@given(st.lists(EVENTS, max_size=60))
@example([*CLEARED, "agents", "agents", "wiped", *CLEARED])
@example(["passes", "unheard", "passes", "emptied", "late", "agents", "agents", *CLEARED])
@example([*CLEARED[:5], "unheard", "passes", "agents", "agents", "late", *CLEARED])
def test_keys_are_cleared_at_most_once_and_never_after_it_was_begun(events: list[str]) -> None:
    world = World()
    for event in events:
        world.live(event)
        assert world.clears <= 1
        assert world.begun <= 1
        assert world.stage is not RestoreStage.COMPLETED or "restored" in world.keys


def test_and_they_are_cleared_and_it_is_begun() -> None:
    world = World()
    for event in [*CLEARED, "agents", "agents", "passes"]:
        world.live(event)
    assert (world.clears, world.begun, world.record.state) == (1, 1, "completed")
    assert world.keys == {"restored"}


def test_what_is_written_after_that_is_not_cleared() -> None:
    world = World()
    for event in [*CLEARED[:6], "written", *CLEARED]:
        world.live(event)
    assert world.keys >= {"new"}
    assert (world.clears, world.begun) == (1, 0)
