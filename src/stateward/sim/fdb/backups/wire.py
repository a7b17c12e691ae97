"""The wire between an operator and the programs of backups: each run of them may go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.core.clock import Clock
from stateward.core.errors import PeerUnreachable
from stateward.core.version import Version
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.asked import ACTIONS
from stateward.emulate.fdb.backups.cli.preparing import Place
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.console import BLOBS
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.backups.clearing import KeyClearing
from stateward.fdb.admin.backups.counting import ProgramCounter
from stateward.fdb.admin.backups.programs import ProgramBackups, ProgramRestores
from stateward.fdb.admin.errors import DatabaseSilent
from stateward.fdb.admin.keyed.optimistic import ProgramKeys
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.backups.calls import BackupCall
from stateward.sim.fdb.backups.shelf import Shelf, Typed
from stateward.sim.fdb.databases import IsCut, SimConsole, refusal
from stateward.sim.fdb.realm import Realm
from stateward.sim.network import Network

#: Seconds between two looks of one who waits for a database.
_STEP: Final = 1.0
#: What needs files alone.
_OF_FILES: Final = frozenset({"delete", "describe", "expire"})
#: Whoever is ended in the middle says nothing.
_ENDED: Final = -9


@dataclass(frozen=True, slots=True)
class Wire:
    """What every run of a program goes over, of one operator process."""

    realm: Realm
    network: Network
    clock: Clock
    is_cut: IsCut
    shelf: Shelf


class BackupConsole(SimConsole):
    """Runs fdbbackup and fdbrestore, by the cluster file of one operator, in virtual time."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire.realm, wire.network, wire.clock, wire.is_cut)
        self._wire = wire

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a program; what it takes is virtual time."""
        if program not in ACTIONS:
            return await super().run(program, words, seconds, typed)
        call = BackupCall(program, tuple(words))

        async def carried() -> Answer:
            return await self._carried(call, seconds)

        try:
            return await self._wire.network.send(call, carried, refusal)
        except PeerUnreachable as error:  # silence is what such a program calls that
            raise DatabaseSilent(error.message) from None

    async def _carried(self, call: BackupCall, seconds: float) -> Answer:
        shelf, until = self._wire.shelf, self._wire.clock.now() + seconds
        who = shelf.who()  # later on nobody can tell
        self._wire.realm.advance()
        if call.verb in _OF_FILES:
            database = self._wire.realm.databases[0]
        else:
            database = self._wire.realm.database(self.found_by())
            if not await self._is_served(database, until):
                return Answer(_ENDED, "", "", in_time=False)
        typed = Typed(call, who, database)
        for told in shelf.typed:
            told(typed)
        if call.verb == "delete":
            await asyncio.sleep(shelf.deleting)
        answer = await self._played(typed, until)
        for heard in shelf.done:
            heard(typed, answer.code)
        return answer

    async def _is_served(self, database: Database, until: float) -> bool:
        """Wait for a database; tell whether it came."""
        while not self._view().is_served(database, self.found_by()):
            if self._wire.clock.now() >= until:
                return False
            await asyncio.sleep(_STEP)
            self._wire.realm.advance()
        return True

    async def _played(self, typed: Typed, until: float) -> Answer:
        realm, tape = self._wire.realm, Tape(typed.database)
        place = Place(self._wire.shelf.files, BLOBS)
        steps = commands.typed(tape, place, typed.call.program, typed.call.words)
        while True:
            try:
                waits = next(steps)
            except StopIteration as end:
                realm.settle()
                return Answer(end.value, tape.out, tape.err)
            if self._wire.clock.now() + waits > until:
                return Answer(_ENDED, tape.out, tape.err, in_time=False)
            realm.settle()
            await asyncio.sleep(waits)
            realm.advance()


class SimBackups:
    """Databases as one operator process reaches them for backups."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._consoles: dict[ObjectKey, BackupConsole] = {}

    def backups(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> ProgramBackups:
        """Return the backups of a cluster; nobody is asked yet."""
        return ProgramBackups(self._console(cluster, connection, version))

    def restores(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> ProgramRestores:
        """Return the restores into a cluster; nobody is asked yet."""
        return ProgramRestores(self._console(cluster, connection, version))

    def clearing(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> KeyClearing:
        """Return who takes keys of a cluster away; nobody is asked yet."""
        return KeyClearing(ProgramKeys(self._console(cluster, connection, version)))

    def counter(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> ProgramCounter:
        """Return who counts keys of a cluster; nobody is asked yet."""
        return ProgramCounter(self._console(cluster, connection, version))

    def files(self, version: Version) -> ProgramBackups:
        """Return who deletes files, with programs of a version: all are there."""
        del version
        return ProgramBackups(BackupConsole(self._wire))

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of what was kept for a cluster that is gone."""
        self._consoles.pop(cluster, None)

    def _console(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> BackupConsole:
        if cluster not in self._consoles:
            self._consoles[cluster] = BackupConsole(self._wire)
        self._consoles[cluster].find_by(connection, version)
        return self._consoles[cluster]
