"""How many mutants died, and when that is good enough."""

from __future__ import annotations

import json

import pytest

from stateward.core.errors import UsageError
from stateward.sim.mutants import crew, generated, known
from stateward.sim.mutants.breaking import Way
from stateward.sim.mutants.hunt import Verdict
from stateward.sim.mutants.kills import KILLS
from stateward.sim.mutants.named import NAMED
from stateward.sim.mutants.scores import ENOUGH, Score

ALIVE = {"G-known": "it is only slower"}
EQUIVALENT = {"G-same": "a second guard refuses it"}


def score(*found: str, whole: bool = True) -> Score:
    """Read verdicts: ``M21 K1`` was killed by a law, ``M21`` lives."""
    pairs = (it.partition(" ") for it in found)
    verdicts = [Verdict(id_, "so", law, ask="--scenario one") for id_, _, law in pairs]
    return Score(len(found), whole, EQUIVALENT, ALIVE, verdicts)


LAST_LINES = {
    ("M21 K1", "M22 L0"): "named 2/2, generated 0/0; 0 of the survivors are no bugs",
    ("M21", "G-a L0", "G-b"): "named 0/1, generated 1/2 = 50.0 %; 0 of the survivors are no bugs",
    ("G-a L0", "G-same"): "named 0/0, generated 1/2 = 50.0 %; 1 of the survivors are no bugs",
    ("G-a", "G-same L0"): "named 0/0, generated 1/2 = 50.0 %; 0 of the survivors are no bugs",
}


@pytest.mark.parametrize("found", LAST_LINES, ids=" ".join)
def test_the_last_line_says_how_many_died(found):
    assert score(*found).last_line() == f"simulate: mutants: {LAST_LINES[found]}"


NINE = tuple(f"G-{n} L0" for n in range(9))
COMPLAINTS = {
    ("M21 K1", *NINE, "G-known"): [],
    (*NINE, "G-same"): [],
    ("M21", "M22 K1"): ["all named mutants must die, and M21 live"],
    (*NINE[1:], "G-known"): ["90 % of the generated mutants must die"],
    (*NINE[1:], "G-same"): ["90 % of the generated mutants must die"],
    (*NINE, "G-b"): ["G-b lives, and sim/mutants/known.py must say why"],
}


@pytest.mark.parametrize("found", COMPLAINTS, ids=" ".join)
def test_what_is_not_good_enough_is_said(found):
    assert list(score(*found).complaints()) == COMPLAINTS[found]


def test_of_a_few_no_share_is_asked_for():
    assert list(score("G-known", whole=False).complaints()) == []


def test_each_has_a_line():
    it = score("M21 K1", "G-known", "G-a")

    assert [it.line(verdict) for verdict in it.verdicts] == [
        "M21 killed by K1 in --scenario one",
        "G-known alive (so): it is only slower",
        "G-a alive (so): nobody knows why",
    ]


def test_programs_can_read_it():
    told = json.loads(json.dumps(score("M21 K1", "G-same").as_json()))

    assert told["mutants"][0]["id"] == "M21"
    assert told["alive"] == {"G-same": "a second guard refuses it"}


# -------------------------------------------------------------------------- what is known


def test_the_choice_is_large_and_of_every_way_and_both_packages():
    chosen = generated.chosen()

    assert len(chosen) >= 100
    assert {it.place.way for it in chosen} == set(Way)
    assert {it.module.partition(".")[0] for it in chosen} == {"etcd", "runtime"}


def test_each_is_known_for_one_thing():
    assert not KILLS.keys() & {*known.ALIVE, *known.EQUIVALENT}
    assert not known.ALIVE.keys() & known.EQUIVALENT.keys()


def test_nearly_all_that_are_chosen_are_known():
    """Whoever changes a function makes some anew: a hunt finds them, and they are written down."""
    chosen = {it.id for it in generated.chosen()}
    unknown = sorted(chosen - {*KILLS, *known.ALIVE, *known.EQUIVALENT})

    assert len(unknown) <= len(chosen) / 10, unknown


def test_what_is_known_is_enough():
    every = len(KILLS) + len(known.ALIVE) + len(known.EQUIVALENT)

    assert 100 * len(KILLS) / every >= ENOUGH


def test_a_mutant_is_found_by_its_id():
    assert crew.find("M21") is NAMED["M21"]
    assert crew.find(next(iter(KILLS))).id == next(iter(KILLS))


UNKNOWN = {
    "M99": r"--mutant must be one of M01, .*, or a generated one, as G-.*; got 'M99'",
    "G-etcd.nowhere:negate.1": "there is no generated mutant G-etcd.nowhere:negate.1",
}


@pytest.mark.parametrize("identity", UNKNOWN)
def test_what_there_is_not_is_said(identity):
    with pytest.raises(UsageError, match=UNKNOWN[identity]):
        crew.find(identity)
