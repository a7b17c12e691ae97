"""Logs that follow each other, however many they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.fdb.backups.containers import Contents, Taken

LOGS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda it: (it[0], sum(it))), max_size=12
)


def plainly(logs: list[tuple[int, int]], begin: int) -> list[tuple[int, int]]:
    """Return what follows a version: each the longest of those that go on from there."""
    found, reach = [], begin
    while following := [it for it in logs if it[0] <= reach < it[1]]:
        found.append(max(following, key=lambda it: it[1]))
        reach = found[-1][1]
    return found


@given(logs=LOGS, begin=st.integers(0, 24))
def test_they_follow_each_other_without_a_gap(logs: list[tuple[int, int]], begin: int) -> None:
    assert Contents([], sorted(logs)).chain(begin) == plainly(sorted(logs), begin)


@pytest.mark.parametrize(
    ("logs", "begin", "chain"),
    [
        ([], 0, []),
        ([(0, 5), (5, 9)], 0, [(0, 5), (5, 9)]),
        ([(0, 5), (6, 9)], 0, [(0, 5)]),
        ([(0, 5), (2, 9), (4, 6)], 3, [(2, 9)]),
        ([(0, 5), (5, 9)], 9, []),
    ],
)
def test_pictures(logs: list, begin: int, chain: list) -> None:
    assert Contents([], logs).chain(begin) == chain


def test_each_of_thousands_is_looked_at_once_for_a_snapshot() -> None:
    """A backup of a day has as many: whoever asks how it is must hear so in time."""
    looks = 0

    class Counted(list):
        def __iter__(self):
            nonlocal looks
            for it in super().__iter__():
                looks += 1
                yield it

    there = Contents([Taken(0, 5, 1)], Counted((it, it + 1) for it in range(8_640)))
    assert there.restorable == (5, 8_639)
    assert looks == 8_640
