"""Delays double, are bounded, and are never in step with others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.chance import Chance
from stateward.runtime.backoff import Backoff

STEADY = Backoff(first=0.5, limit=60, jitter=0)


@pytest.mark.parametrize(
    ("failures", "delay"),
    [(1, 0.5), (2, 1), (3, 2), (4, 4), (7, 32), (8, 60), (9, 60), (10_000, 60)],
)
def test_delays_double_up_to_the_limit(failures, delay):
    assert STEADY.delay(failures, Chance(0)) == delay


@given(
    first=st.floats(0.001, 10),
    limit=st.floats(0.001, 1000),
    jitter=st.floats(0, 0.9),
    failures=st.integers(1, 10**9),
    seed=st.integers(),
)
def test_no_delay_is_further_from_the_steady_one_than_its_jitter(
    first, limit, jitter, failures, seed
):
    steady = Backoff(first, limit, jitter=0).delay(failures, Chance(seed))
    delay = Backoff(first, limit, jitter).delay(failures, Chance(seed))

    assert 0 < steady <= limit
    assert steady * (1 - jitter) * 0.999 <= delay <= steady * (1 + jitter) * 1.001


@given(failures=st.integers(1, 100))
def test_more_failures_never_mean_less_delay(failures):
    assert STEADY.delay(failures, Chance(0)) <= STEADY.delay(failures + 1, Chance(0))


def test_two_instances_are_not_in_step():
    backoff = Backoff()
    one, other = (
        [backoff.delay(n, chance) for n in range(1, 9)] for chance in (Chance(1), Chance(2))
    )

    assert all(a != b for a, b in zip(one, other, strict=True))
