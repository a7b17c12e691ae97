"""Plans are lived, judged and told: with real lives of the smallest scenario."""

from __future__ import annotations

import pytest

from stateward.core.errors import HouseError
from stateward.sim.etcd.life import Ask, Violation, live
from stateward.sim.explore import judging
from stateward.sim.explore.judging import BROKEN, judged
from stateward.sim.explore.scenes import Scene
from stateward.sim.explore.timeline import tell
from stateward.sim.faults import Plan
from stateward.sim.mutants.clues import Clue

CRASH = Clue("one", "create statefulsets", "crash-after:4").ask(live(Ask("one"), record=True))


@pytest.fixture(scope="module")
def calm() -> Scene:
    return Scene(live(Ask("one"), record=True))


def test_a_life_that_goes_well_has_no_violations(calm):
    outcome = judged(CRASH, calm)

    assert outcome.violations == ()
    assert outcome.seconds > 20
    assert [it.what for it in outcome.met] == ["crash-after"]
    assert ".py:" in outcome.met[0].place


def test_a_life_knows_when_its_steps_began():
    life = live(Ask("grow"))
    _first, second = life.begins

    assert 0 < second < len(life.calls)
    assert life.calls[second].at > 15


def test_the_place_of_a_fault_is_where_the_calm_life_has_it(calm):
    one = judged(CRASH, calm)
    alone = judged(CRASH)
    both = judged(Ask("one", Plan.parse(f"{CRASH.plan},60=409")), calm)

    assert one.met[0] == alone.met[0] == both.met[0]
    assert len(both.met) == 2


def test_a_fault_that_never_comes_is_not_met(calm):
    assert judged(Ask("one", Plan.parse("99999=409")), calm).met == ()


def test_a_life_that_breaks_is_a_violation(calm, monkeypatch):
    def breaks(*_: object, **__: object) -> None:
        raise HouseError("op0.1 fell over")

    monkeypatch.setattr(judging, "live", breaks)
    outcome = judged(CRASH, calm)

    assert [it.law for it in outcome.violations] == [BROKEN]
    assert "op0.1 fell over" in outcome.violations[0].sentence
    assert outcome.met, "what it was at is known"


def test_what_differs_from_the_calm_life_is_asked_of_the_one_with_its_own_seed(calm, monkeypatch):
    """Chance makes lives differ: only a difference from one's own calm life counts."""
    asked: list[int] = []

    def differences(reference, life):
        asked.append(reference.ask.seed)
        return (Violation("DIFF", "nobody", 0.0, "other"),) if reference.ask.seed == 1 else ()

    monkeypatch.setattr(judging, "differences", differences)

    assert judged(Ask("one", CRASH.plan, seed=2), calm).violations == ()
    assert asked == [1, 2]
    assert [it.law for it in judged(CRASH, calm).violations] == ["DIFF"]


def test_a_timeline_tells_who_did_what():
    life, lines = tell(CRASH)
    told = "\n".join(lines)
    moments = [float(it.split()[0]) for it in lines]

    for words in (
        "user        create shop",
        f"op0.1       #{CRASH.plan.hits[0].call} create statefulsets.apps ns/shop",
        "!!! op0.1       create statefulsets.apps ns/shop: crash-after:4",
        "op0.2       starts",
        "kubernetes  pods ns/shop-0 made",
        "etcd        cluster 0: shop-0; led by shop-0",
        "event     WriteConfig: writing what members start with",
    ):
        assert words in told
    assert moments == sorted(moments)
    assert "leases" not in told
    assert life.digest == live(CRASH).digest, "to look on changes nothing"
