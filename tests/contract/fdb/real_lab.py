"""Real fdbservers, as in the recordings: ten processes on addresses of this machine's own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from contract.fdb.backends import DOUBLE
from fakes.fdb_databases import STRING, names, server
from stateward.app.fdb.available import Found, available
from stateward.core.clock import SystemClock
from stateward.core.errors import PeerError
from stateward.core.facts import Known
from stateward.core.version import Version, same_minor
from stateward.fdb.admin import library
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.library import Library
from stateward.fdb.admin.session import Session, Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status import health

#: Seconds until a new database has all its copies.
PATIENCE = 90.0
#: One client for a whole run: a process has one.
_LOADED: dict[Path | None, Library] = {}


async def found() -> tuple[Found, Library]:
    """Return the programs and the client of 7.3; raise LookupError when there are none.

    What STATEWARD_FDB_BIN names in vain is an error all the same.
    """
    wanted = Version(7, 3, 0)
    real = [it for it in await available() if not it.emulated]
    every = [it for it in real if same_minor(it.version, wanted)]
    if not every:
        raise LookupError("neither STATEWARD_FDB_BIN nor PATH nor our cache has FoundationDB 7.3")
    place = every[0].library
    if place not in _LOADED:
        try:
            _LOADED[place] = library.load(place)
        except ProgramUnusable as error:
            raise LookupError(error.sentence()) from None
    return every[0], _LOADED[place]


@dataclass
class RealLab:
    """The processes, and the operator's own way to talk to them."""

    connection: ConnectionString
    admin: Fdbcli
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    def kill(self, *lost: str) -> None:
        """Kill processes for good."""
        for name in lost:
            with suppress(ProcessLookupError):
                self.processes[name].kill()


@asynccontextmanager
async def running(programs: Found) -> AsyncIterator[RealLab]:
    """Provide a database that is healthy; nothing is left of it afterwards."""
    shared = Shared(Binaries(programs.folders()), Turns(2), SystemClock())
    session = Session(shared, "lab", programs.version)
    lab = RealLab(ConnectionString.parse(STRING), Fdbcli(session))
    session.find_by(lab.connection)
    with tempfile.TemporaryDirectory(prefix="stateward-fdb-lab-", ignore_cleanup_errors=True) as it:
        try:
            for name in names():
                argv = _argv(programs.programs["fdbserver"], Path(it) / name, name, lab.connection)
                lab.processes[name] = await asyncio.create_subprocess_exec(
                    *argv, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
                )
            await _create(lab)
            yield lab
        finally:
            lab.kill(*lab.processes)
            await asyncio.gather(*(it.wait() for it in lab.processes.values()))
            session.close()


def _argv(program: Path, folder: Path, name: str, connection: ConnectionString) -> list[str]:
    """Return how a process is started, with a cluster file of its own beside its data."""
    folder.mkdir(parents=True)
    (folder / "fdb.cluster").write_text(f"{connection}\n")
    made = server(name)
    words = {
        "cluster-file": folder / "fdb.cluster",
        "public-address": made.address,
        "listen-address": "public",
        "datadir": folder,
        "logdir": folder,
        "memory": "1500MiB",
        "storage-memory": "500MiB",
        "cache-memory": "100MiB",
        "class": made.process_class,
    } | {f"locality-{key}": value for key, value in made.localities.items()}
    return [str(program), *(word for key, it in words.items() for word in (f"--{key}", str(it)))]


async def _create(lab: RealLab) -> None:
    """Make the database, and wait until all copies are there."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(PeerError):
                await lab.admin.create(DOUBLE)
                break
            await asyncio.sleep(1)
        while True:
            replicated = health.is_fully_replicated(await lab.admin.status())
            if isinstance(replicated, Known) and replicated.value:
                return
            await asyncio.sleep(1)
