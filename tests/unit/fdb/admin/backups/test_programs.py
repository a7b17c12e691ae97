"""Command lines of backups and restores, and what their answers mean."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from stateward.core.errors import OutcomeUnknown
from stateward.core.facts import Unknown
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.backups.ports import Expiry
from stateward.fdb.admin.backups.programs import ProgramBackups, ProgramRestores
from stateward.fdb.admin.errors import DatabaseRefused, PrintsTooMuch, Refusal
from stateward.fdb.model.backups import BackupOrder, KeyRange, RestoreOrder, check_url
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status.backups.restore import RestoreStage

URL = "file:///b/one"
TO = "--dest-cluster-file f"


class Told:
    """Somebody who answers everything alike, and remembers what was asked."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.answer = answer
        self.asked: list[str] = []

    @property
    def file(self) -> Path:
        return Path("f")

    def now(self) -> float:
        return 0.0

    def found_by(self) -> ConnectionString:
        raise AssertionError

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        self.asked.append(" ".join([program, *words]))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


Ask = Callable[[ProgramBackups, ProgramRestores], Awaitable[Any]]


def ask(what: Ask, answer: Answer | Exception, credentials: Sequence[Path] = ()) -> tuple[str, Any]:
    """Return the command line, and what came of it."""
    told = Told(answer)

    async def asking() -> Any:
        return await what(ProgramBackups(told, credentials), ProgramRestores(told, credentials))

    try:
        found = asyncio.run(asking())
    except Exception as error:  # noqa: BLE001 - it is looked at
        found = error
    return told.asked[0], found


RANGES = (KeyRange(b"", b"a b"), KeyRange(b"x/", b"x0\xff"))
CHANGES: list[tuple[Ask, str]] = [
    (lambda b, _: b.start(BackupOrder("t", URL, 9)), f"fdbbackup start -C f -t t -d {URL} -s 9 -z"),
    (lambda b, _: b.start(BackupOrder("t", URL, 9, continuous=False, ranges=RANGES)),
     rf'fdbbackup start -C f -t t -d {URL} -s 9 -k "" a\x20b -k x/ x0\xff'),
    (lambda b, _: b.modify("t", url=URL, uid="u"),
     f"fdbbackup modify -C f -t t -d {URL} --verify-uid u"),
    (lambda b, _: b.modify("t", snapshot_seconds=7), "fdbbackup modify -C f -t t -s 7"),
    (lambda b, _: b.discontinue("t"), "fdbbackup discontinue -C f -t t"),
    (lambda b, _: b.abort("t"), "fdbbackup abort -C f -t t"),
    (lambda b, _: b.pause(), "fdbbackup pause -C f"),
    (lambda b, _: b.resume(), "fdbbackup resume -C f"),
    (lambda b, _: b.delete(URL), f"fdbbackup delete -d {URL}"),
    (lambda b, _: b.expire(URL, Expiry(older_than_days=9, restorable_days=2)),
     f"fdbbackup expire -d {URL} --delete-before-days 9 --min-restorable-days 2"),
    (lambda b, _: b.expire(URL, Expiry(before_version=5, restorable_after=8, force=True)),
     f"fdbbackup expire -d {URL} --expire-before-version 5 --restorable-after-version 8 -f"),
    (lambda _, r: r.start(RestoreOrder("t", URL, 5, RANGES[:1], b"n/", b"a b")),
     rf'fdbrestore start {TO} -t t -r {URL} -v 5 -k "" a\x20b --add-prefix n/ --remove-prefix a\x20b'),
    (lambda _, r: r.abort("t"), f"fdbrestore abort {TO} -t t"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "line"), CHANGES)
def test_how_it_is_asked_for(what: Ask, line: str) -> None:
    asked, found = ask(what, Answer(0))
    assert asked == line
    assert not isinstance(found, Exception)


@pytest.mark.parametrize(
    ("answer", "complaints"),
    [
        (Answer(0, "The backup on tag `t' is in progress to x.\nBackupUID: u\n"), ()),
        (
            Answer(
                0,
                "BackupUID: u\nRecent Errors (since latest restore point 1.00 minute(s) ago)\n"
                "3.10 second(s) ago : 'Permission denied' of a 1 s ago : b\n"
                "1.20 minute(s) ago : no space\nOlder Errors\n2.00 day(s) ago : is over\n",
            ),
            ("'Permission denied' of a 1 s ago : b", "no space"),
        ),
        (Answer(0, "Older Errors\n2.00 day(s) ago : is over\n"), ()),
        (Answer(1, "Recent Errors (since initialization)\n1 second(s) ago : one\n"), ()),
    ],
)
def test_what_agents_could_not_do_is_told_in_words(
    answer: Answer, complaints: tuple[str, ...]
) -> None:
    asked, found = ask(lambda b, _: b.complaints("t"), answer)
    assert asked == "fdbbackup status -C f -t t -e 5"
    assert found == complaints


@pytest.mark.parametrize("what", [it for it, _ in CHANGES])
@pytest.mark.parametrize(
    "answer",
    [
        Answer(-9, in_time=False),
        Answer(1, "", "ERROR: Something that nobody has heard of\n"),
        Answer(-11),
        Answer(0, "The backup", in_time=False),
        PrintsTooMuch("it printed without end"),
    ],
)
def test_what_nobody_knows_of_a_change_is_unknown(what: Ask, answer: Answer | Exception) -> None:
    _, found = ask(what, answer)
    assert isinstance(found, OutcomeUnknown), found


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (
            "ERROR: A backup is already running on tag `t'\nFatal Error: Backup error",
            Refusal.BACKUP_RUNNING,
        ),
        ("ERROR: A backup was not running on tag `t'", Refusal.BACKUP_NOT_RUNNING),
        ("No backup exists on tag 't'\nFatal Error: Backup error", Refusal.BACKUP_NOT_RUNNING),
        ("ERROR: 'Backup Container URL invalid' on URL 'x'", Refusal.DESTINATION_INVALID),
        ("ERROR: Attempted to restore into a non-empty destination database", Refusal.NOT_EMPTY),
        ("ERROR: Database is locked", Refusal.LOCKED),
        ("Unable to read cluster file `f': 1515", Refusal.CLUSTER_FILE),
    ],
)
def test_a_no_is_known_by_its_words(words: str, refusal: Refusal) -> None:
    _, found = ask(lambda b, _: b.abort("t"), Answer(1, "", f"{words}\n"))
    assert isinstance(found, DatabaseRefused)
    assert found.refusal is refusal


@pytest.mark.parametrize(
    "what",
    [
        lambda b, _: b.status("t"),
        lambda b, _: b.describe(URL),
        lambda _, r: r.status("t"),
    ],
)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(0, ""),
        Answer(1, "", "ERROR: so not"),
        Answer(-9, "{}", in_time=False),
        Answer(0, "?"),
    ],
)
def test_questions_without_an_answer_leave_us_not_knowing(what: Ask, answer: Answer) -> None:
    _, found = ask(what, answer)
    assert isinstance(found, Unknown), found


def test_what_is_gone_need_not_be_deleted() -> None:
    gone = Answer(1, "", "ERROR: Backup does not exist\nFatal Error: Backup does not exist\n")
    assert ask(lambda b, _: b.delete(URL), gone)[1] is None
    assert not ask(lambda b, _: b.describe(URL), gone)[1].exists


def test_whether_anybody_does_the_work() -> None:
    start: Ask = lambda b, _: b.start(BackupOrder("t", URL, 9))  # noqa: E731
    nobody = "The backup on tag `t' was successfully submitted but no backup agents are responding."
    assert ask(start, Answer(0, "The backup on tag `t' was successfully submitted."))[1] is True
    assert ask(start, Answer(0, nobody))[1] is False


@pytest.mark.parametrize(
    ("word", "stage"),
    [("aborted", RestoreStage.ABORTED), ("unitialized", RestoreStage.NEVER)],
)
def test_how_far_a_restore_was(word: str, stage: RestoreStage) -> None:
    answer = Answer(0, f"RESTORE_ABORT Tag: t  State: {word}\n")
    assert ask(lambda _, r: r.abort("t"), answer)[1] is stage
    assert isinstance(ask(lambda _, r: r.abort("t"), Answer(0, "?"))[1], Unknown)


def test_a_rehearsal_tells_to_which_version_and_else_nothing_is_known() -> None:
    rehearse: Ask = lambda _, r: r.rehearse(RestoreOrder("t", URL, 7))  # noqa: E731
    said = "Backup can be used to restore to version 7\n"
    asked, found = ask(rehearse, Answer(0, said))
    assert (asked.split()[-1], found) == ("-n", 7)
    assert isinstance(ask(rehearse, Answer(0, "?"))[1], OutcomeUnknown)


def test_credentials_are_named_by_files() -> None:
    asked, _ = ask(lambda b, _: b.pause(), Answer(0), [Path("/k/a"), Path("/k/b")])
    assert asked == "fdbbackup pause -C f --blob-credentials /k/a --blob-credentials /k/b"


@pytest.mark.parametrize(
    "url",
    ["blobstore://key:secret@host/n?bucket=b", "file://relative", "ftp://x/y", "file:///a b", ""],
)
def test_what_is_no_place_for_a_backup(url: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_url(url)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BackupOrder("no tag", URL, 9),
        lambda: BackupOrder("t", URL, 0),
        lambda: RestoreOrder("t", URL, -1),
        lambda: KeyRange.parse("b", "a"),
        lambda: KeyRange.parse("\u20ac", "\u20ad"),
        Expiry,
        lambda: Expiry(before_version=1, older_than_days=1),
    ],
)
def test_what_cannot_be_is_refused_before_anybody_is_asked(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"must|exactly one"):
        make()


def test_what_is_no_place_for_a_backup_is_refused_and_not_unknown() -> None:
    words = "ERROR: 'Backup Container URL invalid' on URL 'blobstore://x/../y'"
    _, found = ask(lambda b, _: b.describe(URL), Answer(1, "", words))
    assert isinstance(found, DatabaseRefused)
    assert found.refusal is Refusal.DESTINATION_INVALID
