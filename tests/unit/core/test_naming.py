"""Names that Kubernetes takes, and hashes that never change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stateward.core import naming

words = st.text("abc-", min_size=1, max_size=60).map(lambda text: f"a{text}z")
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
finite = scalars.filter(lambda value: value not in (float("inf"), float("-inf")))
values = st.recursive(
    finite,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    # Which checks take the name: l DNS label, s DNS subdomain, v label value, k label key.
    ("name", "taken_by"),
    [
        ("a", "lsvk"),
        ("0", "lsvk"),
        ("shop-0", "lsvk"),
        ("a--b", "lsvk"),
        ("a" * 63, "lsvk"),
        ("a" * 64, "s"),
        ("a.b", "svk"),
        ("a" * 253, "s"),
        ("a" * 254, ""),
        ("a..b", "vk"),
        ("a.-b", "vk"),
        ("", "v"),
        ("Shop", "vk"),
        ("a_b", "vk"),
        ("-a", ""),
        ("a-", ""),
        ("a\n", ""),
        ("a b", ""),
        ("ä", ""),
        ("app.kubernetes.io/name", "k"),
        ("a/B_c", "k"),
        ("/name", ""),
        ("a/", ""),
        ("a/b/c", ""),
        ("A/b", ""),
        ("a/" + "b" * 64, ""),
    ],
)
def test_who_takes_the_name(name: str, taken_by: str) -> None:
    checks = {
        "l": naming.dns_label_problem,
        "s": naming.dns_subdomain_problem,
        "v": naming.label_value_problem,
        "k": naming.label_key_problem,
    }
    problems = {letter: check(name) for letter, check in checks.items()}
    assert "".join(letter for letter in checks if problems[letter] is None) == taken_by
    assert all(problem.startswith("must ") for problem in problems.values() if problem)


@pytest.mark.parametrize(
    ("parts", "limit", "name"),
    [
        (("shop",), 63, "shop"),
        (("shop", "storage", "0"), 63, "shop-storage-0"),
        (("abcdefghij", "k"), 12, "abcdefghij-k"),
        (("abcdefghij", "kl"), 12, "a-1dd3a7983b"),
        (("abcdefghij", "klmnop"), 16, "abcde-feebc11e3d"),
        (("abcd", "efghijklmnop"), 16, "abcd-c2e6b26613"),  # no "--" where the cut meets a "-"
    ],
)
def test_truncated_name(parts: tuple[str, ...], limit: int, name: str) -> None:
    assert naming.truncated_name(*parts, limit=limit) == name


@pytest.mark.parametrize(
    ("parts", "limit", "complaint"),
    [
        ((), 63, "must be made of parts"),
        (("a", "", "b"), 63, "must be made of parts"),
        (("a",), 11, "must be allowed 12 characters"),
    ],
)
def test_truncated_name_refuses(parts: tuple[str, ...], limit: int, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        naming.truncated_name(*parts, limit=limit)


@given(st.lists(words, min_size=1, max_size=4), st.integers(12, 80))
def test_a_truncated_name_fits_and_is_a_name(parts: list[str], limit: int) -> None:
    name = naming.truncated_name(*parts, limit=limit)
    assert len(name) <= limit
    assert naming.dns_subdomain_problem(name) is None


@given(words, words, st.integers(12, 30))
def test_different_names_stay_different(a: str, b: str, limit: int) -> None:
    assume(a != b)
    stem = "a-long-stem-that-is-beyond-every-limit"
    assert naming.truncated_name(stem, a, limit=limit) != naming.truncated_name(
        stem, b, limit=limit
    )


@pytest.mark.parametrize(
    ("value", "short"),
    # Written down: these stand in annotations of running clusters and must outlive every release.
    [
        (None, "74234e98af"),
        ({}, "44136fa355"),
        ("a", "ac8d8342bb"),
        ({"b": [1.5], "a": "ä"}, "3e4c9da23d"),
    ],
)
def test_hashes_never_change(value: Any, short: str) -> None:
    assert naming.short_hash(value) == short


def test_what_counts_as_equal() -> None:
    groups: list[list[Any]] = [
        [1, 1.0],
        ["1"],
        [True],
        [0, 0.0, -0.0],
        [False],
        [None],
        [""],
        [[], ()],
        [{}],
        [[1, [2]], (1.0, (2,))],
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": None}],
        [10**22, 1e22],
        [0.1],
    ]
    hashes = [{naming.stable_hash(value) for value in group} for group in groups]
    assert [len(group) for group in hashes] == [1] * len(groups)
    assert len(set.union(*hashes)) == len(groups)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({1: "a"}, "keys of a hashed object must be text"),
        ({"a": {"b"}}, "must be JSON-like to be hashed, got set"),
        (b"a", "must be JSON-like to be hashed, got bytes"),
    ],
)
def test_refuses_to_hash_other_types(value: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        naming.stable_hash(value)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_refuses_to_hash_what_json_cannot_say(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        naming.stable_hash(value)


@given(st.dictionaries(st.text(), values, max_size=6), st.randoms(use_true_random=False))
def test_order_of_members_does_not_count(value: dict[str, Any], chance: Any) -> None:
    shuffled = list(value.items())
    chance.shuffle(shuffled)
    assert naming.stable_hash(dict(shuffled)) == naming.stable_hash(value)


@given(values, st.text(), st.integers())
def test_a_change_changes_the_hash(value: Any, name: str, number: int) -> None:
    variants = [value, [value], {name: value}, {name: [value, number]}, {name: [value, number + 1]}]
    assert len({naming.stable_hash(variant) for variant in variants}) == len(variants)


@given(values)
def test_hashes_are_names_and_label_values(value: Any) -> None:
    short = naming.short_hash(value)
    assert naming.stable_hash(value).startswith(short)
    assert (len(short), naming.label_value_problem(short), naming.dns_label_problem(short)) == (
        10,
        None,
        None,
    )
