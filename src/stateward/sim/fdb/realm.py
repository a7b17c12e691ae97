"""All databases of a world, and all processes of FoundationDB that run, by whomever they are found.

A process finds its database by the cluster file on its own volume: by any coordinator of now, or by
most of those before, if they remember. Until then it runs, and is part of nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.sim.fdb.keys import KeysCall


@dataclass(slots=True, eq=False)
class Volume:
    """What is on the volume of a pod: data folders and cluster files, by their paths."""

    disks: dict[str, Disk] = field(default_factory=dict)
    cluster_files: dict[str, ConnectionString] = field(default_factory=dict)
    #: Where it was made: in the zone of the node that used it first.
    zone: str = ""


@dataclass(slots=True, eq=False)
class Process:
    """A process that runs: by which cluster file, and who is told of its end by itself."""

    server: Server
    volume: Volume
    file: str
    ended: Callable[[int], None]
    #: What it is part of; None: it has not found it.
    database: Database | None = None
    #: Whether it has a certificate; without one it reaches nobody who only speaks TLS.
    certified: bool = False

    @property
    def string(self) -> ConnectionString:
        """How it finds its database."""
        return self.volume.cluster_files[self.file]


class Realm:
    """Databases and processes."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock = clock
        self._chance = chance
        self.processes: list[Process] = []
        #: Told of every command that arrives at a database, before it is carried out.
        self.typed: list[Callable[[str, Database], None]] = []
        #: Told of every transaction by keys that was committed, with the call that asked for it.
        self.keyed: list[Callable[[KeysCall, Database], None]] = []
        #: Told of every line by which somebody was told to end: one that is refused ends nobody.
        self.killing: list[Callable[[str], None]] = []
        #: Told of every process that is about to start, and whether it has a certificate.
        self.begun: list[Callable[[Server, bool], None]] = []
        #: By every description and id that a database was ever found by.
        self._databases: dict[tuple[str, str], Database] = {}

    @property
    def databases(self) -> list[Database]:
        """Every database, once."""
        return list({id(it): it for it in self._databases.values()}.values())

    def database(self, string: ConnectionString) -> Database:
        """Return the database that a connection string is about, of now or of before."""
        name = (string.description, string.id)
        found = self._databases.get(name)
        if found is None:
            chance = self._chance.stream(":".join(name))
            found = self._databases[name] = Database(string, chance, self._clock.now())
        return found

    def advance(self) -> None:
        """Let all happen that is due by now."""
        now = self._clock.now()
        for it in self.databases:
            it.advance(now)

    # ------------------------------------------------------------------ processes

    def begin(self, server: Server, *, certified: bool) -> None:
        """Tell that a process is about to start, which may fail."""
        for told in self.begun:
            told(server, certified)

    def start(self, process: Process) -> None:
        """Let a process begin to look for its database."""
        self.advance()
        self.processes.append(process)
        self.settle()

    def stop(self, process: Process) -> None:
        """End a process; nobody is told."""
        if process not in self.processes:
            return
        self.advance()
        self.processes.remove(process)
        if process.database is not None:
            process.database.leave(process.server.disk.process_id)
            process.database = None

    def end(self, process: Process, code: int) -> None:
        """Let a process end by itself, or by what somebody does to it alone."""
        if process in self.processes:
            self.stop(process)
            process.ended(code)

    def kill(self, address: str, line: tuple[int, int]) -> None:
        """End whoever listens at an address and speaks a line's protocol, as its fdbcli asks."""
        for it in [*self.processes]:
            speaks = it.server.line == line
            if speaks and any(one.plain == address for one in it.server.addresses):
                self.end(it, 0)

    def settle(self) -> None:
        """Have whoever can find its database be part of it, and all know how it is found now."""
        for it in self.databases:
            self._databases[(it.string.description, it.string.id)] = it
        while self._join_one():
            pass
        for process in self.processes:
            database = process.database
            if database is not None and process.server.disk.process_id in database.servers:
                process.volume.cluster_files[process.file] = database.string

    def _join_one(self) -> bool:
        for it in self.processes:
            if it.database is not None:
                continue
            database = self.database(it.string)
            if self._is_let_in(it, database):
                it.database = database
                database.join(it.server)
                return True
        return False

    def _is_let_in(self, process: Process, database: Database) -> bool:
        """Tell whether somebody shows a process the way; a coordinator of now needs nobody."""
        string, now = process.string, database.string
        if now.all_tls and not process.certified:
            return False
        if any(map(process.server.listens_at, now.coordinators)):
            return True
        if string.id == now.id:
            return any(self._at(it) for it in string.coordinators)
        remembering = sum(
            any(string.id in one.server.disk.coordinates for one in self._at(it))
            for it in string.coordinators
        )
        return remembering >= string.quorum

    def _at(self, address: Address) -> list[Process]:
        return [it for it in self.processes if it.server.listens_at(address)]
