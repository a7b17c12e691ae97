"""What runs in a pod of FoundationDB: a keeper, and the processes that it keeps.

A new configuration ends no process of a unified image: it is what the next start goes by. What ends
is started again; only the pod itself is not restarted for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.core.chance import Chance
from stateward.emulate.fdb.programs import flags
from stateward.emulate.fdb.programs.fdbserver import KNOWN, asked_of
from stateward.emulate.fdb.programs.flags import Misunderstood, Told
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model.connection import ConnectionString
from stateward.sim.fdb.keepers import Keeper, Order
from stateward.sim.fdb.realm import Process, Realm, Volume
from stateward.sim.loop import SimClock, SimLoop

#: Seconds until a process that is to start runs.
_STARTING: Final = (0.1, 0.6)
#: Codes with which a process ends that was told nonsense, or has no cluster file.
_WRONG, _NO_FILE = 1, 10


@dataclass(frozen=True, slots=True)
class Ground:
    """What every program stands on."""

    loop: SimLoop
    realm: Realm

    @property
    def now(self) -> float:
        """The time of day."""
        return SimClock(self.loop).now()


class Unstartable(Exception):
    """A process ends as soon as it begins, with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"ends with {code}")
        self.code = code


@dataclass(slots=True, eq=False)
class Child:
    """A process that is kept: it runs, or waits for its next start."""

    name: str
    process: Process | None = None
    started: float = 0.0
    starts: int = 0


@dataclass(slots=True, eq=False)
class FdbProgram:
    """Keeps the processes of one pod."""

    ground: Ground
    keeper: Keeper
    volume: Volume
    chance: Chance
    address: str
    children: dict[str, Child] = field(default_factory=dict)
    isolated: bool = False
    stopped: bool = False

    @property
    def ready(self) -> bool:
        """Whether its readiness probe succeeds: the keeper runs, whatever it keeps."""
        return not self.stopped

    def stop(self, *, gently: bool) -> None:  # noqa: ARG002 - processes of a database need no farewell
        """End everything."""
        self.stopped = True
        for name in [*self.children]:
            self._drop(name)

    def isolate(self, *, isolated: bool) -> None:
        """End all processes and start none, or start them again."""
        self.isolated = isolated
        if isolated:
            for name in [*self.children]:
                self._drop(name)
        self.adopt()

    def adopt(self) -> None:
        """Have what is ordered now: who runs goes on as it is."""
        if self.stopped:
            return
        orders = {} if self.isolated else self.keeper.orders()
        if self.keeper.drops:
            for name in [it for it in self.children if it not in orders]:
                self._drop(name)
        for name in orders:
            if name not in self.children:
                self.children[name] = Child(name)
                self._start_soon(self.children[name])

    # ------------------------------------------------------------------ one process

    def _drop(self, name: str) -> None:
        child = self.children.pop(name)
        if child.process is not None:
            self.ground.realm.stop(child.process)
            child.process = None

    def _start_soon(self, child: Child, pause: float = 0.0) -> None:
        child.starts += 1
        number = child.starts

        def start() -> None:
            current = self.children.get(child.name) is child and child.starts == number
            if current and not self.stopped and child.process is None:
                self._start(child)

        self.ground.loop.call_outside(pause + self.chance.between(*_STARTING), start)

    def _start(self, child: Child) -> None:
        order = self.keeper.orders().get(child.name)
        if order is None:
            del self.children[child.name]  # it is wished for no longer; or not yet again
            return
        child.started = self.ground.now
        try:
            child.process = self._process(order, lambda code: self._ended(child, code))
        except Unstartable as error:
            self._ended(child, error.code)
        else:
            self.ground.realm.start(child.process)

    def _ended(self, child: Child, code: int) -> None:
        child.process = None
        pause = self.keeper.pause(child.name, code, self.ground.now - child.started)
        if self.children.get(child.name) is child:
            self._start_soon(child, pause)

    def _process(self, order: Order, ended: Callable[[int], None]) -> Process:
        try:
            told = flags.read(order.words, KNOWN)
            file = told.values.get("cluster_file", "fdb.cluster")
            asked = asked_of(told, Path(file))
        except (Misunderstood, ValueError) as error:
            raise Unstartable(_WRONG) from error
        self._seed(file, told)
        server = Server(
            asked.addresses,
            self._disk(str(asked.folder)),
            asked.process_class,
            asked.localities,
            order.version,
            order.command_line,
            started=self.ground.now,
        )
        certified = self.keeper.certified
        self.ground.realm.begin(server, certified=certified)
        if any(it.tls for it in server.addresses) and not certified:
            raise Unstartable(_WRONG)
        return Process(server, self.volume, file, ended, certified=certified)

    def _seed(self, file: str, told: Told) -> None:
        """See that there is a cluster file: the newest one on the volume, else what was given."""
        if file in self.volume.cluster_files:
            return
        text = told.values.get("seed_connection_string", "")
        given = self.keeper.file(file)
        if given is None and (seed := told.values.get("seed_cluster_file", "")):
            given = self.keeper.file(seed)
        try:
            found = ConnectionString.parse(text or (given or b"").decode())
        except ValueError as error:
            raise Unstartable(_NO_FILE) from error
        self.volume.cluster_files[file] = found

    def _disk(self, folder: str) -> Disk:
        disks = self.volume.disks
        if folder not in disks:
            disks[folder] = Disk(
                self.chance.stream(f"{folder} at {self.ground.now}").uuid().replace("-", "")
            )
        return disks[folder]
