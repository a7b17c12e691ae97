"""The stand-in as a console: whoever runs programs talks to the model; nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from stateward.core.errors import HouseError
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.asked import ACTIONS
from stateward.emulate.fdb.backups.cli.preparing import Place
from stateward.emulate.fdb.backups.files import Files, MemoryFiles
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.keyed import optimistic
from stateward.fdb.admin.keyed.optimistic import Order
from stateward.fdb.model.connection import ConnectionString

#: In memory all blob stores are in this folder.
BLOBS: Final = "/blobs"


class Console:
    """Runs programs in memory, on a model of a database; time is the model's own."""

    def __init__(
        self,
        database: Database,
        killed: Callable[[str], None] | None = None,
        files: Files | None = None,
    ) -> None:
        self._database = database
        #: Where backups are, for whoever has none in mind.
        self.files: Files = MemoryFiles() if files is None else files
        self._fdbcli = Fdbcli(database)
        if killed is not None:
            self._fdbcli.killed = killed

    @property
    def file(self) -> Path:
        """The cluster file, which is nowhere."""
        return Path("fdb.cluster")

    def now(self) -> float:
        """Return the model's time."""
        return self._database.now

    def found_by(self) -> ConnectionString:
        """Return how the database is found, as far as this one was told."""
        return self._fdbcli.string

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a line of fdbcli, an order for keys, or a command of backups."""
        if program == optimistic.PROGRAM:
            order = msgspec.json.decode(typed, type=Order)
            reply = await optimistic.carry_out(order, ModelKeys(self._database))
            return Answer(0, msgspec.json.encode(reply).decode(), "")
        if program in ACTIONS:
            return self._of_backups(program, words, seconds)
        if program != "fdbcli":
            raise HouseError(f"the stand-in in memory has no {program}")
        given = dict(zip(words[::2], words[1::2], strict=True))
        return self._fdbcli.run(given["--exec"], float(given["--timeout"]))

    def _of_backups(self, program: str, words: Sequence[str], seconds: float) -> Answer:
        """Run a command that has no time limit of its own: whoever runs it ends it."""
        database, tape = self._database, Tape(self._database)
        until = database.now + seconds
        steps = commands.typed(tape, Place(self.files, BLOBS), program, words)
        while True:
            try:
                waits = next(steps)
            except StopIteration as end:
                return Answer(end.value, tape.out, tape.err)
            if database.now + waits > until:
                database.advance(until)
                return Answer(-9, tape.out, tape.err, in_time=False)
            database.advance(database.now + waits)
