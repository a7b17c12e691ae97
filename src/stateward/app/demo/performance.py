"""A story as it is performed: what is under way, how long each chapter took, what was killed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stateward.app.demo.chapters import Chapter
from stateward.app.demo.kills import Kill, Strike, plan
from stateward.app.demo.picture import Holds, Picture, how_it_stood
from stateward.core.clock import Clock
from stateward.core.errors import StatewardError

#: Seconds that a chapter may take, many times what it needs.
PATIENCE = 90.0
#: Seconds between two looks at the cluster.
_LOOK = 0.05


class DemoFailed(StatewardError):
    """A chapter of the story did not come true."""

    reason = "DemoFailed"


class Writes(Protocol):
    """What is measured of the writer, and how to ask whether anything is lost."""

    acknowledged: int
    failed: int

    def gap_so_far(self) -> float:
        """Return the longest time without an acknowledgement."""

    def begin_lap(self) -> None:
        """Measure gaps for the next chapter as well."""

    def lap_gap_so_far(self) -> float:
        """Return the longest time without an acknowledgement in this chapter."""

    async def missing(self) -> int:
        """Return how many acknowledged values are missing at least."""

    async def lost(self) -> list[int]:
        """Read all acknowledged values back; return those that are not there."""


class Actors(Protocol):
    """What a performance needs of a cluster."""

    @property
    def writer(self) -> Writes:
        """Who writes all the while."""

    def picture(self) -> Picture:
        """Return what there is to see now."""

    def strike(self, pick: int) -> Strike:
        """Kill one of the members, if there is any."""


@dataclass(frozen=True, slots=True)
class Struck:
    """A kill in a chapter that was told."""

    after: float
    #: Empty when nobody was there.
    pod: str


@dataclass(frozen=True, slots=True)
class Step:
    """A chapter that was told."""

    chapter: Chapter
    seconds: float
    #: The longest time in it in which no write was acknowledged.
    gap: float
    kills: tuple[Struck, ...] = ()
    #: Why it did not come true; empty when it did.
    complaint: str = ""
    #: How the cluster stood when it did not come true.
    stood: tuple[str, ...] = ()
    doing: str = ""

    @property
    def ok(self) -> bool:
        """True when it came true."""
        return not self.complaint

    def failure(self) -> str:
        """Return one line: which chapter, what was waited for, and how the cluster stood."""
        return f"{self.chapter.title}: {self.complaint}; {'; '.join(self.stood)}"


@dataclass(slots=True)
class Performance:
    """The chapters of a story, those that were told, and what is lost."""

    actors: Actors
    clock: Clock
    chapters: Sequence[Chapter]
    seed: int | None = None
    patience: float = PATIENCE
    steps: list[Step] = field(default_factory=list)
    now: Chapter | None = None
    #: When the present chapter began.
    began: float = 0.0
    #: Acknowledged values that are known to be missing; None: not all were read back yet.
    lost: int | None = None
    missing: int = 0
    _struck: list[Struck] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True when all chapters came true and every acknowledged value was read back."""
        told = len(self.steps) == len(self.chapters) and all(it.ok for it in self.steps)
        return told and self.lost == 0

    @property
    def longest_gap(self) -> float:
        """The longest time without an acknowledgement while there was a cluster to write to."""
        return self.actors.writer.gap_so_far()

    async def run(self, heard: Callable[[Step], None] = lambda _: None) -> None:
        """Tell the chapters until one does not come true, then read everything back."""
        kills = self.kills()
        for chapter in self.chapters:
            step = await self._tell(chapter, kills[chapter.name])
            self.steps.append(step)
            self.now = None
            heard(step)
            if not step.ok:
                break
            self.missing = await self.actors.writer.missing()
        await self._read_back()

    def kills(self) -> Mapping[str, tuple[Kill, ...]]:
        """Return which kills the seed asks for, by the name of the chapter."""
        return plan(self.seed, {it.name: it.span for it in self.chapters})

    async def _tell(self, chapter: Chapter, kills: Sequence[Kill]) -> Step:
        self.now, self.began, self._struck = chapter, self.clock.monotonic(), []
        self.actors.writer.begin_lap()
        complaint = ""
        try:
            async with asyncio.timeout(self.patience):
                await self._come_true(chapter, kills)
        except TimeoutError:
            complaint = f"waited for {self._awaited()}, which was not so after {self.patience:g} s"
        except StatewardError as error:
            complaint = error.sentence()
        picture = self.actors.picture() if complaint else Picture()
        return Step(
            chapter,
            seconds=self.clock.monotonic() - self.began,
            gap=self.actors.writer.lap_gap_so_far(),
            kills=tuple(self._struck),
            complaint=complaint,
            stood=tuple(how_it_stood(picture)) if complaint else (),
            doing=picture.doing,
        )

    def _awaited(self) -> str:
        """Return what the present chapter waits for."""
        wanted = self.now.wanted if self.now else ""
        killed = sorted({it.pod for it in self._struck if it.pod})
        return f"{wanted}, and for {', '.join(killed)} to be back" if killed else wanted

    async def _come_true(self, chapter: Chapter, kills: Sequence[Kill]) -> None:
        holds = await chapter.act()
        acted = self.clock.monotonic()
        wanted = [holds, *[await self._strike(it, acted) for it in kills]]
        # All at one moment: what was said before a member was killed is no longer so.
        while not all(it(picture) for picture in (self.actors.picture(),) for it in wanted):
            await self.clock.sleep(_LOOK)

    async def _strike(self, kill: Kill, acted: float) -> Holds:
        await self.clock.sleep(acted + kill.after - self.clock.monotonic())
        found = self.actors.strike(kill.pick)
        self._struck.append(Struck(self.clock.monotonic() - self.began, found.pod))
        return found.healed

    async def _read_back(self) -> None:
        try:
            async with asyncio.timeout(self.patience):
                self.lost = len(await self.actors.writer.lost())
        except (StatewardError, TimeoutError):
            self.lost = None  # nobody answers: nothing is known


def failure_of(performance: Performance) -> DemoFailed | None:
    """Return what is to be raised for a performance that went wrong."""
    if performance.ok:
        return None
    broken = [it.failure() for it in performance.steps if not it.ok]
    if performance.lost is None:
        broken.append("the acknowledged writes could not be read back")
    elif performance.lost:
        broken.append(f"{performance.lost} acknowledged writes are lost")
    return DemoFailed("; ".join(broken), hint="please report it")
