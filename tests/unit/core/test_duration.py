"""Durations: Go's notation in, seconds out, and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core import duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("0s", 0),
        ("1h30m", 5400),
        ("2m0s", 120),
        ("1h1m1s", 3661),
        ("30m1h", 5400),
        ("1s1s", 2),
        ("500ms", 0.5),
        ("1.5s", 1.5),
        (".5s", 0.5),
        ("1.s", 1),
        ("0.1s", 0.1),
        ("1.5h", 5400),
        ("-3s", -3),
        ("+3s", 3),
        ("10us", 1e-05),
        ("10µs", 1e-05),
        ("10μs", 1e-05),
        ("7ns", 7e-09),
    ],
)
def test_reads(text: str, seconds: float) -> None:
    found = duration.parse_seconds(text)
    assert found == seconds
    assert math.copysign(1, found) == math.copysign(1, seconds)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "must look like"),
        (" 1s", "must look like"),
        ("1s\n", "must look like"),
        ("1h 30m", "must look like"),
        ("1d", "must look like"),
        ("1S", "must look like"),
        ("s", "must look like"),
        (".s", "must look like"),
        ("1h30", "must look like"),
        ("1.2.3s", "must look like"),
        ("1h-30m", "must look like"),
        ("٣s", "must look like"),
        ("1e3s", "must look like"),
        ("9" * 50 + "s", "must look like"),
        ("30", "must name its unit, as in '30s'"),
        ("-1.5", "must name its unit, as in '-1.5s'"),
        ("2562048h", "must be shorter than 292 years"),
    ],
)
def test_refuses(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        duration.parse_seconds(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (-0.0, "0s"),
        (45, "45s"),
        (60, "1m"),
        (90, "1m30s"),
        (3600, "1h"),
        (3605, "1h5s"),
        (5400, "1h30m"),
        (90061, "25h1m1s"),
        (0.5, "500ms"),
        (0.0015, "1.5ms"),
        (0.00025, "250us"),
        (1e-8, "10ns"),
        (1e-12, "0s"),
        (1.5, "1.5s"),
        (61.25, "1m1.25s"),
        (0.1 + 0.2, "300ms"),
        (59.9999999999, "1m"),
        (-90, "-1m30s"),
        (-1e-12, "0s"),
    ],
)
def test_writes(seconds: float, text: str) -> None:
    assert duration.to_text(seconds) == text


@pytest.mark.parametrize("seconds", [math.inf, -math.inf, math.nan])
def test_writes_only_what_is_finite(seconds: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        duration.to_text(seconds)


@given(st.integers(-(2**52), 2**52))
def test_a_whole_number_of_nanoseconds_is_read_back(nanoseconds: int) -> None:
    seconds = nanoseconds / 1e9
    assert duration.parse_seconds(duration.to_text(seconds)) == seconds


@given(st.floats(-1e9, 1e9))
def test_nothing_moves_by_more_than_half_a_nanosecond(seconds: float) -> None:
    again = duration.parse_seconds(duration.to_text(seconds))
    assert again == pytest.approx(seconds, rel=1e-15, abs=0.5e-9)
