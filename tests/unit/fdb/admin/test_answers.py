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
from stateward.fdb.status.maintenance import Maintenance

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
    assert answers.maintenance(one("11_maintenance:2")) == Maintenance("z5", 599.0)
    assert answers.maintenance(one("11_maintenance:0")) is None


@pytest.mark.parametrize(
    ("answer", "changes", "kind", "refusal"),
    [
        (Answer(1, "", "Specified timeout reached -- exiting...\n"), True, OutcomeUnknown, None),
        (Answer(1, "", "Specified timeout reached -- exiting...\n"), False, DatabaseSilent, None),
        (Answer(137, "", ""), False, PeerConfused, None),
        (
            Answer(1, "", "ERROR: Not enough processes exist to support the configuration\n"),
            True,
            DatabaseRefused,
            Refusal.TOO_FEW,
        ),
        (
            Answer(1, "", "ERROR: Some new no (1234)\n"),
            False,
            DatabaseRefused,
            Refusal.OTHER,
        ),
        (Answer(1, "", "ERROR: Some new no\n"), False, DatabaseRefused, Refusal.OTHER),
        (Answer(1, "", "ERROR: Transaction timed out (1031)\n"), False, DatabaseSilent, None),
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


#: Who reads what changing commands say: all seven, in the words of the adapter.
CHANGES: dict[str, Callable[[Answer], Any]] = {
    "create": lambda it: answers.check_said(it, answers.CREATED),
    "configure": lambda it: answers.check_said(it, answers.CONFIGURED),
    "coordinators": moved,
    "exclude": answers.excluding,
    "include, maintenance": answers.check_silent,
    "kill": answers.killed,
}
#: All words of success, and after them something that goes wrong.
DONE = (
    "Database created\nConfiguration changed\nCoordination state changed\n"
    "  10.0.0.1:4501  ---- Successfully excluded.\nAttempted to kill 1 processes\n"
)
EXISTS = "ERROR: Database already exists! To change configuration, don't say `new'\n"


@pytest.mark.parametrize("read", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(1, "", "ERROR: Transaction may or may not have committed (1021)\n"),
        Answer(1, "", "ERROR: Operation aborted because the transaction timed out (1031)\n"),
        Answer(1, "", "ERROR: Operation timed out (1004)\n"),
        Answer(1, "", "ERROR: Operation cancelled (1101)\n"),
        Answer(1, "", "ERROR: Some new no (1234)\n"),
        Answer(1, "", "ERROR: Some new no\n"),
        Answer(1, "ERROR: Some new no\n", ""),
        Answer(0, DONE, "ERROR: Some new no\n"),
        Answer(1, "", "Fatal Error: Out of memory\n"),
        Answer(20, "", "Fatal Error: Out of memory\n"),
        Answer(1, "", f"{EXISTS}Fatal Error: Out of memory\n"),
        Answer(1, "", f"{EXISTS}ERROR: Transaction may or may not have committed (1021)\n"),
        Answer(1, "", "locale not recognized\n"),
        Answer(1, "", "what?\n"),
        Answer(1),
        Answer(-9),
        Answer(-11, "partial"),
        Answer(137),
        Answer(-9, DONE),
        Answer(1, DONE),
        Answer(-9, "", EXISTS),
        Answer(-11, "Usage: configure [new|tss]\n"),
        Answer(1, DONE, EXISTS),
        Answer(1, DONE, "ERROR: Database is locked (1038)\n"),
        Answer(1, "Attempted to kill 1 processes\n", "ERROR: process `x' not recognized.\n"),
        Answer(1, "", "  10.0.0.1:1  ---- Successfully excluded.\nERROR: Key too large (2102)\n"),
    ],
    ids=repr,
)
def test_what_nobody_knows_of_a_change(read: Callable[[Answer], Any], answer: Answer) -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        read(answer)
    assert 0 < len(caught.value.message) < 1000


@pytest.mark.parametrize("read", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (Answer(1, "", EXISTS), Refusal.EXISTS),
        (Answer(1, "Usage: configure [new|tss]\n"), Refusal.MISUNDERSTOOD),
        (Answer(1, "", "ERROR: Unknown command `x'. Try `help'?\n"), Refusal.MISUNDERSTOOD),
        (Answer(1, "", "ERROR: unknown option: `-x'\n"), Refusal.OTHER),
        (Answer(1, "", "Invalid cluster file `x': 2104 invalid\n"), Refusal.CLUSTER_FILE),
        (Answer(1, "", "Unable to read cluster file `x': 1515 No\n"), Refusal.CLUSTER_FILE),
        (Answer(1, "", "ERROR: process `10.0.0.1:4501' not recognized.\n"), Refusal.NOT_RECOGNIZED),
        (
            Answer(1, "", "ERROR: A cluster cannot change its encryption_at_rest state after\n"),
            Refusal.OTHER,
        ),
        (
            Answer(1, "", "\nWARNING: Long delay (Ctrl-C to interrupt)\n" + EXISTS),
            Refusal.EXISTS,
        ),
    ],
    ids=repr,
)
def test_what_is_known_to_be_refused(
    read: Callable[[Answer], Any], answer: Answer, refusal: Refusal
) -> None:
    with pytest.raises(DatabaseRefused) as caught:
        read(answer)
    assert caught.value.refusal is refusal


@pytest.mark.parametrize("name", CHANGES)
def test_numbers_mean_what_they_mean_by_the_binding(name: str) -> None:
    """But for exclusions: fdbcli reads after it has committed, and that may be what failed."""
    answer = Answer(1, "", "ERROR: Database is locked (1038)\n")
    wanted = "OutcomeUnknown" if name == "exclude" else "LOCKED"
    assert verdict(CHANGES[name], answer) == wanted
    answer = Answer(
        1, "", "ERROR: Transaction is too old to perform reads or be committed (1007)\n"
    )
    found = answers.objection(answer, changes=True)
    assert isinstance(found, DatabaseRefused)
    assert found.may_be_granted_later


@pytest.mark.parametrize(
    "row",
    [
        "  127.0.0.1:4501  ---- Something new",
        "  127.0.0.1:99999999  ---- Successfully excluded.",
        "  what?  ---- Successfully excluded.",
    ],
)
def test_an_exclusion_that_was_made_and_makes_no_sense(row: str) -> None:
    for answer in (Answer(0, f"{row}\n"), Answer(0, "", f"{row}\n")):
        with pytest.raises(OutcomeUnknown):
            answers.excluding(answer)


@pytest.mark.parametrize(
    ("err", "wanted"),
    [
        ("", "None"),
        ("\nWARNING: Long delay (Ctrl-C to interrupt)\n", "None"),
        (
            "WARNING: The cluster file is not up to date. Type 'status' for more information.\n",
            "None",
        ),
        (
            "WARNING: One or more of the processes in the cluster is incompatible with this version\n",
            "None",
        ),
        ("terminate called\n", "OutcomeUnknown"),
        ("WARNING: something new\n", "OutcomeUnknown"),
        ("\nWARNING: Long delay (Ctrl-C to interrupt)\nterminate called\n", "OutcomeUnknown"),
    ],
)
def test_what_a_silent_command_may_say(err: str, wanted: str) -> None:
    assert verdict(answers.check_silent, Answer(0, "", err)) == wanted
