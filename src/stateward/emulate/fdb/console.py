"""The stand-in as a console: whoever talks to fdbcli talks to the model; nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from stateward.core.errors import HouseError
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.keyed import optimistic
from stateward.fdb.admin.keyed.optimistic import Order
from stateward.fdb.model.connection import ConnectionString


class Console:
    """Runs fdbcli in memory, on a model of a database; time is the model's own."""

    def __init__(self, database: Database, killed: Callable[[str], None] | None = None) -> None:
        self._database = database
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
        """Run a line of fdbcli, or an order for keys."""
        del seconds
        if program == optimistic.PROGRAM:
            order = msgspec.json.decode(typed, type=Order)
            reply = await optimistic.carry_out(order, ModelKeys(self._database))
            return Answer(0, msgspec.json.encode(reply).decode(), "")
        if program != "fdbcli":
            raise HouseError(f"the stand-in in memory has fdbcli only, got {program}")
        given = dict(zip(words[::2], words[1::2], strict=True))
        return self._fdbcli.run(given["--exec"], float(given["--timeout"]))
