"""The stand-in as a console: whoever talks to fdbcli talks to the model; nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from stateward.core.errors import HouseError
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.answers import Answer
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

    async def run(self, program: str, words: Sequence[str], seconds: float) -> Answer:
        """Run a line of fdbcli."""
        del seconds
        if program != "fdbcli":
            raise HouseError(f"the stand-in in memory has fdbcli only, got {program}")
        given = dict(zip(words[::2], words[1::2], strict=True))
        return self._fdbcli.run(given["--exec"], float(given["--timeout"]))
