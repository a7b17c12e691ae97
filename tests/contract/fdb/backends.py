"""Databases that scenarios are played on: the model in memory; programs and real ones come later."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.fdb_databases import come_back, lose, names, server, unconfigured
from stateward.emulate.fdb.console import Console
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.model.configuration import Configuration

DOUBLE = Configuration(redundancy="double", storage_engine="ssd-2", logs=2)


@dataclass
class Lab:
    """A cluster as in the recordings, and the operator's own way to talk to it."""

    database: Database
    admin: Fdbcli

    def pass_by(self, seconds: float) -> None:
        """Let time go by."""
        self.database.advance(self.database.now + seconds)

    def lose(self, *lost: str) -> None:
        """Kill processes for good."""
        lose(self.database, *lost)

    def come_back(self, *back: str) -> None:
        """Start them again."""
        come_back(self.database, *back)


def model() -> Lab:
    """Return the model, with ten processes and no database yet."""
    database = unconfigured()

    def restart(address: str) -> None:
        found = [it for it in names() if server(it).address.plain == address]
        lose(database, *found)
        come_back(database, *found)

    return Lab(database, Fdbcli(Console(database, restart)))


async def created() -> Lab:
    """Return the same with a database that has been healthy for a while."""
    lab = model()
    await lab.admin.create(DOUBLE)
    lab.database.shards.fill(60_000_000)
    lab.pass_by(60)
    return lab
