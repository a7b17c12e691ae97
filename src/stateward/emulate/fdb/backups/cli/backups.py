"""Commands of fdbbackup that ask or change a database; each says for how long it waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from stateward.emulate.fdb.backups import backing, urls
from stateward.emulate.fdb.backups.cli import asked as asking
from stateward.emulate.fdb.backups.cli import telling
from stateward.emulate.fdb.backups.cli.asked import Asked
from stateward.emulate.fdb.backups.state import EVERYTHING, Backup, Stage
from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits

#: Seconds for which somebody is waited for who does the work, and between two looks.
_RESPONDING: Final = 5.0
_STEP: Final = 0.25
_ERROR: Final = "Fatal Error: Backup error"
_UNNEEDED: Final = "Fatal Error: Backup unneeded request"


@dataclass(slots=True)
class BackupCommand:
    """One command on its way."""

    asked: Asked
    tape: Tape

    def run(self) -> Waits:
        """Do what is asked."""
        yield from self.tape.wait(lambda: self.tape.is_served, quietly=True)
        yield from _COMMANDS[self.asked.action](self)

    @property
    def _backup(self) -> Backup | None:
        return self.tape.database.backups.backups.get(self.asked.tag)

    def _fail(self, *lines: str) -> Failed:
        return self.tape.fail(*lines)

    # ------------------------------------------------------------------ beginning

    def start(self) -> Waits:
        """Begin a backup, and say whether anybody is there who does it."""
        database, asked = self.tape.database, self.asked
        before = self._backup
        if before is not None and before.stage.is_active and before.uid != asked.uid:
            raise self._fail(f"ERROR: A backup is already running on tag `{asked.tag}'", _ERROR)
        if not asked.is_dry and (before is None or before.uid != asked.uid):
            backing.submit(database, self._wanted())
        if asked.waits and not asked.is_dry:
            what = "be restorable" if asked.goes_on else "complete"
            self.tape.say(
                f"Submitted and now waiting for the backup on tag `{asked.tag}' to {what}."
            )
            yield from self._until(is_enough=asked.goes_on)
            return
        yield from self._await_agents()

    def _wanted(self) -> Backup:
        asked, now = self.asked, self.tape.database.now
        began = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d-%H-%M-%S.%f")
        return Backup(
            asked.tag,
            asked.uid,
            urls.begun(asked.url, began),
            0,
            interval=asking.interval(asked),
            first_interval=asked.first_interval,
            stops=not asked.goes_on,
            ranges=list(asked.ranges) or [EVERYTHING],
        )

    def _await_agents(self) -> Waits:
        left = _RESPONDING
        while not (there := self._is_responding()) and left > 0:
            yield _STEP
            left -= _STEP
        nobody = "" if there else " but no backup agents are responding"
        dry = " (DRY RUN)" if self.asked.is_dry else ""
        tag = self.asked.tag
        self.tape.say(f"The backup on tag `{tag}' was successfully submitted{nobody}.{dry}")

    def _is_responding(self) -> bool:
        database = self.tape.database
        return not database.backups.paused and bool(database.agents.present(database.now))

    # ------------------------------------------------------------------ changing

    def modify(self) -> Waits:
        """Have one go elsewhere, or slower."""
        yield from ()
        asked, backup = self.asked, self._backup
        if not (asked.url or asked.interval or asked.active_interval):
            raise self._fail("No changes were specified, nothing to do!", _ERROR)
        if backup is None:
            raise self._fail(f"No backup exists on tag '{asked.tag}'", _ERROR)
        if backup.stage is Stage.ABORTED:
            raise self._fail(f"Cannot modify aborted backup on tag '{asked.tag}'", _ERROR)
        if not backup.stage.is_active:
            raise self._fail(f"Backup on tag '{asked.tag}' is not runnable.", _ERROR)
        if asked.verify_uid and asked.verify_uid != backup.uid:
            raise self._fail(
                f"UID verification failed, backup on tag '{asked.tag}' is '{backup.uid}' but"
                f" '{asked.verify_uid}' was expected",
                _ERROR,
            )
        backup.url = asked.url or backup.url
        backup.interval = asked.interval or backup.interval
        if asked.active_interval and backup.snapshot is not None:
            backup.snapshot.interval = asked.active_interval

    def discontinue(self) -> Waits:
        """Have one end once it can be restored."""
        asked, backup = self.asked, self._backup
        if backup is None or not backup.stage.is_active:
            raise self._fail(f"ERROR: A backup in not running on tag `{asked.tag}'", _UNNEEDED)
        if backup.stops:
            raise self._fail(
                f"ERROR: The backup on tag `{asked.tag}' is already discontinued",
                "Fatal Error: Backup duplicate request",
            )
        backing.discontinue(self.tape.database, backup)
        self.tape.say(f"The backup on tag `{asked.tag}' was successfully discontinued.")
        if asked.waits:
            yield from self._until(is_enough=False)

    def abort(self) -> Waits:
        """End one at once."""
        yield from ()
        asked, backup = self.asked, self._backup
        if backup is None or not backup.stage.is_active:
            raise self._fail(f"ERROR: A backup was not running on tag `{asked.tag}'", _UNNEEDED)
        backing.abort(self.tape.database, backup)
        self.tape.say(f"The backup on tag `{asked.tag}' was successfully aborted.")

    def pause(self) -> Waits:
        """Have all agents do nothing."""
        yield from ()
        self.tape.database.backups.paused = True
        self.tape.say(telling.PAUSED)

    def resume(self) -> Waits:
        """Have all agents go on."""
        yield from ()
        self.tape.database.backups.paused = False
        self.tape.say("All backup agents have been resumed.")

    # ------------------------------------------------------------------ asking

    def wait(self) -> Waits:
        """Wait until one is over."""
        yield from self._until(is_enough=False)
        backup = self._backup
        how = "does not exist" if backup is None else telling.DESCRIBED[backup.stage]
        self.tape.say(f"The backup on tag `{self.asked.tag}' {how}.")

    def _until(self, *, is_enough: bool) -> Waits:
        """Wait until it is over; or until it can be restored, if that is enough."""
        while (backup := self._backup) is not None and backup.stage.is_active:
            if is_enough and backup.restorable is not None:
                return
            yield 1.0

    def status(self) -> Waits:
        """Tell how one is."""
        yield from ()
        database, asked = self.tape.database, self.asked
        if asked.as_json:
            self.tape.say(telling.as_json(database, asked.tag))
        else:
            self.tape.say(telling.as_text(database, asked.tag, asked.errors))

    def tags(self) -> Waits:
        """Tell which there are."""
        yield from ()
        self.tape.say(*sorted(self.tape.database.backups.backups))


_COMMANDS: Final[Mapping[str, Callable[[BackupCommand], Waits]]] = {
    "start": BackupCommand.start,
    "modify": BackupCommand.modify,
    "discontinue": BackupCommand.discontinue,
    "abort": BackupCommand.abort,
    "pause": BackupCommand.pause,
    "resume": BackupCommand.resume,
    "wait": BackupCommand.wait,
    "status": BackupCommand.status,
    "tags": BackupCommand.tags,
}
