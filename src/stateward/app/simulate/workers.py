"""What a worker process does: it lives what it is told to, one plan after the other.

A life that does not end is ended by an alarm. If even that does not help, the worker ends itself,
and whoever employs it says at which plan it was.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Final, NoReturn

import structlog

from stateward.app.simulate.alarm import Alarm, TookTooLong
from stateward.app.simulate.trunk import branched
from stateward.sim.explore.judging import Outcome, endless, fell, judged
from stateward.sim.explore.scenes import Scene
from stateward.sim.explore.shrinking import Shrinker
from stateward.sim.faults import CALM
from stateward.sim.lives import Ask
from stateward.sim.products import live

#: Seconds of this machine that one life may take: a hundred times what the longest takes.
PATIENCE: Final = 120.0

#: The collector is off during a life, and between two of them it hardly gets a turn.
_TIDY_EVERY: Final = 25

#: Seconds that shrinking one plan may take.
SHRINKING: Final = 60.0


@dataclass(frozen=True, slots=True)
class Learn:
    """Keep a scene in mind: lives are held against it."""

    scene: Scene


@dataclass(frozen=True, slots=True)
class Calm:
    """Live a scenario in calm and hand its scene back."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Try:
    """Live a plan and hand its outcome back."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Shrink:
    """Find a smaller plan that breaks the same law and hand it back."""

    ask: Ask
    law: str


#: What is asked for, and what comes back for it; nothing comes back for Learn.
Task = Learn | Calm | Try | Shrink
Answer = Scene | Outcome | Ask


def work(line: Connection) -> None:
    """Work until the other side closes the line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who employs us ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    be_quiet()
    logging.disable(logging.CRITICAL)
    gc.collect()
    gc.freeze()  # what was imported stays; nobody has to look at it again after every life
    worker = Worker()
    try:
        line.send(os.getpid())
        while True:
            for answer in worker.answers(line.recv()):
                line.send(answer)
    except (EOFError, OSError):
        return


def be_quiet() -> None:
    """Drop what operators log: there would be millions of lines, and traces tell better."""
    structlog.configure(
        processors=[_drop],
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        logger_factory=structlog.ReturnLoggerFactory(),
    )


def _drop(*_: object) -> NoReturn:
    raise structlog.DropEvent


class Worker:
    """One who lives plans and knows scenes."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lives = 0
        self._scenes: dict[tuple[str, int], Scene] = {}

    def answers(self, tasks: Sequence[Task]) -> Iterator[Answer]:
        """Do all that is asked for at once, and what can be shared only once; in their order."""
        asks = [it.ask for it in tasks if isinstance(it, Try)]
        scene = self._shared(asks)
        if scene is not None and len(asks) == len(tasks) > 1:
            for ask, outcome in zip(asks, branched(asks, scene, self._patience), strict=True):
                yield outcome if outcome is not None else self._lived(ask)
            return
        for task in tasks:
            if (answer := self.answer(task)) is not None:
                yield answer

    def _shared(self, asks: Sequence[Ask]) -> Scene | None:
        """Return the scene that all these lives begin with."""
        calm = {replace(it, plan=CALM) for it in asks}
        scene = self._known(next(iter(calm))) if len(calm) == 1 else None
        is_shared = scene is not None and {scene.ask} == calm and all(it.plan.hits for it in asks)
        return scene if is_shared else None

    def _known(self, ask: Ask) -> Scene | None:
        known = self._scenes
        return known.get((ask.scenario, ask.operators)) or known.get((ask.scenario, 1))

    def answer(self, task: Task) -> Answer | None:
        """Do what is asked for."""
        match task:
            case Learn(scene):
                self._scenes[scene.ask.scenario, scene.ask.operators] = scene
                return None
            case Calm(ask):
                return self._calm(ask)
            case Try(ask):
                return self._lived(ask)
            case Shrink(ask, law):
                return self._shrunk(ask, law)

    def _calm(self, ask: Ask) -> Scene | Outcome:
        try:
            with Alarm(self._patience):
                return Scene(replace(live(ask, record=True), lines=()))
        except TookTooLong:
            return endless(ask, None, self._patience)
        except Exception as error:  # noqa: BLE001 - whatever breaks a life is what we look for
            return fell(ask, None, error)

    def _lived(self, ask: Ask) -> Outcome:
        self._lives += 1
        if self._lives % _TIDY_EVERY == 0:
            gc.collect()
        scene = self._known(ask)
        try:
            with Alarm(self._patience):
                return judged(ask, scene)
        except TookTooLong:
            return endless(ask, scene, self._patience)

    def _shrunk(self, ask: Ask, law: str) -> Ask:
        until = time.monotonic() + SHRINKING

        def fails(candidate: Ask) -> bool:
            return any(it.law == law for it in self._lived(candidate).violations)

        return Shrinker(fails, lambda: time.monotonic() < until).shrunk(ask)
