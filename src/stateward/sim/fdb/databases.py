"""The wire between an operator and databases: each fdbcli that it runs may go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from stateward.core.clock import Clock
from stateward.core.errors import HouseError, PeerConfused, PeerError, PeerUnreachable
from stateward.core.version import Version
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli import program as programs
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin import commands
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, ProgramUnusable, Refusal
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.keyed import optimistic
from stateward.fdb.admin.keyed.optimistic import Order, Reply
from stateward.fdb.admin.ports import Admin
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import LOG_GROUP
from stateward.kube.codec import Json, encode
from stateward.kube.meta import ObjectKey
from stateward.sim.faults import Kind
from stateward.sim.fdb.keys import KeysCall, acts_of
from stateward.sim.fdb.realm import Realm
from stateward.sim.network import Asked, Network

#: What only asks.
QUESTIONS: Final = frozenset(
    {
        *(commands.STATUS, commands.EXCLUSIONS, commands.MAINTENANCE, commands.COORDINATORS),
        commands.FIRST_KEYS,
    }
)

#: Seconds between two looks of one who waits for a database.
_STEP: Final = 0.5

#: Tells whether an operator does not get through to an address.
IsCut = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class FdbCall:
    """One run of fdbcli: what was typed, and about which database."""

    line: str
    database: str

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.line not in QUESTIONS

    def __str__(self) -> str:
        return f"fdbcli {self.line!r} at {self.database}"


class SimConsole:
    """Runs fdbcli for one database, by the cluster file of one operator, in virtual time."""

    def __init__(self, realm: Realm, network: Network, clock: Clock, is_cut: IsCut) -> None:
        self._realm = realm
        self._network = network
        self._clock = clock
        self._is_cut = is_cut
        self._string: ConnectionString | None = None
        self._version = Version(0, 0, 0)

    @property
    def file(self) -> Path:
        """The cluster file, which is nowhere."""
        return Path("fdb.cluster")

    def now(self) -> float:
        """Return what time the operator takes it to be."""
        return self._clock.now()

    def find_by(self, string: ConnectionString, version: Version) -> None:
        """Find the database by this from now on, with programs of a version."""
        self._string, self._version = string, version

    def found_by(self) -> ConnectionString:
        """Return how the database is found, as far as fdbcli was told."""
        if self._string is None:
            raise HouseError("a database must be reached before it is asked")
        return self._string

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a program; what it takes is virtual time."""
        del seconds  # its own deadline comes first
        if program == optimistic.PROGRAM:
            return await self._ask_for_keys(msgspec.json.decode(typed, type=Order))
        if program != "fdbcli":
            raise HouseError(f"the simulation has fdbcli only, got {program}")
        given = dict(zip(words[::2], words[1::2], strict=True))
        line, patience = given["--exec"], float(given["--timeout"])
        call = FdbCall(line, self.found_by().description)

        async def carried() -> Answer:
            return await self._play(line, patience)

        try:
            return await self._network.send(call, carried, refusal)
        except PeerUnreachable as error:  # silence is what fdbcli calls that
            raise DatabaseSilent(error.message) from None

    async def _ask_for_keys(self, order: Order) -> Answer:
        call = KeysCall(order, self.found_by().description)

        async def carried() -> Answer:
            return Answer(0, msgspec.json.encode(await self._keyed(call)).decode(), "")

        try:
            return await self._network.send(call, carried, refusal)
        except PeerUnreachable as error:
            raise DatabaseSilent(error.message) from None

    async def _keyed(self, call: KeysCall) -> Reply:
        """Carry out a transaction, as soon as the database serves it; who sees none is told so."""
        order, realm = call.order, self._realm
        until = self._clock.now() + order.seconds
        realm.advance()
        while True:
            string = self.found_by()
            database = realm.database(string)
            if self._view().is_served(database, string):
                break
            if self._clock.now() >= until:
                return Reply(trouble=optimistic.SILENT, text="the database does not answer")
            await asyncio.sleep(_STEP)
            realm.advance()
        for line in acts_of(order):
            for heard in realm.typed:
                heard(line, database)
        reply = await optimistic.carry_out(order, ModelKeys(database))
        # Of new coordinators nobody is told, and nothing else leaves us unsure here.
        for told in realm.keyed if reply.trouble in {"", optimistic.UNKNOWN} else ():
            told(call, database)
        realm.settle()
        self._string = database.string
        return reply

    async def _play(self, line: str, patience: float) -> Answer:
        realm = self._realm
        realm.advance()
        database = realm.database(self.found_by())
        for heard in realm.typed:
            heard(line, database)
        view = self._view()
        cli = programs.Fdbcli(database, str(self.file), view)
        killed: list[str] = []

        def kill(address: str) -> None:
            for heard in () if killed else realm.killing:
                heard(line)
            killed.append(address)
            realm.kill(address, view.line)

        cli.killed = kill
        cli.string, cli.log_group, cli.layout = self.found_by(), LOG_GROUP, _narrow
        tape = Tape(database)
        steps = cli.steps(line, tape, patience)
        try:
            while True:
                seconds = next(steps)
                realm.settle()
                await asyncio.sleep(seconds)
                realm.advance()
        except StopIteration as end:
            realm.settle()
            self._string = cli.string
            return Answer(end.value, tape.out, tape.err)

    def _view(self) -> Viewpoint:
        every = {at for it in self._realm.processes for at in it.server.addresses}
        return Viewpoint(
            frozenset(it.plain for it in every if self._is_cut(it.host)), self._version
        )


class SimDatabases:
    """The databases of a realm, as one operator process reaches them."""

    def __init__(self, realm: Realm, network: Network, clock: Clock, is_cut: IsCut) -> None:
        self._realm = realm
        self._network = network
        self._clock = clock
        self._is_cut = is_cut
        self._consoles: dict[ObjectKey, SimConsole] = {}

    def reach(self, cluster: ObjectKey, connection: ConnectionString, version: Version) -> Admin:
        """Return the database of a cluster, found by this from now on; nobody is asked yet."""
        if cluster not in self._consoles:
            self._consoles[cluster] = SimConsole(
                self._realm, self._network, self._clock, self._is_cut
            )
        console = self._consoles[cluster]
        console.find_by(connection, version)
        return Fdbcli(console)

    def lacking(self, version: Version) -> str:
        """Return nothing: programs of every version are there."""
        del version
        return ""

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of what was kept for a cluster that is gone."""
        self._consoles.pop(cluster, None)


def refusal(kind: Kind, call: Asked) -> PeerError | None:
    """Return how fdbcli ends without having done anything."""
    match kind:
        case Kind.CONFLICT if call.writes:
            return DatabaseSilent("the database is not available, and was not changed")
        case Kind.UNAVAILABLE:
            return DatabaseSilent(f"{call}: the database is not available")
        case Kind.TIMED_OUT if not call.writes:
            return DatabaseSilent(f"{call}: no answer in time")
        case Kind.OVERLOADED | Kind.FAILED:
            return ProgramUnusable("fdbcli could not be started: no memory is left")
        case Kind.UNAUTHORIZED:
            return DatabaseRefused(Refusal.NO_TLS, "a certificate must be shown")
        case Kind.CONFUSED if not call.writes:
            return PeerConfused("the answer was cut in the middle")
        case _:
            return None


def _narrow(document: Json) -> str:
    """Return a status without blanks: nobody looks at it, and it is asked for all the time."""
    return encode(document).decode()
