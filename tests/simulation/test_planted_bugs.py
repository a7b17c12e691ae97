"""A green simulation means nothing until planted bugs turn it red.

Every bug is looked for in one life, in which it was found before. If the operator changed and the
life convicts no more, ``stateward simulate --mutants --mutant ID`` finds another one.
"""

from __future__ import annotations

import pytest

from stateward.sim.mutants import crew
from stateward.sim.mutants.clues import Clue
from stateward.sim.mutants.ground import Ground, Spot
from stateward.sim.mutants.hunt import Hunt, Verdict
from stateward.sim.mutants.kills import KILLS
from stateward.sim.mutants.known import NAMED_KILLS
from stateward.sim.mutants.named import NAMED
from stateward.sim.products import live

#: A handful of those that a machine thought of, one for each way.
GENERATED = {
    "G-etcd.decide.guards.keeps_quorum_while_away:off-by-one.1": "L0",
    "G-etcd.moves.writing._exactly:drop-precondition.2": "K6",
    "G-etcd.moves.membership.set_auth:swap-awaits.1": "L0",
    "G-etcd.decide.repair._fails_by_template:drop-guard.1": "K5",
    "G-etcd.decide.sizes._free_claim:negate.2": "K3",
    "G-etcd.observe.Observer._claims:drop-not.1": "L0",
}


#: Each takes four seconds and more, and is found by a law that another one breaks, too.
LONG = {
    f"M{it}"
    for it in (
        *(2, 5, 10, 12, 14, 16, 41, 42, 43, 45, 48, 49),
        *(51, 54, 55, 57, 58, 59, 72, 80, 81, 82, 91),
    )
}


def hunted(identity: str, law: str, clue: Clue) -> Verdict:
    """Look for a bug in one life, with the bug and without it.

    Only what shows by two lives that differ asks how a life goes that is calm.
    """
    ground = Ground((Spot(live(clue.calm)),) if law == "DIFF" else ())
    return Hunt(crew.find(identity), ground, budget=1, first=(clue,)).run()


def test_every_named_bug_has_a_life_that_convicts_it():
    assert list(NAMED_KILLS) == list(NAMED)


def test_every_law_that_convicts_a_bug_is_broken_without_the_long_ones():
    usual = {law for number, (law, _) in NAMED_KILLS.items() if number not in LONG}
    assert {law for law, _ in NAMED_KILLS.values()} <= usual


@pytest.mark.parametrize(
    "number",
    [pytest.param(it, marks=[pytest.mark.long] if it in LONG else []) for it in NAMED_KILLS],
)
def test_named_bugs_are_found(number):
    law, clue = NAMED_KILLS[number]

    assert hunted(number, law, clue).law == law


@pytest.mark.parametrize("identity", GENERATED)
def test_generated_bugs_are_found(identity):
    law = GENERATED[identity]

    assert hunted(identity, law, KILLS[identity]).law == law
