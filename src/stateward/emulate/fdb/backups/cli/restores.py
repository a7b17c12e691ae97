"""Commands of fdbrestore that ask or change a database; each says for how long it waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from stateward.emulate.fdb.backups import restoring
from stateward.emulate.fdb.backups.cli.asked import EVERY, Asked
from stateward.emulate.fdb.backups.state import Progress, Restore
from stateward.emulate.fdb.cli.tape import Tape, Waits
from stateward.emulate.fdb.cli.words import printed
from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.state import State

#: What is said of a tag that nobody knows, letter by letter.
_NEVER: Final = "unitialized"
_NOBODY: Final = "0" * 32
#: Keys of the system that are brought back too, where nobody says which: here there are none.
_OF_SYSTEM: Final = (
    r"'\xff\x02/blobRange/'-'\xff\x02/blobRange0'",
    r"'\xff/metacluster/clusterRegistration'-'\xff/metacluster/clusterRegistration\x00'",
    r"'\xff/tagQuota/'-'\xff/tagQuota0'",
    r"'\xff/tenant/'-'\xff/tenant0'",
)


@dataclass(slots=True)
class RestoreCommand:
    """One command on its way."""

    asked: Asked
    tape: Tape

    def run(self) -> Waits:
        """Do what is asked."""
        yield from self.tape.wait(lambda: self.tape.is_served, quietly=True)
        yield from _COMMANDS[self.asked.action](self)

    def _restore(self) -> Restore | None:
        return self.tape.database.backups.restores.get(self.asked.tag)

    def start(self) -> Waits:
        """Have keys come back, and perhaps wait for that."""
        asked, before = self.asked, self._restore()
        if before is None or before.uid != asked.uid:
            try:
                restoring.submit(self.tape.database, self._wanted())
            except restoring.Refused as error:
                raise self.tape.fail(f"ERROR: {error}", f"Fatal Error: {error}") from None
        if asked.waits:
            yield from self.wait()
            restore = self._restore()
            if restore is None or restore.stage is not Progress.COMPLETED:
                raise self.tape.fail("ERROR: Restore error", "Fatal Error: Restore error")
            self.tape.say(f"Restored to version {asked.version}")

    def _wanted(self) -> Restore:
        asked = self.asked
        return Restore(
            asked.tag,
            asked.uid,
            asked.url,
            asked.version,
            list(asked.ranges),
            asked.add_prefix,
            asked.remove_prefix,
            asked.only_users,
        )

    def wait(self) -> Waits:
        """Tell how far it is, every second, until it is over."""
        while True:
            restore = self._restore()
            self.tape.say(progress(self.tape.database, restore))
            if restore is None or not restore.stage.is_active:
                return
            yield 1.0

    def status(self) -> Waits:
        """Tell how all are, or that of a tag."""
        yield from ()
        restores = self.tape.database.backups.restores
        is_told = self.asked.tag != EVERY
        chosen = [self._restore()] if is_told else [restores[it] for it in sorted(restores)]
        self.tape.say("".join(f"{_whole(self.tape.database, it)}\n\n" for it in chosen))

    def abort(self) -> Waits:
        """End one; what never was is said to be just that."""
        yield from ()
        restore = self._restore()
        if restore is not None and restore.stage.is_active:
            restoring.abort(self.tape.database, restore)
        stage = _NEVER if restore is None else str(restore.stage)
        self.tape.say(f"RESTORE_ABORT Tag: {self.asked.tag}  State: {stage}")


_COMMANDS: Final[Mapping[str, Callable[[RestoreCommand], Waits]]] = {
    "start": RestoreCommand.start,
    "wait": RestoreCommand.wait,
    "status": RestoreCommand.status,
    "abort": RestoreCommand.abort,
}


def progress(state: State, restore: Restore | None) -> str:
    """Return how far one is, in one line."""
    it = restore or Restore("", _NOBODY, "", 0)
    claims = state.agents.claims
    begun = sum(name.startswith(f"block {it.uid} ") for name in claims)
    error = "None"
    if it.error is not None:
        ago = (state.store.at(state.now) - it.error[1]) // A_SECOND
        error = f"'{it.error[0]}' {ago}s ago.\n"
    return (
        f"Tag: {it.tag}  UID: {it.uid}  State: {_NEVER if restore is None else it.stage}"
        f"  Blocks: {len(it.done)}/{len(it.blocks)}  BlocksInProgress: {begun}"
        f"  Files: {len(it.blocks)}  BytesWritten: {it.written}  CurrentVersion: {it.current}"
        f" FirstConsistentVersion: {it.consistent}  ApplyVersionLag: 0  LastError: {error}"
    )


def _whole(state: State, restore: Restore | None) -> str:
    if restore is None:
        return progress(state, None)
    ranges = [f"'{printed(begin)}'-'{printed(end)}'" for begin, end in restore.spans]
    if not restore.ranges and not restore.only_users:
        ranges += _OF_SYSTEM
    told = "".join(f"  Range: {it}" for it in ranges)
    return (
        f"{progress(state, restore)}  URL: {restore.url}{told}"
        f"  AddPrefix: '{printed(restore.add_prefix)}'"
        f"  RemovePrefix: '{printed(restore.remove_prefix)}'  Version: {restore.version}"
    )
