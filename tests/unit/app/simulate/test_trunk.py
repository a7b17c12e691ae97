"""Lives that begin alike are lived together, and each is as if it had been lived alone."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from stateward.app.simulate import trunk, workers
from stateward.app.simulate.alarm import GAVE_UP
from stateward.app.simulate.trunk import branched
from stateward.app.simulate.workers import Learn, Try, Worker
from stateward.sim.etcd.life import Ask, Life, live
from stateward.sim.explore.judging import Outcome, judged, weighed
from stateward.sim.explore.scenes import Scene
from stateward.sim.faults import Plan

#: In the order of their first calls; the last comes while all is at rest.
PLANS = (
    "2=crash-after:4",
    "20=409",
    "20=stale:10:30",
    "20=lost-answer,24=crash-before:2",
    "45=zombie:30:0.5",
    "60=act:kill-pod:1",
    "80=503",
)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(live(Ask("one"), record=True))


def asks(*plans: str) -> list[Ask]:
    return [Ask("one", Plan.parse(it)) for it in plans]


def test_a_branch_is_the_life_that_is_lived_from_the_beginning(scene):
    together = list(branched(asks(*PLANS), scene, 60.0))

    assert together == [judged(it, scene) for it in asks(*PLANS)]
    assert all(it is not None and it.met for it in together)


def test_a_branch_that_dies_takes_nobody_along(scene, monkeypatch):
    def die(life: Life, scene: Scene) -> Outcome:
        if str(life.ask.plan) == "20=409":
            os._exit(7)
        return weighed(life, scene)

    monkeypatch.setattr(trunk, "weighed", die)
    found = list(branched(asks("10=500", "20=409", "30=500"), scene, 60.0))

    assert [it is not None for it in found] == [True, False, True]


@pytest.mark.parametrize("plans", [("10=500", "9999=409"), ("10=500", "5=409")])
def test_of_a_call_that_never_comes_nobody_can_say_anything(scene, plans):
    found = list(branched(asks(*plans), scene, 60.0))

    assert [it is not None for it in found] == [True, False]


def test_a_branch_without_end_is_ended(scene):
    (found,) = branched(asks("2=500"), scene, 0.005)

    assert found is not None
    assert [it.law for it in found.violations] == ["ENDLESS"]


def test_a_branch_that_does_not_hear_that_it_took_too_long_is_given_up(scene, monkeypatch):
    monkeypatch.setattr(trunk, "weighed", lambda *_: os._exit(GAVE_UP))
    (found,) = branched(asks("2=500"), scene, 60.0)

    assert found is not None
    assert [it.law for it in found.violations] == ["ENDLESS"]


def test_who_stops_listening_leaves_no_process_behind(scene, monkeypatch):
    forked, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: forked.append(fork()) or forked[-1])
    lives = branched(asks(*PLANS), scene, 60.0)
    next(lives)
    lives.close()

    (pid,) = forked
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


OTHER_SEED = replace(asks("30=500")[0], seed=2)


@pytest.mark.parametrize(
    ("lives", "shared"),
    [
        (asks("10=500", "30=500"), 2),
        (asks("10=500"), 0),
        ([*asks("10=500"), OTHER_SEED], 0),
        (asks("10=500", "calm"), 0),
    ],
)
def test_only_what_begins_alike_is_lived_together(scene, monkeypatch, lives, shared):
    worker, together = Worker(), []

    def note(some: list[Ask], *_: object) -> list[Outcome | None]:
        together.extend(some)
        return [None for _ in some]

    monkeypatch.setattr(workers, "branched", note)
    worker.answer(Learn(scene))
    found = list(worker.answers([Try(it) for it in lives]))

    assert len(together) == shared
    assert [it.ask for it in found] == lives, "what no branch told is lived alone"
