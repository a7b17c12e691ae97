"""Many lives become a few numbers, and each way to fail is told once."""

from __future__ import annotations

from fakes.scenes import scene
from stateward.sim.etcd.life import Ask, Violation
from stateward.sim.explore import plans
from stateward.sim.explore.covering import feasible
from stateward.sim.explore.judging import Met, Outcome
from stateward.sim.explore.results import Results, as_json
from stateward.sim.faults import Plan


def outcome(
    plan: str, *laws: str, met: str = "act", scenario: str = "one", digest: str = "d"
) -> Outcome:
    ask = Ask(scenario, Plan.parse(plan))
    found = tuple(Met(met, it.fault.kind.text) for it in ask.plan.hits if met)
    violations = tuple(Violation(law, "op0.1", 4.0, "so it was") for law in laws)
    return Outcome(ask, violations, found, digest, 1800.0, 10)


def results(*outcomes: tuple[str, Outcome]) -> Results:
    found = Results()
    for letter, it in outcomes:
        found.add(letter, it)
    return found


def test_plans_hours_and_violations_are_counted_by_family_and_by_scenario():
    found = results(
        ("A", outcome("1=crash-after")),
        ("A", outcome("2=crash-after", "E1", "E2", scenario="two")),
        ("B", outcome("2=409", scenario="two")),
    )

    assert {letter: (row.plans, row.bad) for letter, row in found.by_letter().items()} == {
        "A": (2, 1),
        "B": (1, 0),
    }
    assert {name: (row.plans, row.bad) for name, row in found.by_scenario().items()} == {
        "one": (1, 0),
        "two": (2, 1),
    }
    assert found.hours == 1.5


def test_ways_to_fail_are_told_apart_by_law_place_and_fault():
    found = results(
        ("A", outcome("1=crash-after", "E1")),
        ("A", outcome("9=crash-after:4", "E1")),
        ("A", outcome("1=crash-before", "E1")),
        ("A", outcome("1=crash-after", "E2")),
        ("A", outcome("1=crash-after", "E1", met="elsewhere")),
        ("2", outcome("1=crash-after,3=409", "E1")),
        ("-", outcome("calm", "E1")),
    )

    assert {key: it.count for key, it in found.findings.items()} == {
        ("E1", "act", "crash-after"): 2,
        ("E1", "act", "crash-before"): 1,
        ("E2", "act", "crash-after"): 1,
        ("E1", "elsewhere", "crash-after"): 1,
        ("E1", "act", "crash-after+409"): 1,
        ("E1", "", "calm"): 1,
    }


def test_a_fault_whose_call_never_came_is_told():
    found = results(("A", outcome("1=crash-after")), ("A", outcome("999=crash-after", met="")))

    assert found.by_letter()["A"].missed == 1


def test_the_second_life_must_be_as_the_first():
    found = results(("A", outcome("1=crash-after")))
    found.again(outcome("1=crash-after"), outcome("1=crash-after"))
    assert not found.findings
    found.again(outcome("1=crash-after"), outcome("1=crash-after", digest="other"))

    assert [key[0] for key in found.findings] == ["DETERMINISM"]
    assert found.lived_twice == 2
    assert found.lives == 3


def test_coverage_is_of_places_and_faults_and_not_of_calls():
    calm = scene("gpgp")
    found = Results(feasible={met for it in plans.spaces([calm], "CJ") for met, _ in feasible(it)})
    all_of_them = {
        ("look get services", "two-passes"),
        ("act patch pods", "two-passes"),
        ("act patch pods", "twice"),
    }

    assert {(it.place, it.what) for it in found.feasible if it.what != "two-leaders"} == all_of_them
    found.add("C", outcome("2=twice", met="act patch pods"))
    found.add("C", outcome("4=twice", met="act patch pods"))
    found.add("C", outcome("4=twice", met="from nowhere"))

    assert found.covered("C") == (1, 3)
    assert found.covered() == (1, 5)
    assert Met("look get services", "two-passes") in found.unseen()


def test_a_report_has_everything():
    found = results(("A", outcome("1=crash-after", "E1")))
    (finding,) = found.findings.values()
    finding.smallest = Ask("one", Plan.parse("1=crash-after:0"))
    told = as_json(found)

    assert told["plans"] == 1
    assert told["families"]["A"] == {
        "plans": 1,
        "virtualHours": 0.5,
        "bad": 1,
        "missed": 0,
        "covered": [0, 0],
    }
    assert told["findings"][0]["first"] == "--scenario one --plan 1=crash-after --seed 1"
    assert told["findings"][0]["smallest"] == "--scenario one --plan 1=crash-after:0 --seed 1"
