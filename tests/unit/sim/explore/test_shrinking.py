"""A plan that fails becomes a small one that fails alike; a law written in words says what fails."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from stateward.sim.etcd.life import Ask
from stateward.sim.explore.shrinking import Shrinker
from stateward.sim.faults import Plan

MANY = "10=409,20=crash-after:4,30=500,40=zombie:60,50=slow,60=429,70=503,80=twice"


def shrunk(
    text: str, fails: Callable[[Ask], bool], operators: int = 1, lives: int = 1000
) -> tuple[str, int]:
    left = count(lives, -1)
    search = Shrinker(fails, lambda: next(left) > 0)
    found = search.shrunk(Ask("one", Plan.parse(text), 1, operators))
    return str(found.plan), found.operators


def has(*kinds: str) -> Callable[[Ask], bool]:
    """Fail whenever faults of these kinds are there, wherever."""
    return lambda ask: set(kinds) <= {it.fault.kind.text for it in ask.plan.hits}


@pytest.mark.parametrize(
    ("plan", "fails", "smallest"),
    [
        pytest.param(MANY, has("409"), "1=409", id="one of many, at the first call"),
        pytest.param(MANY, has("slow", "500"), "1=500,1=slow", id="two of many"),
        pytest.param(MANY, has("409", "twice"), "1=409,1=twice", id="the first and the last"),
        pytest.param(MANY, has("crash-after"), "1=crash-after:0", id="at once"),
        pytest.param("9=409", lambda _: True, "1=409", id="a single one stays"),
        pytest.param(
            "9=stale:7:60", has("stale"), "1=stale:7:0", id="the revision stays, the time does not"
        ),
        pytest.param("9=act:cut:1:30", has("act"), "1=act:cut:1:0", id="acts become short"),
        pytest.param(
            "9=act:wipe:1", has("act"), "1=act:wipe:1", id="what has no time keeps its target"
        ),
        pytest.param(
            "100=409", lambda it: it.plan.hits[0].call >= 37, "37=409", id="the earliest call"
        ),
        pytest.param(
            "9=zombie:90",
            lambda it: it.plan.hits[0].fault.seconds > 15,
            "1=zombie:20",
            id="the shortest pause",
        ),
        pytest.param(
            "9=zombie:90", has("zombie"), "1=zombie:1", id="a pause of 0 is of any length"
        ),
    ],
)
def test_shrinking(plan, fails, smallest):
    assert shrunk(plan, fails) == (smallest, 1)


def test_operators_that_do_not_matter_go():
    assert shrunk("9=409", lambda _: True, operators=3) == ("1=409", 1)
    assert shrunk("9=409", lambda ask: ask.operators > 1, operators=3) == ("1=409", 2)


def test_when_time_is_up_the_smallest_so_far_is_kept():
    plan, _ = shrunk(MANY, has("twice"), lives=2)

    assert "twice" in plan
    assert len(plan.split(",")) < len(MANY.split(","))


def test_what_was_found_fails():
    """With a law that faults excuse each other of, in every way."""

    def fails(ask: Ask) -> bool:
        calls = [it.call for it in ask.plan.hits]
        return sum(calls) % 3 == 0 and max(calls) >= 30

    found, _ = shrunk("10=409,20=500,30=503", fails)

    assert fails(Ask("one", Plan.parse(found)))
