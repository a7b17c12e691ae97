"""Moments survive being written down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.moments import from_rfc3339, to_rfc3339, to_rfc3339_micro

MOMENTS = st.floats(0, 4e9)


@given(MOMENTS)
def test_metadata_keeps_whole_seconds(moment):
    assert from_rfc3339(to_rfc3339(moment)) == int(moment)


@given(MOMENTS)
def test_leases_keep_microseconds(moment):
    assert from_rfc3339(to_rfc3339_micro(moment)) == pytest.approx(moment, abs=2e-6)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "12:00Z"])
def test_nonsense_says_what_a_moment_looks_like(text):
    with pytest.raises(ValueError, match="a time must"):
        from_rfc3339(text)
