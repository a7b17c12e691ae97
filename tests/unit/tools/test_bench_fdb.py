"""What is measured is a status that answers everything, of as many processes as it says."""

from __future__ import annotations

from tools.bench.fdb import QUESTIONS, ask_all, large_status

from stateward.core.facts import Known
from stateward.fdb.status.reading import read


def test_every_question_is_answered_of_everybody() -> None:
    status = read(large_status(20), 0.0)
    assert [it for it in QUESTIONS if not isinstance(it(status), Known)] == []
    assert ask_all(status) == 20
