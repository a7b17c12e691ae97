"""From a number to the kills of a story."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stateward.app.demo.kills import Kill, plan

SPANS = {"bootstrap": 3.0, "sleep": 0.0, "roll": 8.0}
seeds = st.integers(0, 2**31 - 1)
spans = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.floats(1.0, 20.0), min_size=1)


def test_these_are_the_kills_of_seed_7() -> None:
    """Written down: a seed that was reported must mean the same in the next release."""
    assert plan(7, SPANS) == {
        "bootstrap": (Kill(after=1.42, pick=13),),
        "sleep": (),
        "roll": (Kill(after=7.82, pick=17),),
    }


@given(seeds, spans)
def test_the_same_number_always_means_the_same_kills(seed: int, spans: dict[str, float]) -> None:
    assert plan(seed, spans) == plan(seed, spans)


@given(seeds, spans)
def test_a_chapter_draws_alone(seed: int, spans: dict[str, float]) -> None:
    apart = {name: plan(seed, {name: span})[name] for name, span in spans.items()}

    assert plan(seed, spans) == apart


@given(seeds, spans)
def test_kills_are_in_their_chapter_and_apart(seed: int, spans: dict[str, float]) -> None:
    for name, kills in plan(seed, spans).items():
        moments = [it.after for it in kills]
        assert len(moments) <= 2
        assert all(0.2 <= it <= spans[name] + 1.0 for it in moments)
        assert all(b - a >= 0.98 for a, b in pairwise(moments))


def test_without_a_number_nobody_is_killed() -> None:
    assert plan(None, SPANS) == {"bootstrap": (), "sleep": (), "roll": ()}


def test_numbers_differ_and_most_of_them_kill() -> None:
    plans = [tuple(plan(seed, SPANS).items()) for seed in range(1, 41)]

    assert len(set(plans)) > 30
    assert sum(any(kills for _, kills in it) for it in plans) > 30
