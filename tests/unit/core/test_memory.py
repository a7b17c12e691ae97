"""What is remembered is what would be worked out now, and there is never too much of it."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.memory import Last, Memory

asked = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=30)


@given(asked)
def test_the_answer_is_always_that_to_what_is_asked_now(questions: list[tuple[str, int]]) -> None:
    memory: Memory[int, str] = Memory(limit=2)
    for about, question in questions:
        answer = f"{about}{question}"
        assert memory.recall(about, question, partial(str, answer)) == answer
        assert len(memory) <= 2


def test_only_another_question_is_work() -> None:
    memory: Memory[list[int], list[int]] = Memory(limit=2)
    worked: list[str] = []

    def ask(about: str, question: list[int]) -> list[int]:
        def work_out() -> list[int]:
            worked.append(about)
            return [sum(question)]

        return memory.recall(about, question, work_out)

    first = ask("a", [1, 2])
    assert ask("a", [1, 2]) is first
    assert ask("b", [1, 2]) == [3]
    assert worked == ["a", "b"]
    assert ask("a", [1, 3]) == [4]
    assert ask("a", [1, 2]) == [3]
    assert worked == ["a", "b", "a", "a"]


def test_what_was_not_asked_for_longest_is_forgotten() -> None:
    memory: Memory[int, str] = Memory(limit=2)
    worked: list[str] = []
    for about in ("a", "b", "a", "c", "a", "b"):
        memory.recall(about, 0, partial(_noted, worked, about))
    assert worked == ["a", "b", "c", "b"]


def _noted(worked: list[str], about: str) -> str:
    worked.append(about)
    return about


def test_work_that_fails_is_not_remembered() -> None:
    last: Last[int, int] = Last()
    assert last.recall(1, lambda: 10) == 10
    with pytest.raises(ZeroDivisionError):
        last.recall(0, lambda: 10 // 0)
    assert last.recall(1, lambda: 11) == 10, "it is still the answer to that question"
    assert last.recall(2, lambda: 5) == 5
