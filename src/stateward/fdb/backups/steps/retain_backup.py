"""RetainBackup: what is older than anybody needs it is deleted, beside all else."""

from __future__ import annotations

from functools import partial

from stateward.core.clock import Clock
from stateward.core.outcome import DONE, Outcome
from stateward.core.version import Version
from stateward.fdb.backups.cleaning.chores import Chore, Chores
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.decide.backups import retaining
from stateward.fdb.decide.backups.views import Expire


class RetainBackup:
    """Has somebody look for it who takes the time, and tells what came of that."""

    name = "RetainBackup"

    def __init__(self, chores: Chores, clock: Clock) -> None:
        self._chores = chores
        self._clock = clock

    async def run(self, seen: BackupSeen) -> Outcome:
        """Ask for it, if it is time: nothing waits for it."""
        found = retaining.retaining(seen.view, self._clock.now())
        if not isinstance(found, Expire):
            self._chores.withdraw(seen.backup.metadata.key)
            return found
        metadata = seen.backup.metadata
        version = seen.version or Version.parse(seen.backup.spec.version)
        look = partial(seen.admin.status, seen.view.tag) if seen.admin is not None else None
        self._chores.ask(Chore(metadata.key, metadata.uid, found.url, version, found.days, look))
        return DONE
