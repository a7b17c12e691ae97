"""Chance repeats itself for the same seed and name, and only then."""

from __future__ import annotations

import re
import uuid

from hypothesis import given
from hypothesis import strategies as st

from stateward.core.chance import Chance


def draws(chance: Chance) -> list[float]:
    return [chance.fraction() for _ in range(5)]


@given(seed=st.integers(), name=st.text())
def test_the_same_seed_and_name_repeat(seed, name):
    assert draws(Chance(seed, name)) == draws(Chance(seed, name))


def test_streams_do_not_shift_each_other():
    lone, busy = Chance(1), Chance(1)
    busy.stream("other").fraction()
    busy.fraction()

    assert draws(lone.stream("mine")) == draws(busy.stream("mine"))
    assert draws(lone.stream("mine")) != draws(lone.stream("yours"))


def test_production_cannot_be_repeated():
    assert draws(Chance.from_system()) != draws(Chance.from_system())


@given(seed=st.integers())
def test_uuids_are_random_ones(seed):
    made = Chance(seed).uuid()

    assert uuid.UUID(made).version == 4
    assert uuid.UUID(made).variant == uuid.RFC_4122
    assert str(uuid.UUID(made)) == made


@given(seed=st.integers(), value=st.floats(0, 1e6), share=st.floats(0, 1))
def test_jitter_stays_within_its_share(seed, value, share):
    slack = 1e-9 * value
    assert value * (1 - share) - slack <= Chance(seed).jittered(value, share)
    assert Chance(seed).jittered(value, share) <= value * (1 + share) + slack


@given(seed=st.integers(), length=st.integers(1, 20))
def test_suffixes_are_fit_for_names(seed, length):
    assert re.fullmatch(rf"[a-z0-9]{{{length}}}", Chance(seed).suffix(length))
