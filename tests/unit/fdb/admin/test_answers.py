"""What fdbcli's recorded answers mean to us: every command of every recording that we would type."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stateward.core.errors import OutcomeUnknown, PeerConfused, StatewardError
from stateward.fdb.admin import answers
from stateward.fdb.admin.answers import Answer, Stage
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal

FOLDER = Path(__file__).parents[3] / "recordings" / "fdb" / "transcripts"


def steps() -> Iterator[tuple[str, str, Answer]]:
    """Yield every call of fdbcli: where it stands, what was typed, what came."""
    for file in sorted(FOLDER.glob("*.json")):
        for number, step in enumerate(json.loads(file.read_text())):
            words = step["cmd"]
            if isinstance(words, list) and "--exec" in words and words[0].endswith("fdbcli"):
                answer = Answer(step["rc"], step["stdout"] or "", step["stderr"] or "")
                yield f"{file.stem}:{number}", words[words.index("--exec") + 1], answer


STEPS = list(steps())


def test_there_are_recordings() -> None:
    assert len(STEPS) > 300


def verdict(read: Callable[[Answer], Any], answer: Answer) -> str:
    """Return in one word what an answer means."""
    try:
        found = read(answer)
    except DatabaseRefused as error:
        return error.refusal.name
    except StatewardError as error:
        return type(error).__name__
    if isinstance(found, dict):
        return " ".join(sorted({it.name for it in found.values()}))
    return str(found)


def typed(*begins: str) -> list[tuple[str, str, Answer]]:
    return [it for it in STEPS if it[1].startswith(begins)]


def configured(answer: Answer) -> str:
    return answers.check_said(answer, answers.CREATED, answers.CONFIGURED)


def moved(answer: Answer) -> str:
    return answers.check_said(answer, answers.MOVED, answers.UNMOVED)


#: What was typed; who reads the answer; which verdicts there are in the recordings, and how many.
TABLE: dict[str, tuple[Callable[[Answer], Any], dict[str, int]]] = {
    "configure": (
        configured,
        {
            "Configuration changed": 21,
            "Database created": 4,
            "EXISTS": 1,
            "INVALID": 5,
            "MISUNDERSTOOD": 14,
            "OTHER": 1,
            "DatabaseSilent": 3,
            "OutcomeUnknown": 14,
        },
    ),
    "coordinators ": (
        moved,
        {
            "Coordination state changed": 11,
            "No change": 3,
            "UNREACHABLE": 3,
            "OTHER": 4,
            "OutcomeUnknown": 1,
        },
    ),
    "exclude ": (
        answers.excluding,
        {
            "OVER": 16,
            "MOVING": 7,
            "MISSING": 5,
            "MISSING OVER": 1,
            "NOBODY": 1,
            "NO_ROOM": 2,
            "UNSAFE": 6,
            "NOT_YET": 1,
            "OTHER": 3,
            "OutcomeUnknown": 5,
        },
    ),
    "include": (
        answers.check_silent,
        {"None": 21, "MISUNDERSTOOD": 1, "OTHER": 1, "OutcomeUnknown": 1},
    ),
    "kill; kill": (answers.killed, {"1": 4, "10": 1, "NOT_RECOGNIZED": 1}),
    "maintenance ": (answers.check_silent, {"None": 5, "MISUNDERSTOOD": 2, "OTHER": 1}),
}


@pytest.mark.parametrize("begins", TABLE)
def test_what_recorded_answers_mean(begins: str) -> None:
    read, wanted = TABLE[begins]
    found = Counter(verdict(read, answer) for _, _, answer in typed(begins))
    assert found == wanted


def test_questions_are_answered() -> None:
    for where, words, answer in STEPS:
        match words:
            case "coordinators":
                assert len(answers.listed_coordinators(answer)) == 3, where
            case "maintenance":
                answers.maintenance(answer)
            case "exclude":
                answers.listed_exclusions(answer)


def one(where: str) -> Answer:
    (found,) = (answer for place, _, answer in STEPS if place == where)
    return found


def test_who_is_excluded_and_who_failed() -> None:
    found = answers.listed_exclusions(one("05_exclude_unsafe:10"))
    assert found.excluded == frozenset()
    assert sorted(map(str, found.failed)) == [
        "127.0.1.4:4501",
        "127.0.1.5:4501",
        "locality_instance_id:storage-4",
        "locality_instance_id:storage-5",
    ]


def test_a_whole_machine_is_one_entry() -> None:
    found = answers.excluding(one("04_exclude_include:21"))
    assert {str(who): stage for who, stage in found.items()} == {"127.0.77.2": Stage.MISSING}


def test_where_maintenance_is() -> None:
    assert str(answers.maintenance(one("11_maintenance:2"))).startswith("Maintenance(zone='z5'")
    assert answers.maintenance(one("11_maintenance:0")) is None


@pytest.mark.parametrize(
    ("answer", "changes", "kind", "refusal"),
    [
        (Answer(1, "", "Specified timeout reached -- exiting...\n"), True, OutcomeUnknown, None),
        (Answer(1, "", "Specified timeout reached -- exiting...\n"), False, DatabaseSilent, None),
        (Answer(137, "", ""), True, PeerConfused, None),
        (
            Answer(1, "", "ERROR: Not enough processes exist to support the configuration\n"),
            True,
            DatabaseRefused,
            Refusal.TOO_FEW,
        ),
        (
            Answer(1, "", "ERROR: Some new no (1234)\n"),
            True,
            DatabaseRefused,
            Refusal.OTHER,
        ),
        (Answer(0, "", "\nWARNING: Long delay (Ctrl-C to interrupt)\n"), True, None, None),
    ],
)
def test_what_stands_against_it(
    answer: Answer, changes: bool, kind: type | None, refusal: Refusal | None
) -> None:
    found = answers.objection(answer, changes=changes)
    assert (type(found) if found else None) == kind
    assert getattr(found, "refusal", None) == refusal


def test_what_may_be_granted_later() -> None:
    later = {it for it in Refusal if DatabaseRefused(it, "").may_be_granted_later}
    assert later == {
        Refusal.TOO_FEW,
        Refusal.NOT_REPLICATED,
        Refusal.NOT_YET,
        Refusal.UNREACHABLE,
    }


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (answers.excluding, OutcomeUnknown),
        (answers.killed, OutcomeUnknown),
        (configured, OutcomeUnknown),
        (answers.listed_coordinators, PeerConfused),
        (answers.listed_exclusions, PeerConfused),
        (answers.maintenance, PeerConfused),
    ],
)
def test_silence_is_no_success(read: Callable[[Answer], Any], kind: type[StatewardError]) -> None:
    with pytest.raises(kind):
        read(Answer(0))
