"""Backups and restores of one database by fdbbackup and fdbrestore.

These have no time limit of their own: who finds no database waits for ever, and is ended here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stateward.core.errors import OutcomeUnknown
from stateward.core.facts import Unknown
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.backups import answers
from stateward.fdb.admin.backups.ports import BackupAdmin, Expiry, RestoreAdmin
from stateward.fdb.admin.errors import DatabaseRefused, PrintsTooMuch, Refusal
from stateward.fdb.admin.fdbcli import Console
from stateward.fdb.model.backups import BackupOrder, RestoreOrder, check_tag, check_url, written
from stateward.fdb.status.backups import backup, container, restore
from stateward.fdb.status.backups.backup import BackupState
from stateward.fdb.status.backups.container import Container
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState

_BACKUP, _RESTORE = "fdbbackup", "fdbrestore"
#: Seconds for a question, for a change, for what reads a container, and for what deletes files.
_SHORT, _LONG, _READING, _DELETING = 30.0, 60.0, 120.0, 600.0
_COMPLAINTS = "5"


class _Programs:
    """Runs one of the programs; credentials are named by files."""

    def __init__(self, session: Console, credentials: Sequence[Path] = ()) -> None:
        self._session = session
        self._credentials = [word for it in credentials for word in ("--blob-credentials", str(it))]

    async def _run(self, program: str, words: Sequence[str], seconds: float) -> Answer:
        return await self._session.run(program, [*words, *self._credentials], seconds)

    async def _change(self, program: str, words: Sequence[str], seconds: float) -> Answer:
        what = f"{program} {words[0]}"
        try:
            answer = await self._run(program, words, seconds)
        except PrintsTooMuch as error:
            text = f"nobody knows whether {what} was done: {error.message}"
            raise OutcomeUnknown(text) from None
        answers.check(answer, what)
        return answer


class ProgramBackups(_Programs, BackupAdmin):
    """Backups of one database."""

    async def status(self, tag: str) -> BackupState | Unknown:
        """Return how the backup of a tag is."""
        words = ["status", *self._file, "-t", check_tag(tag), "--json"]
        answer = await self._run(_BACKUP, words, _SHORT)
        return _unread(answer, "fdbbackup status") or backup.read(answer.out, tag)

    async def complaints(self, tag: str) -> tuple[str, ...]:
        """Return what agents could not do; it is told only in words, and never as JSON."""
        words = ["status", *self._file, "-t", check_tag(tag), "-e", _COMPLAINTS]
        answer = await self._run(_BACKUP, words, _SHORT)
        return answers.complaints(answer)

    async def describe(self, url: str) -> Container | Unknown:
        """Return what can be restored from a container."""
        words = ["describe", "-d", check_url(url), "--json"]
        answer = await self._run(_BACKUP, words, _READING)
        refused = answers.refused(answer)
        if refused is Refusal.BACKUP_MISSING:
            return Container(url, exists=False)
        if refused is Refusal.DESTINATION_INVALID:
            raise answers.objection(answer, "fdbbackup describe")
        return _unread(answer, "fdbbackup describe") or container.read(answer.out, url)

    # ------------------------------------------------------------------ changing

    async def start(self, order: BackupOrder) -> bool:
        """Have one begin."""
        words = ["start", *self._file, "-t", order.tag, "-d", order.url]
        words += ["-s", str(order.snapshot_seconds), *(["-z"] if order.continuous else [])]
        words += [word for it in order.ranges for word in ("-k", str(it))]
        answer = await self._change(_BACKUP, [*words, *order.parameters], _LONG)
        return answers.somebody_responds(answer)

    async def modify(
        self, tag: str, *, url: str = "", snapshot_seconds: int | None = None, uid: str = ""
    ) -> None:
        """Have one go elsewhere, or slower."""
        words = ["modify", *self._file, "-t", check_tag(tag)]
        words += ["-d", check_url(url)] if url else []
        words += ["-s", str(snapshot_seconds)] if snapshot_seconds is not None else []
        words += ["--verify-uid", uid] if uid else []
        await self._change(_BACKUP, words, _LONG)

    async def discontinue(self, tag: str) -> None:
        """Have one end once it can be restored."""
        await self._change(_BACKUP, ["discontinue", *self._file, "-t", check_tag(tag)], _LONG)

    async def abort(self, tag: str) -> None:
        """End one at once."""
        await self._change(_BACKUP, ["abort", *self._file, "-t", check_tag(tag)], _LONG)

    async def pause(self) -> None:
        """Have all agents do nothing."""
        await self._change(_BACKUP, ["pause", *self._file], _LONG)

    async def resume(self) -> None:
        """Have them go on."""
        await self._change(_BACKUP, ["resume", *self._file], _LONG)

    # ------------------------------------------------------------------ files

    async def expire(self, url: str, what: Expiry) -> None:
        """Take old data away."""
        told = (
            ("--expire-before-version", what.before_version),
            ("--delete-before-days", what.older_than_days),
            ("--restorable-after-version", what.restorable_after),
            ("--min-restorable-days", what.restorable_days),
        )
        words = ["expire", "-d", check_url(url)]
        words += [word for name, it in told if it is not None for word in (name, str(it))]
        await self._change(_BACKUP, [*words, *(["-f"] if what.force else [])], _DELETING)

    async def delete(self, url: str) -> None:
        """Have a container be gone."""
        try:
            await self._change(_BACKUP, ["delete", "-d", check_url(url)], _DELETING)
        except DatabaseRefused as error:
            if error.refusal is not Refusal.BACKUP_MISSING:
                raise

    @property
    def _file(self) -> tuple[str, str]:
        return "-C", str(self._session.file)


class ProgramRestores(_Programs, RestoreAdmin):
    """Restores into one database."""

    async def status(self, tag: str) -> RestoreState | Unknown:
        """Return how the restore of a tag is: all are told, since of none nothing would be."""
        check_tag(tag)
        answer = await self._run(_RESTORE, ["status", *self._file], _SHORT)
        return _unread(answer, "fdbrestore status") or restore.read(answer.out, tag)

    async def rehearse(self, order: RestoreOrder) -> int:
        """Return to which version one would restore."""
        answer = await self._change(_RESTORE, [*self._start(order), "-n"], _READING)
        version = answers.possible(answer)
        if version is None:
            raise OutcomeUnknown("fdbrestore must tell to which version it would restore")
        return version

    async def start(self, order: RestoreOrder) -> None:
        """Have one begin."""
        await self._change(_RESTORE, self._start(order), _READING)

    def _start(self, order: RestoreOrder) -> list[str]:
        words = ["start", *self._file, "-t", order.tag, "-r", order.url]
        words += ["-v", str(order.version)] if order.version is not None else []
        words += [word for it in order.ranges for word in ("-k", str(it))]
        words += ["--add-prefix", written(order.add_prefix)] if order.add_prefix else []
        words += ["--remove-prefix", written(order.remove_prefix)] if order.remove_prefix else []
        return [*words, *order.parameters]

    async def abort(self, tag: str) -> RestoreStage | Unknown:
        """End one."""
        words = ["abort", *self._file, "-t", check_tag(tag)]
        answer = await self._change(_RESTORE, words, _LONG)
        return restore.stage_of(answers.aborted(answer))

    @property
    def _file(self) -> tuple[str, str]:
        return "--dest-cluster-file", str(self._session.file)


def _unread(answer: Answer, what: str) -> Unknown | None:
    """Return why an answer is none; None: it is one, and to be read."""
    if not answer.in_time:
        return Unknown(f"{what} must answer, and did not in time")
    if answer.code:
        said = answers.first_line(answer.err) or answers.first_line(answer.out)
        return Unknown(f"{what} must answer, ended with {answer.code} and said {said!r}")
    return None
