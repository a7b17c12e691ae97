"""What a change costs in calm is promised, and a life that costs something else is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stateward.sim.fdb.life import live_with
from stateward.sim.fdb.oracles.costs import Cost
from stateward.sim.fdb.scenarios import SCENARIOS
from stateward.sim.lives import Ask

PROMISED = {
    "fdb-knob": Cost(1, 1),
    "fdb-upgrade-brisk": Cost(1, 1),
    "fdb-tls-on": Cost(2, 3),
    "fdb-tls-off": Cost(2, 3),
}


@pytest.mark.parametrize("scenario", PROMISED)
def test_what_the_documentation_promises_is_asked_of_every_calm_life(scenario: str) -> None:
    assert PROMISED[scenario] in [step.costs for step in SCENARIOS[scenario]]


@pytest.mark.parametrize("promised", [Cost(0, 1), Cost(1, 2), Cost(2, 0)])
def test_a_knob_that_costs_something_else_breaks_a_law(promised: Cost) -> None:
    first, *_, last = SCENARIOS["fdb-knob"]
    life = live_with((first, replace(last, costs=promised)), Ask("fdb-knob"))

    told = [(it.law, it.sentence) for it in life.violations]
    assert [law for law, _ in told] == ["F-S26"]
    assert f"restarts: 1, recoveries: 1, and promised are {promised}" in told[0][1]
