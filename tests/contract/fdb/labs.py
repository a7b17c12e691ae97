"""A database that scenarios are played on, whatever it is: the model, its programs, the real ones.

Ten processes, as in the recordings: ``storage-1`` to ``-5``, ``log-1`` to ``-3``, ``stateless-1`` and
``-2``; the first three coordinate. All that a scenario does to them is here, and it asks by the
operator's own ports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fakes.fdb_binding import FakeFdb
from fakes.fdb_databases import come_back, lose, names, server, unconfigured
from stateward.core.clock import SystemClock
from stateward.core.facts import Known, Unknown
from stateward.emulate.fdb.backups.agent import MemoryAgent
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.console import Console as ModelConsole
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.emulate.fdb.servers import Disk
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.backups.programs import ProgramBackups, ProgramRestores
from stateward.fdb.admin.errors import DatabaseSilent
from stateward.fdb.admin.fdbcli import Console, Fdbcli
from stateward.fdb.admin.keys import Keys
from stateward.fdb.admin.native.binding import BindingKeys
from stateward.fdb.admin.native.library import API_VERSION
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.status import health, processes
from stateward.fdb.status.reading import Status

DOUBLE = Configuration(redundancy="double", storage_engine="ssd-2", logs=2)
#: How long, in seconds of the database, anything may take that is to happen at all.
PATIENCE = 180.0


def value(fact: Any) -> Any:
    """Return what is known; "?" stands for what is not, and what is no fact for itself."""
    if isinstance(fact, Unknown):
        return "?"
    return fact.value if isinstance(fact, Known) else fact


def group(status: Status, name: str) -> tuple[processes.Reporting, ...]:
    """Return the processes of a name; none where nobody knows all of them."""
    found = value(processes.roster(status))
    return () if found == "?" else tuple(found.groups.get(name, ()))


def there(name: str) -> Callable[[Status], Any]:
    """Return a question: is this process there?"""

    def ask(status: Status) -> Any:
        found = value(processes.roster(status))
        return found if found == "?" else name in found.groups

    return ask


class Lab(ABC):
    """Ten processes, and the operator's own way to talk to their database."""

    admin: Fdbcli
    #: What it is: "model", "programs" or "real".
    kind = "model"
    #: Seconds of the database between two looks.
    look = 1.0

    @abstractmethod
    def at(self, name: str) -> Address:
        """Return where a process listens."""

    @abstractmethod
    async def pass_by(self, seconds: float) -> None:
        """Let time of the database go by."""

    @abstractmethod
    async def lose(self, *lost: str) -> None:
        """Kill processes for good."""

    @abstractmethod
    async def come_back(self, *back: str) -> None:
        """Start them again, as they were."""

    @abstractmethod
    async def return_as(
        self, name: str, *, kind: str = "", wiped: bool = False, moved: bool = False
    ) -> None:
        """Start one that is lost again: as another class, with an empty disk, or elsewhere."""

    @abstractmethod
    async def freeze(self, name: str) -> None:
        """Let a process stand still: it is there, and nobody hears of it."""

    @abstractmethod
    async def typed(self, line: str, seconds: float = 20) -> Answer:
        """Return what fdbcli answers to a line."""

    # ------------------------------------------------------------------ backups

    @property
    @abstractmethod
    def place(self) -> str:
        """The URL below which backups of this lab may be."""

    @abstractmethod
    def run_by(self) -> Console:
        """Return who runs programs for its database."""

    @property
    def backups(self) -> ProgramBackups:
        """Its backups."""
        return ProgramBackups(self.run_by())

    @property
    def restores(self) -> ProgramRestores:
        """Its restores."""
        return ProgramRestores(self.run_by())

    @abstractmethod
    async def work(self, *agents: str) -> None:
        """Have agents run that do the work of backups."""

    @abstractmethod
    async def kill(self, *agents: str) -> None:
        """Kill some of them, whatever they do."""

    @abstractmethod
    def block(self, *, blocked: bool) -> None:
        """Have nothing be written to the place, or be writable again."""

    @abstractmethod
    def other(self) -> Fdbcli:
        """Return a second one who administers it, with the cluster file of the beginning."""

    @property
    @abstractmethod
    def keys(self) -> Keys:
        """Its keys in transactions; a scenario for which there is no library is skipped."""

    async def create(self) -> None:
        """Make the database, and wait until somebody has looked at its data."""
        await self.admin.create(DOUBLE)
        await self.sees(health.is_fully_replicated, True)

    async def sees(
        self, question: Callable[[Status], Any], wanted: object, within: float = PATIENCE
    ) -> Status:
        """Wait until a status answers a question so; return that status."""
        left, found = within, None
        while left > 0:
            with suppress(DatabaseSilent):  # whoever is asked may just be changing
                status = await self.admin.status()
                found = value(question(status))
                if found == wanted:
                    return status
            await self.pass_by(self.look)
            left -= self.look
        raise AssertionError(f"it is {found!r} after {within:g} s, and should be {wanted!r}")

    async def writes(self) -> bool:
        """Tell whether something can be written right now."""
        answer = await self.typed("writemode on; set tried 1", 5)
        return answer.code == 0 and "Committed" in answer.out


class ModelLab(Lab):
    """The model in memory, on its own time."""

    def __init__(self) -> None:
        self.database = unconfigured()
        self._files = MemoryFiles()
        self._console = ModelConsole(self.database, self._restart, self._files)
        self._agents: dict[str, MemoryAgent] = {}
        self.admin = Fdbcli(self._console)
        self._keys: Keys = ModelKeys(self.database)

    def use(self, keys: Keys) -> None:
        """Have keys in another way."""
        self._keys = keys

    @property
    def place(self) -> str:
        return "file:///backups"

    def run_by(self) -> Console:
        return self._console

    async def work(self, *agents: str) -> None:
        for name in agents:
            self._agents[name] = MemoryAgent(AgentSeen(name), self._files)
        await self.pass_by(1)

    async def kill(self, *agents: str) -> None:
        for name in agents:
            agent = self._agents.pop(name)
            agent.take(self.database)  # and it dies with that
            agent.leave(self.database)

    def block(self, *, blocked: bool) -> None:
        self._files.is_away = lambda _path: blocked

    def _restart(self, address: str) -> None:
        found = [it for it in names() if server(it).address.plain == address]
        lose(self.database, *found)
        come_back(self.database, *found)

    def at(self, name: str) -> Address:
        return server(name).address

    async def pass_by(self, seconds: float) -> None:
        until = self.database.now + seconds
        while self._agents and self.database.now < until:
            self.database.advance(min(until, self.database.now + 1))
            for it in self._agents.values():
                it.step(self.database)
        self.database.advance(until)

    async def lose(self, *lost: str) -> None:
        lose(self.database, *lost)

    async def come_back(self, *back: str) -> None:
        come_back(self.database, *back)

    async def return_as(
        self, name: str, *, kind: str = "", wiped: bool = False, moved: bool = False
    ) -> None:
        found = server(name, self.database.now, Disk("f" * 32) if wiped else None)
        if kind:
            found.told_class = ProcessClass(kind)
        if moved:
            found.addresses = (Address("127.0.9.9", 4501),)
        self.database.join(found)

    async def freeze(self, name: str) -> None:
        lose(self.database, name)

    async def typed(self, line: str, seconds: float = 20) -> Answer:
        words = ["-C", "fdb.cluster", "--exec", line, "--timeout", str(seconds)]
        return await self._console.run("fdbcli", words, seconds)

    def other(self) -> Fdbcli:
        return Fdbcli(ModelConsole(self.database))

    @property
    def keys(self) -> Keys:
        return self._keys

    async def create(self) -> None:
        await self.admin.create(DOUBLE)
        self.database.shards.fill(60_000_000)
        await self.pass_by(60)


@asynccontextmanager
async def model_lab() -> AsyncIterator[Lab]:
    """Have the model in memory."""
    yield ModelLab()


@asynccontextmanager
async def program_lab() -> AsyncIterator[Lab]:
    """Have the same, with keys by a program that reads, or writes if nothing was changed."""
    lab = ModelLab()
    lab.use(lab.admin)
    yield lab


@asynccontextmanager
async def bound_lab() -> AsyncIterator[Lab]:
    """Have the same, with keys by our adapter of the binding, on a module in its shape."""
    lab = ModelLab()
    module = FakeFdb(lab.database)
    module.api_version(API_VERSION)
    keys = BindingKeys(module, SystemClock(), seconds=2.0)
    keys.find_by(lab.database.string)
    lab.use(keys)
    try:
        yield lab
    finally:
        keys.close()
