"""Worker processes and what each of them is at: one that dies is replaced, and its plan is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Final

from stateward.app.simulate import workers
from stateward.app.simulate.workers import Answer, Learn, Task
from stateward.core.errors import HouseError
from stateward.sim.explore.scenes import Scene

#: With fewer tasks before it, a worker gets more: so that it need not wait for them.
_DEPTH: Final = 3

# Started anew and not forked: every worker has hash seeds of its own, and lives must not show it.
_CONTEXT: Final = get_context("spawn")


@dataclass(slots=True, eq=False)
class _Hand:
    """One worker."""

    process: SpawnProcess
    line: Connection
    ready: bool = False
    #: What it was given, with a note of whoever gave it.
    tasks: deque[tuple[Task, object]] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a worker did with a task; None: it died of it, with this exit code."""

    worker: int
    task: Task
    note: object
    answer: Answer | None
    code: int = 0


class Crew:
    """Some workers. Whoever leaves the block ends them all, at once."""

    def __init__(self, jobs: int, work: Callable[[Connection], None] = workers.work) -> None:
        self.jobs = jobs
        self._work = work
        self._scenes: list[Scene] = []
        self._hands = [self._hire() for _ in range(jobs)]

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for hand in self._hands:
            hand.process.kill()
        for hand in self._hands:
            hand.process.join()
            hand.line.close()

    def teach(self, scene: Scene) -> None:
        """Let all workers know a scene, and those that come later; nobody may be busy."""
        self._scenes.append(scene)
        for hand in self._hands:
            hand.line.send((Learn(scene),))

    def hungry(self) -> Iterator[int]:
        """Yield the workers that should get a task now, those with the fewest first."""
        for depth in range(_DEPTH):
            yield from (n for n, it in enumerate(self._hands) if len(it.tasks) == depth)

    @property
    def busy(self) -> bool:
        """True while something is under way."""
        return any(it.tasks for it in self._hands)

    def give(self, worker: int, errands: Sequence[tuple[Task, object]]) -> None:
        """Give a worker some tasks at once; each one's note comes back with its answer."""
        hand = self._hands[worker]
        hand.tasks.extend(errands)
        try:
            hand.line.send(tuple(task for task, _ in errands))
        except OSError:  # it died; that is told when we listen
            return

    def listen(self, patience: float) -> list[Heard]:
        """Return what was done, as soon as anything was; the dead are replaced."""
        ready = wait([it.line for it in self._hands], patience)
        heard: list[Heard] = []
        for number, hand in enumerate(self._hands):
            if hand.line in ready:
                heard.extend(self._hear(number, hand))
        return heard

    def _hear(self, number: int, hand: _Hand) -> Iterator[Heard]:
        try:
            answer = hand.line.recv()
        except (EOFError, OSError):
            yield from self._replace(number, hand)
            return
        if not hand.ready:
            hand.ready = True
            return
        yield Heard(number, *hand.tasks.popleft(), answer)

    def _replace(self, number: int, hand: _Hand) -> Iterator[Heard]:
        hand.process.join()
        hand.line.close()
        code = hand.process.exitcode or 0
        if not hand.ready:
            raise HouseError(f"a worker process must start; it ended with code {code}")
        self._hands[number] = self._hire()
        for scene in self._scenes:
            self._hands[number].line.send((Learn(scene),))
        if hand.tasks:
            yield Heard(number, *hand.tasks.popleft(), None, code)
        if hand.tasks:
            self.give(number, list(hand.tasks))

    def _hire(self) -> _Hand:
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=self._work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return _Hand(process, ours)
