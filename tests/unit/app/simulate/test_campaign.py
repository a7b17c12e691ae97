"""A campaign with workers that live nothing: who gets what, who dies, what is counted."""

from __future__ import annotations

import pytest

from fakes import workers
from stateward.app.simulate import campaign
from stateward.app.simulate.campaign import Campaign, Wish
from stateward.app.simulate.crew import Crew
from stateward.core.errors import HouseError
from stateward.sim.etcd.life import Ask
from stateward.sim.explore.results import Finding
from stateward.sim.faults import Plan


def ran(
    letters: str, jobs: int = 2, seconds: float | None = None, work=workers.work, **wish
) -> Campaign:
    with Crew(jobs, work) as crew:
        found = Campaign(crew, Wish(("one",), letters, seconds=seconds, **wish))
        found.prepare()
        found.run()
        found.shrink()
    return found


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_every_plan_is_lived_once_and_one_in_twenty_twice(jobs):
    found = ran("AJ", jobs)
    rows = found.results.by_letter()

    assert found.planned == rows["A"].plans + rows["J"].plans
    of_each = sum(-(-rows[it].plans // 20) for it in "AJ")  # the first of a family, the 21st...
    assert found.results.lived_twice == pytest.approx(of_each, abs=1)
    assert found.results.covered()[0] == 0, "the workers know no places"
    assert found.share() == 1.0


@pytest.fixture(scope="module")
def bad() -> Campaign:
    """A campaign in which all goes wrong that can."""
    return ran("BC")


def told(found: Campaign, law: str) -> list[Finding]:
    return [it for it in found.results.findings.values() if it.law == law]


def test_a_broken_law_is_found_and_a_smaller_plan_for_it(bad):
    (broken,) = told(bad, "E1")

    assert (broken.what, broken.count) == ("409", 10)
    assert broken.smallest is not None


def test_a_worker_that_dies_is_told_with_its_plan_and_replaced(bad):
    (fatal,) = told(bad, "FATAL")

    assert str(fatal.first.ask.plan) == "5=500"
    assert "code 7" in fatal.violation.sentence
    assert sum(it.plans for it in bad.results.by_letter().values()) == bad.planned + 1


def test_lives_that_differ_from_process_to_process_are_found(bad):
    assert {it.what for it in told(bad, "DETERMINISM")} <= {"twice", "two-passes"}
    assert told(bad, "DETERMINISM")


def test_each_fault_comes_to_each_place_once_where_no_more_is_asked_for():
    found, every = ran("AJ", covering=True), ran("AJ")
    places = len(found.results.feasible)

    assert found.planned == places == sum(found.results.by_letter()[it].plans for it in "AJ")
    assert 0 < places < every.planned
    assert found.share() == 1.0


def test_time_ends_a_campaign():
    found = ran("ABDK", seconds=1.0, work=workers.dawdle)

    assert 0 < found.results.lives < found.planned


def test_a_swarm_has_no_end_but_that_of_time():
    found = ran("A", seconds=1.0, work=workers.dawdle, swarm=True)

    assert found.planned is None
    assert found.results.by_letter()["*"].plans > 0


def test_workers_that_cannot_start_are_told():
    with pytest.raises(HouseError, match="code 3"):
        ran("A", work=workers.fall_over)


def test_a_calm_life_that_ends_its_process_is_told_and_the_others_go_on():
    with Crew(2, workers.die_in_calm) as crew:
        found = Campaign(crew, Wish(("one", "grow"), "A"))
        found.prepare()
        found.run()

    (fatal,) = told(found, "FATAL")
    assert (fatal.first.ask.scenario, str(fatal.first.ask.plan)) == ("grow", "calm")
    assert found.results.by_scenario()["one"].plans == found.planned + 1
    assert found.planned > 0


def test_whoever_leaves_leaves_no_process_behind():
    with Crew(2, workers.dawdle) as crew:
        processes = [it.process for it in crew._hands]
        crew.listen(10)
    assert [it.is_alive() for it in processes] == [False, False]


def test_a_run_that_ends_early_has_seen_all_scenarios_and_late_calls_too():
    """The first part of each scenario reaches from its first calls to its last."""
    asks = [Ask(name, Plan.parse(f"{n}=409")) for name in ("one", "grow") for n in range(1, 101)]
    parts = list(campaign._batches(campaign._Errand("B", it) for it in asks))

    assert [{it.ask.scenario for it in part} for part in parts[:2]] == [{"one"}, {"grow"}]
    calls = [it.ask.plan.hits[0].call for it in parts[0]]
    assert calls == sorted(calls)
    assert calls[0] <= 5
    assert calls[-1] >= 95
    assert sorted(str(it.ask) for part in parts for it in part) == sorted(map(str, asks))
