"""What a worker does with the lives that it is told to live."""

from __future__ import annotations

import time

import pytest

from stateward.app.simulate import workers
from stateward.app.simulate.workers import Calm, Learn, Shrink, Try, Worker
from stateward.sim.etcd.life import Ask, Life, Violation
from stateward.sim.explore.judging import Met, Outcome
from stateward.sim.faults import Plan


def plan(text: str) -> Ask:
    return Ask("one", Plan.parse(text))


def test_calm_lives_are_learnt_and_plans_are_lived():
    worker = Worker()
    scene = worker.answer(Calm(Ask("one")))
    assert worker.answer(Learn(scene)) is None
    outcome = worker.answer(Try(plan("40=crash-after:4")))

    assert scene.sites
    assert all(it.label for it in scene.sites)
    assert outcome.violations == ()


def test_a_life_without_end_is_ended(monkeypatch):
    def forever(*_: object) -> Outcome:
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(workers, "judged", forever)
    began = time.monotonic()
    outcome = Worker(patience=0.2).answer(Try(plan("4=409")))

    assert time.monotonic() - began < 5
    assert [it.law for it in outcome.violations] == ["ENDLESS"]


def _for_ever(*_: object, **__: object) -> Life:
    while True:
        time.sleep(0.01)


def _broken(*_: object, **__: object) -> Life:
    raise ZeroDivisionError


@pytest.mark.parametrize(("lived", "law"), [(_for_ever, "ENDLESS"), (_broken, "BROKEN")])
def test_a_calm_life_that_comes_to_nothing_is_told(monkeypatch, lived, law):
    monkeypatch.setattr(workers, "live", lived)
    outcome = Worker(patience=0.2).answer(Calm(Ask("one")))

    assert [it.law for it in outcome.violations] == [law]


@pytest.mark.parametrize(("law", "smallest"), [("E1", "1=409"), ("E2", "1=500,1=slow")])
def test_plans_are_shrunk_while_they_break_the_same_law(monkeypatch, law, smallest):
    def judged(ask: Ask, _scene: object) -> Outcome:
        kinds = {it.fault.kind.text for it in ask.plan.hits}
        laws = ["E1"] * ("409" in kinds) + ["E2"] * (kinds >= {"500", "slow"})
        blame = tuple(Violation(it, "op0.1", 0.0, "so") for it in laws)
        return Outcome(ask, blame, (Met("", ""),))

    monkeypatch.setattr(workers, "judged", judged)
    found = Worker().answer(Shrink(plan("10=409,20=500,30=slow,40=503"), law))

    assert str(found.plan) == smallest
