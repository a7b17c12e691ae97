"""Conditions: who keeps a time, who gets a new one, who keeps a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.moments import to_rfc3339
from stateward.kube import conditions
from stateward.kube.meta import Condition

STATUS = {"T": "True", "F": "False", "U": "Unknown"}
LETTER = {word: letter for letter, word in STATUS.items()}

TYPES = ["Ready", "Healthy", "Paused", "Theirs"]
said = st.lists(
    st.builds(
        Condition,
        type=st.sampled_from(TYPES),
        status=st.sampled_from(sorted(LETTER)),
        reason=st.sampled_from(["", "Because", "Whim"]),
        observed_generation=st.integers(0, 3),
    ),
    unique_by=lambda condition: condition.type,
)
moments = st.integers(0, 2_000_000_000)


def row(text: str) -> tuple[Condition, ...]:
    """Read ``Ready=T@5``: a type, the letter of its status, and the second since when, if known."""
    found = []
    for word in text.split():
        name, _, rest = word.partition("=")
        letter, _, since = rest.partition("@")
        time = to_rfc3339(int(since)) if since else ""
        found.append(Condition(type=name, status=STATUS[letter], last_transition_time=time))
    return tuple(found)


@pytest.mark.parametrize(
    ("old", "new", "merged"),  # at second 9
    [
        ("", "", ""),
        ("", "Ready=T", "Ready=T@9"),
        ("", "B=T A=F", "B=T@9 A=F@9"),
        ("Ready=T@5", "Ready=T", "Ready=T@5"),
        ("Ready=T@5", "Ready=F", "Ready=F@9"),
        ("Ready=T@5", "Ready=U", "Ready=U@9"),
        ("Ready=T", "Ready=T", "Ready=T@9"),
        ("Ready=T@5", "Ready=T@1", "Ready=T@5"),
        ("Ready=T@5", "Ready=F@1", "Ready=F@9"),
        ("Theirs=T@1", "Ready=T", "Theirs=T@1 Ready=T@9"),
        ("Theirs=T", "Ready=T", "Theirs=T Ready=T@9"),
        ("A=T@1 B=T@2 C=T@3", "C=F D=T B=T", "A=T@1 B=T@2 C=F@9 D=T@9"),
        ("Ready=T@5", "Ready=F Ready=T", "Ready=T@5"),
    ],
)
def test_merge(old: str, new: str, merged: str) -> None:
    assert conditions.merge(row(old), row(new), now=9.7) == row(merged)


def test_words_change_without_a_transition() -> None:
    old = Condition(type="Ready", status="False", reason="A", last_transition_time=to_rfc3339(5))
    new = Condition(type="Ready", status="False", reason="B", message="b", observed_generation=2)
    (merged,) = conditions.merge([old], [new], now=9)
    assert merged == Condition(
        type="Ready",
        status="False",
        reason="B",
        message="b",
        observed_generation=2,
        last_transition_time=to_rfc3339(5),
    )


@pytest.mark.parametrize(
    ("have", "true"),
    [("Ready=T", True), ("Ready=F", False), ("Ready=U", False), ("Other=T", False)],
)
def test_is_true(have: str, true: bool) -> None:
    assert conditions.is_true(row(have), "Ready") is true


def test_find() -> None:
    have = row("A=T B=F")
    assert conditions.find(have, "B") is have[1]
    assert conditions.find(have, "C") is None


@given(said, said, moments, moments, moments)
def test_saying_it_again_changes_nothing(
    old: list[Condition], new: list[Condition], first: int, second: int, third: int
) -> None:
    merged = conditions.merge(conditions.merge([], old, first), new, second)
    assert conditions.merge(merged, new, third) == merged


@given(said, said, moments, st.integers(1, 1000))
def test_the_time_moves_exactly_when_the_status_does(
    old: list[Condition], new: list[Condition], start: int, later: int
) -> None:
    before = conditions.merge([], old, start)
    after = conditions.merge(before, new, start + later)
    for condition in before:
        now = conditions.find(after, condition.type)
        assert now is not None
        moved = now.last_transition_time != condition.last_transition_time
        assert moved is (now.status != condition.status)


@given(said, said, moments)
def test_places_are_kept_and_others_are_untouched(
    old: list[Condition], new: list[Condition], now: int
) -> None:
    merged = conditions.merge(old, new, now)
    ours = [condition.type for condition in new]
    added = [name for name in ours if conditions.find(old, name) is None]
    assert [condition.type for condition in merged] == [c.type for c in old] + added
    assert [c for c in merged if c.type not in ours] == [c for c in old if c.type not in ours]
