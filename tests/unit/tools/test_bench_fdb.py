"""What is measured is a status that answers everything, of as many processes as it says."""

from __future__ import annotations

from tools.bench.fdb import QUESTIONS, ask_all, busy_database, large_status

from stateward.core.facts import Known
from stateward.fdb.status.reading import read


def test_every_question_is_answered_of_everybody() -> None:
    status = read(large_status(20), 0.0)
    assert [it for it in QUESTIONS if not isinstance(it(status), Known)] == []
    assert ask_all(status) == 20


def test_what_steps_are_measured_of_is_busy_all_the_time() -> None:
    database = busy_database()
    database.advance(database.now + 5_000)
    assert database.shards.is_moving()
