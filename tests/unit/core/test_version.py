"""Versions: what is read, and which comes first."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.version import Version, minor_skew, same_minor

numbers = st.integers(0, 30)
pre_releases = st.from_regex(
    r"(0|[1-9][0-9]?|[a-c-]{1,2}[0-9]?)(\.(0|[1-9][0-9]?|[a-c-]{1,2}))?", fullmatch=True
)
versions = st.builds(Version, numbers, numbers, numbers, st.just("") | pre_releases)

OLDEST_FIRST = """
    0.0.1
    3.5.9
    3.5.21
    3.6.0-0
    3.6.0-1
    3.6.0-2
    3.6.0-11
    3.6.0-alpha
    3.6.0-alpha.1
    3.6.0-alpha.1.1
    3.6.0-alpha.beta
    3.6.0-beta
    3.6.0-rc.2
    3.6.0-rc.10
    3.6.0
    3.6.1-rc.0
    3.10.0
    7.1.0
    7.3.79
"""


def v(text: str) -> Version:
    return Version.parse(text)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("7.3.79", Version(7, 3, 79)),
        ("v3.5.21", Version(3, 5, 21)),
        ("3.6.0-rc.1", Version(3, 6, 0, "rc.1")),
        ("v1.33.1+k3s1", Version(1, 33, 1)),
        ("1.0.0-0a.b-c+x.y", Version(1, 0, 0, "0a.b-c")),
    ],
)
def test_reads(text: str, version: Version) -> None:
    assert v(text) == version


@pytest.mark.parametrize(
    "text",
    [
        *("", "7", "7.3", "7.3.79.1", "07.3.1", "-7.3.1", "7.3.x", "7.3.٣", "latest"),
        *("7.3.1-", "7.3.1-rc..1", "7.3.1-rc.01", "7.3.1+"),
        *(" 7.3.1", "7.3.1\n", "V7.3.1", "vv7.3.1"),
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="a version must look like"):
        v(text)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [((-1, 0, 0, ""), "must not be negative"), ((1, 0, 0, "rc.01"), "must look like 'rc.1'")],
)
def test_cannot_be_made_wrong(parts: tuple[int, int, int, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Version(*parts)


def test_order() -> None:
    in_order = [v(text) for text in OLDEST_FIRST.split()]
    shuffled = random.Random(7).sample(in_order, len(in_order))
    assert sorted(shuffled) == in_order
    assert all(a < b and a <= b and b > a and a != b for a, b in pairwise(in_order))


def test_only_versions_have_an_order() -> None:
    with pytest.raises(TypeError):
        assert v("1.0.0") < "2.0.0"


@pytest.mark.parametrize(
    ("a", "b", "same", "skew"),
    [
        ("3.5.0", "3.5.21", True, 0),
        ("3.5.21", "3.6.0-rc.1", False, 1),
        ("3.6.0", "3.4.9", False, -2),
        ("6.3.0", "7.3.0", False, None),
    ],
)
def test_skew(a: str, b: str, same: bool, skew: int | None) -> None:
    assert (same_minor(v(a), v(b)), minor_skew(v(a), v(b))) == (same, skew)


@given(versions)
def test_text_is_read_back(version: Version) -> None:
    assert v(str(version)) == v(f"v{version}") == version


@given(versions, versions, versions)
def test_order_is_total(a: Version, b: Version, c: Version) -> None:
    assert [a < b, a == b, a > b].count(True) == 1
    assert (a == b) is (str(a) == str(b))
    first, second, third = sorted([a, b, c])
    assert first <= second <= third
    assert first <= third


@given(versions, versions)
def test_skew_has_a_direction(a: Version, b: Version) -> None:
    there, back = minor_skew(a, b), minor_skew(b, a)
    assert (there is None) is (back is None) is (a.major != b.major)
    assert there is None or there == -(back or 0)
    assert same_minor(a, b) is (there == 0)
