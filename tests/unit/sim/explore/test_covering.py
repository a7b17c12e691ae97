"""What no plan has met comes first, and in the end every plan has come once."""

from __future__ import annotations

from dataclasses import replace

from fakes.scenes import scene
from stateward.sim.explore import plans
from stateward.sim.explore.covering import covering, feasible, ordered
from stateward.sim.explore.scenes import place

SPACES = plans.spaces([scene("PSC" + "gpea" * 2, name) for name in ("one", "grow", "two")], "ABCFK")


def test_every_fault_at_every_place_is_met_by_the_first_plans():
    pairs = {met for space in SPACES for met, _ in feasible(space)}
    first = list(covering(SPACES))
    met = set()
    for space, ask in first:
        (hit,) = ask.plan.hits
        met.update(it for it, index in feasible(space) if space.hit(index) == hit)

    assert len(first) == len(pairs)
    assert met >= pairs


def test_no_scenario_has_it_all():
    asked = [ask.scenario for _, ask in covering(SPACES)]

    assert all(asked.count(name) > len(asked) / 5 for name in ("one", "grow", "two"))


def test_every_plan_comes_once():
    asks = [ask for _, ask in ordered(SPACES)]

    assert len(asks) == len(set(asks)) == sum(it.size for it in SPACES)


def test_families_come_in_turn():
    assert [space.letter for space, _ in covering(SPACES)][:10] == list("ABCFK") * 2


def test_a_short_run_has_plans_of_any_kind_too():
    """Every other plan is one of all: late calls and families that meet no place are among them."""
    first = [ask for _, ask in list(ordered(SPACES))[:40]]
    meets = [ask for _, ask in covering(SPACES)]

    assert first[::2] == meets[:20]
    assert not set(first[1::2]) & set(meets)


def test_operators_of_several_data_centers_are_each_met_at_each_place():
    here = scene("PSC" + "gpea" * 2, "one")
    calls = [replace(it, process=f"op0-dc{1 + it.number % 3}.1") for it in here.calm.calls]
    several = replace(here, calm=replace(here.calm, calls=tuple(calls)))
    (space,) = plans.spaces([several], "A")
    by_number = {it.number: it for it in several.sites}

    met = {(place(by_number[hit.call]), by_number[hit.call].process) for hit in hits(space)}

    assert met == {(place(it), it.process) for it in several.sites}


def hits(space):
    return [hit for _, ask in covering([space]) for hit in ask.plan.hits]
