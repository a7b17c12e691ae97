"""Workers that live nothing: a plan says what they do, so that campaigns can be tried at no cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from fakes.scenes import scene
from stateward.app.simulate.workers import Answer, Calm, Shrink, Task, Try
from stateward.sim.etcd.life import Ask, Violation
from stateward.sim.explore.judging import Met, Outcome, of_calm, what


def answered(task: Task) -> Answer | None:
    """Do as the plan says: 409 breaks a law, 500 at call 5 ends the process, and what comes twice
    is another life in every process.
    """
    match task:
        case Calm(ask):
            return scene("PSC" + "gpea" * 5, ask.scenario, ask.operators)
        case Try(ask):
            return outcome(ask)
        case Shrink(ask, _):
            return Ask(ask.scenario, ask.plan, ask.seed)
        case _:
            return None


def outcome(ask: Ask) -> Outcome:
    kinds = [what(it.fault) for it in ask.plan.hits]
    if str(ask.plan) == "5=500":
        os._exit(7)
    violations = (Violation("E1", "op0.1", 1.0, "so it was"),) if "409" in kinds else ()
    digest = of_calm(scene("")).digest
    if {"twice", "two-passes"} & set(kinds):
        digest = f"{os.getpid()}"
    return Outcome(ask, violations, tuple(Met("place", it) for it in kinds), digest, 60.0, 10)


def work(line: Connection) -> None:
    """Answer until the other side has gone."""
    _serve(line, answered)


def fall_over(line: Connection) -> None:
    """End before anything was asked."""
    del line
    os._exit(3)


def die_in_calm(line: Connection) -> None:
    """End at the calm life of one scenario, and do all else as others do."""

    def answer(task: Task) -> Answer | None:
        if isinstance(task, Calm) and task.ask.scenario == "grow":
            os._exit(7)
        return answered(task)

    _serve(line, answer)


def dawdle(line: Connection) -> None:
    """Take a long time for every plan."""

    def slowly(task: Task) -> Answer | None:
        if isinstance(task, Try):
            time.sleep(0.05)
        return answered(task)

    _serve(line, slowly)


def _serve(line: Connection, answer: Callable[[Task], Answer | None]) -> None:
    line.send(os.getpid())
    while True:
        try:
            tasks = line.recv()
        except EOFError:
            return
        for task in tasks:
            if (found := answer(task)) is not None:
                line.send(found)
