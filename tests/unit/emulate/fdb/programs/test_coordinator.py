"""A coordinator: one holder at a time, nothing of an older term, and a memory on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.fdb.programs.coordinator import TERM, Coordinator
from stateward.emulate.fdb.talk.messages import (
    Any,
    Die,
    Find,
    Forward,
    Found,
    Granted,
    Kept,
    Read,
    Release,
    Stand,
    Write,
)

C = "lab:abc"


class Hand:
    """Time by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def made(folder: Path) -> tuple[Coordinator, Hand]:
    hand = Hand()
    return Coordinator(folder, hand), hand


def granted(answer: Any | None) -> bool:
    assert isinstance(answer, Granted)
    return answer.is_so


def test_one_at_a_time_and_the_next_when_its_time_is_over(tmp_path: Path) -> None:
    it, hand = made(tmp_path)
    assert granted(it.answer(Stand(C, "a", 1)))
    assert not granted(it.answer(Stand(C, "b", 2)))
    hand.now = TERM - 0.1
    assert granted(it.answer(Stand(C, "a", 1))), "who goes on asks again"
    hand.now += TERM
    assert granted(it.answer(Stand(C, "b", 2)))
    assert it.answer(Find(C)) == Found(holder="b")


def test_who_lets_go_is_not_waited_for(tmp_path: Path) -> None:
    it, _ = made(tmp_path)
    it.answer(Stand(C, "a", 1))
    it.answer(Release(C, "b"))
    assert it.answer(Find(C)) == Found(holder="a")
    it.answer(Release(C, "a"))
    assert it.answer(Find(C)) == Found()
    assert granted(it.answer(Stand(C, "b", 2)))


def test_nothing_of_an_older_term_is_kept(tmp_path: Path) -> None:
    it, hand = made(tmp_path)
    it.answer(Stand(C, "a", 1))
    assert granted(it.answer(Write(C, 1, 1, b"old")))
    hand.now = TERM
    it.answer(Stand(C, "b", 2))
    assert not granted(it.answer(Write(C, 1, 2, b"older than b")))
    assert not granted(it.answer(Stand(C, "a", 1)))
    assert granted(it.answer(Write(C, 2, 2, b"new")))
    assert it.answer(Read(C)) == Kept(2, b"new", 2)


def test_a_term_is_promised_to_one_alone(tmp_path: Path) -> None:
    it, hand = made(tmp_path)
    it.answer(Stand(C, "a", 1))
    hand.now = TERM
    assert not granted(it.answer(Stand(C, "b", 1))), "a may still write in that term"
    again, _ = made(tmp_path)
    assert not granted(again.answer(Stand(C, "b", 1)))
    assert granted(again.answer(Stand(C, "a", 1))), "who had it goes on after a restart"


def test_a_later_term_counts_more_than_a_higher_version(tmp_path: Path) -> None:
    it, hand = made(tmp_path)
    it.answer(Stand(C, "a", 1))
    it.answer(Write(C, 1, 70, b"alone"))
    hand.now = TERM
    it.answer(Stand(C, "b", 2))
    assert granted(it.answer(Write(C, 2, 8, b"by most")))
    assert it.answer(Read(C)) == Kept(8, b"by most", 2)
    assert not granted(it.answer(Write(C, 2, 7, b"late"))), "nothing is skipped and called kept"


def test_what_cannot_be_written_is_not_promised(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    it, _ = made(folder)
    it.answer(Stand(C, "a", 1))
    it.answer(Write(C, 1, 1, b"kept"))
    folder.rename(tmp_path / "away")
    assert not granted(it.answer(Write(C, 1, 2, b"lost")))
    assert not granted(it.answer(Stand(C, "b", 2)))
    assert it.answer(Read(C)) == Kept(1, b"kept", 1)


def test_a_restart_remembers_everything_but_who_was_let(tmp_path: Path) -> None:
    it, _ = made(tmp_path)
    it.answer(Stand(C, "a", 3))
    it.answer(Write(C, 3, 7, b"kept"))
    again, _ = made(tmp_path)
    assert again.answer(Read(C)) == Kept(7, b"kept", 3)
    assert again.answer(Find(C)) == Found()
    assert not granted(again.answer(Stand(C, "b", 2))), "terms do not go back"


def test_who_has_moved_forwards_everybody_for_ever(tmp_path: Path) -> None:
    it, _ = made(tmp_path)
    it.answer(Stand(C, "a", 1))
    it.answer(Write(C, 1, 1, b"kept"))
    assert granted(it.answer(Forward(C, 1, "lab:def@1.2.3.4:5")))
    for again in (it, made(tmp_path)[0]):
        assert again.answer(Find(C)) == Found(forward="lab:def@1.2.3.4:5")
        assert not granted(again.answer(Stand(C, "b", 9)))
        assert not granted(again.answer(Write(C, 9, 9, b"late")))


def test_clusters_do_not_know_of_each_other(tmp_path: Path) -> None:
    it, _ = made(tmp_path)
    it.answer(Stand(C, "a", 1))
    assert it.answer(Find("other:abc")) == Found()
    assert it.answer(Read("other:abc")) == Kept()
    assert it.answer(Die()) is None, "that is no question to a coordinator"


@pytest.mark.parametrize("raw", [b"", b"\x00", b"garbage", b"\x81\xa1a\x01"])
def test_a_memory_that_cannot_be_read_is_an_error_and_not_an_empty_one(
    tmp_path: Path, raw: bytes
) -> None:
    (tmp_path / "coordination-0.fdq").write_bytes(raw)
    with pytest.raises(ValueError, match="must be what a coordinator wrote"):
        made(tmp_path)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 5), st.floats(0, 2 * TERM), st.booleans()),
        max_size=30,
    )
)
def test_no_two_are_let_at_once_and_terms_never_fall(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[str, int, float, bool]]
) -> None:
    it, hand = made(tmp_path_factory.mktemp("coordinator"))
    holder, until, highest = "", 0.0, 0
    for who, term, later, lets_go in asked:
        hand.now += later
        answer = it.answer(Stand(C, who, term))
        assert isinstance(answer, Granted)
        assert answer.term >= highest
        highest = answer.term
        if answer.is_so:
            assert who == holder or hand.now >= until
            holder, until = who, hand.now + TERM
        if lets_go and who == holder:
            it.answer(Release(C, who))
            holder, until = "", 0.0
