"""Every plan of a family can be picked by its number, and any first ones of them are an even sample."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from fakes.scenes import scene
from stateward.app.kinds import PRODUCTS
from stateward.core.errors import UsageError
from stateward.kube.crd.kind import CustomKind
from stateward.sim.etcd.life import Ask
from stateward.sim.explore import plans
from stateward.sim.explore.menus import menu
from stateward.sim.explore.scenes import Scene, thinned
from stateward.sim.faults import Family, Plan

CALM = scene("PSCgpeal" + "gpea" * 5)


def offered(family: Family, letter: str) -> str:
    """Return the faults that can come at the last call of a life with caches of two kinds."""
    found = scene(f"PS{letter}")
    choices = menu(family, found, found.calm.calls[-1])
    return " ".join(str(it.pick(n)) for it in choices for n in range(it.size))


CRASHES = " ".join(
    f"crash-{when}:{rest}" for when in ("before", "after", "answered") for rest in (0, 4, 16)
)


@pytest.mark.parametrize(
    ("family", "call", "faults"),
    [
        ("A", "g", f"{CRASHES} sigterm"),
        ("A", "a", f"{CRASHES} sigterm"),
        ("B", "g", "lost-answer slow 429 500 503 504 malformed 401 403:5 403:60"),
        ("B", "e", "lost-answer slow 429 500 503 504 malformed 401"),
        ("B", "p", "lost-answer slow 429 500 503 lost-request 409 504 malformed 401 403:5 403:60"),
        ("B", "a", "lost-answer slow 429 500 503 lost-request 409 401"),
        ("C", "g", "two-passes"),
        ("C", "p", "twice two-passes"),
        ("D", "g", "stale:1:1 stale:1:15 stale:1:60 stale:2:1 stale:2:15 stale:2:60"),
        (
            "F",
            "g",
            "stall:Pod:5 stall:Pod:20 stall:Pod:120 stall:StatefulSet:5 stall:StatefulSet:20 stall:StatefulSet:120",
        ),
        ("G", "g", "unseen:Pod unseen:StatefulSet"),
        (
            "H",
            "g",
            "reorder:Pod:1 reorder:Pod:15 reorder:Pod:60 reorder:StatefulSet:1 reorder:StatefulSet:15 reorder:StatefulSet:60 server:1:30 server:1:90 server:15:30 server:15:90 server:60:30 server:60:90",
        ),
        ("I", "g", "zombie:12 zombie:30 zombie:60 zombie:90 zombie:7.5"),
        ("J", "g", "two-leaders:10 two-leaders:60"),
        ("L", "g", "upgrade:older upgrade:newer"),
    ],
)
def test_what_can_come_at_a_call(family, call, faults):
    assert offered(Family(family), call).split() == faults.split()


def test_the_past_of_some_kinds_is_neither_that_of_none_nor_that_of_all():
    kinds = {it.split(":")[1] for it in offered(Family.PAST_OF_SOME, "g").split()}

    assert kinds == {"Pod", "StatefulSet"}


def test_every_act_can_come_and_each_is_a_kind_of_its_own():
    found = scene("P")
    titles = {it.title for it in menu(Family.WORLD, found, found.calm.calls[0])}

    assert {"act:kill-pod", "act:wipe", "act:edit"} <= titles


@pytest.mark.parametrize("letter", plans.LETTERS)
def test_every_plan_is_offered_once_and_reads_as_it_was_written(letter):
    calm = scene("PSCgpeal" + "gpea" * 5, operators=plans.operators(letter))
    (space,) = plans.spaces([calm], letter)
    asks = [space.ask(n) for n in range(space.size)]

    assert (
        len(set(asks)) >= 0.9 * space.size if letter == plans.TWO else len(set(asks)) == space.size
    )
    assert all(Plan.parse(str(it.plan)) == it.plan for it in asks)
    assert {it.operators for it in asks} == {plans.operators(letter)}
    assert 0 < space.size <= space.possible


@pytest.mark.parametrize(
    "family", [it for it in Family if it not in {Family.PAST, Family.PAST_OF_SOME}]
)
def test_all_plans_of_a_family_meet_every_call_equally(family):
    """But for what can only come at writes."""
    space = plans.Singles(family, CALM)
    met = Counter(space.hit(n).call for n in range(space.possible))

    assert set(met) == {it.number for it in CALM.sites}
    assert max(met.values()) <= 2 * min(met.values())


@pytest.mark.parametrize("size", [1, 2, 3, 8, 10, 97, 100, 1024, 9973])
def test_the_stride_meets_every_number_once(size):
    assert sorted(plans.strided(n, size) for n in range(size)) == list(range(size))


@pytest.mark.parametrize("size", [1_000, 4_096, 50_000])
@pytest.mark.parametrize("first", [20, 100])
def test_the_first_of_a_stride_are_an_even_sample(size, first):
    tenths = Counter(plans.strided(n, size) * 10 // size for n in range(first))

    assert all(0.5 * first / 10 <= tenths[n] <= 1.5 * first / 10 for n in range(10))


def test_few_renewals_of_the_lease_are_kept():
    """Four, and then one in eight."""
    calls = scene("l" * 20 + "g").calm.calls

    assert [it.number for it in thinned(calls)] == [1, 2, 3, 4, 8, 16, 21]


@pytest.mark.parametrize(
    ("step", "calls"), [(0, [1, 2, 3, 4, 5, 6, 7]), (1, [2, 3, 4]), (2, [5, 6, 7])]
)
def test_calls_of_one_step_alone_can_be_asked_for(step, calls):
    calm = replace(scene("PSCgpea").calm, begins=(1, 4))

    assert [it.number for it in Scene(calm, step).sites] == calls


def test_a_short_run_has_something_of_every_family_and_scenario():
    some = [scene("PSCgpea", name) for name in ("one", "grow")]
    spaces = plans.spaces(some, "ABK")
    first = [(space.letter, ask.scenario) for space, ask in plans.in_turn(spaces)][:6]

    assert first == [(letter, name) for name in ("one", "grow") for letter in "ABK"]


def test_what_is_explored_in_turn_is_everything():
    spaces = plans.spaces([scene("PSCgpea")], "AJL")

    assert len(list(plans.in_turn(spaces))) == sum(it.size for it in spaces)


def test_only_scenes_with_enough_operators_have_zombies():
    assert plans.spaces([scene("gp")], "I") == []
    assert [it.letter for it in plans.spaces([scene("gp", operators=2)], "AI")] == ["I"]


@pytest.mark.parametrize(
    ("text", "letters"),
    [("", "ABCDEFGHIJKL2"), ("iab", "ABI"), ("A,B", "AB"), ("2a", "A2"), ("AA", "A")],
)
def test_letters_are_read(text, letters):
    assert plans.read_letters(text) == letters


def test_an_unknown_family_is_told():
    with pytest.raises(UsageError, match="'Z'"):
        plans.read_letters("AZ")


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("--scenario one --plan calm --seed 1", Ask("one")),
        (
            "--scenario two --plan 4=409,9=stale:3:15 --seed 7 --operators 2",
            Ask("two", Plan.parse("4=409,9=stale:3:15"), 7, 2),
        ),
    ],
)
def test_what_is_lived_reads_as_it_was_written(text, ask):
    assert plans.read_ask(text) == ask
    assert str(ask) == text


@pytest.mark.parametrize(
    "text", ["", "--scenario", "--scenario one --bogus 4", "--plan calm", "--scenario one --seed x"]
)
def test_what_is_no_ask_is_told(text):
    with pytest.raises(UsageError):
        plans.read_ask(text)


@pytest.mark.parametrize("kind", PRODUCTS, ids=lambda it: it.resource.kind)
def test_caches_of_every_kind_of_ours_can_be_made_to_be_wrong(kind: CustomKind) -> None:
    resource = kind.versions[0].resource
    life = scene("g").calm
    listed = replace(life.calls[0], text=f"list {resource} ")
    assert Scene(replace(life, calls=(listed,))).kinds == (resource.kind,)
