"""The stand-in with the operations of ``fakes.etcds``: what a story does to processes and disks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from fakes.etcds import PATIENCE, Release
from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.emulate.etcd.member import EmulatedDialer
from stateward.emulate.etcd.servers import Exit, Server, Start
from stateward.emulate.etcd.state import Disk
from stateward.emulate.etcd.universe import Universe
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.port import Endpoint
from stateward.etcd.model.members import AlarmKind
from stateward.local.real import programs
from stateward.sim.loop import EPOCH


class LoopClock(SystemClock):
    """The time of the running loop, also for people."""

    def now(self) -> float:
        return EPOCH + self.monotonic()


class StandIn:
    """One member: its addresses, its disk, and its process while it runs."""

    security = None

    def __init__(self, release: Release, name: str, universe: Universe, number: int) -> None:
        self.release, self.name, self.universe = release, name, universe
        self.address, self.client_port = f"10.0.0.{number}", 2379
        self.disk = Disk()
        self.server: Server | None = None
        self._exit: int | None = None

    @property
    def peer_url(self) -> str:
        return f"http://{self.address}:2380"

    def endpoint(self, **terms: object) -> Endpoint:
        """Return where and how it is dialled."""
        return Endpoint(self.address, self.client_port, **terms)  # type: ignore[arg-type]

    def start(self, initial: str, state: str = "new", *more: str) -> None:
        """Run it with an initial cluster, or again on what it has."""
        told = dict(it.removeprefix("--").split("=") for it in more)
        start = Start(
            name=self.name,
            address=self.address,
            peer_url=self.peer_url,
            client_url=f"http://{self.address}:{self.client_port}",
            initial=tuple(
                (n, url) for n, _, url in (it.partition("=") for it in initial.split(","))
            ),
            existing=state == "existing",
            token=told.get("initial-cluster-token", ""),
            force="force-new-cluster" in told,
            strict="strict-reconfig-check" not in told,
            version=programs.order(self.release.version),  # type: ignore[arg-type]
        )
        self._exit = None
        self.server = self.universe.launch(start, self.disk, self._ended, lambda: None)

    def _ended(self, ending: Exit) -> None:
        self._exit = ending.code

    async def wait(self, *codes: int) -> None:
        """Wait until it says that it is healthy, or one of the given codes."""
        ends = asyncio.get_running_loop().time() + PATIENCE
        while self._health() not in (codes or (200,)):
            assert self.ended() is None, f"{self.name} ended: {self.ended()}"
            assert asyncio.get_running_loop().time() < ends, f"{self.name} is not there"
            await asyncio.sleep(0.02)

    def _health(self) -> int:
        server = self.server
        if server is None or not server.speaks or server.hung:
            return 0
        return 200 if server.hears else 503

    def kill(self) -> None:
        """End it as a power cut does."""
        self._stop(gently=False)

    def stop(self) -> None:
        """Ask it to end."""
        self._stop(gently=True)

    def _stop(self, *, gently: bool) -> None:
        if self.server is not None:
            self.universe.stop(self.server, gently=gently)
            self.server = None

    def wipe(self) -> None:
        """Lose its disk."""
        self.disk.wipe()

    def ended(self) -> int | None:
        """Return with which code it ended by itself; None while it runs."""
        return self._exit

    def hang(self) -> None:
        """Let it stand still."""
        assert self.server is not None
        self.universe.hang(self.server)

    def wake(self) -> None:
        """Let it go on."""
        assert self.server is not None
        self.universe.hang(self.server, hung=False)


@dataclass(slots=True)
class StandIns:
    """Members that were started together, and those that join later."""

    release: Release
    members: dict[str, StandIn] = field(default_factory=dict)
    seed: int = 7
    universe: Universe = field(init=False)

    def __post_init__(self) -> None:
        self.universe = Universe(LoopClock(), Chance(self.seed, "contract"))

    def __getitem__(self, name: str) -> StandIn:
        return self.members[name]

    async def begin(self, names: str, *flags: str) -> None:
        """Run one healthy member for each letter."""
        for name in names:
            self.prepare(name)
        for name in names:
            self[name].start(self.initial(), "new", *flags)
        for name in names:
            await self[name].wait()

    def prepare(self, name: str) -> StandIn:
        """Return a member that does not run yet."""
        number = len(self.members) + 1
        self.members[name] = StandIn(self.release, name, self.universe, number)
        return self.members[name]

    def initial(self) -> str:
        return ",".join(f"{it.name}={it.peer_url}" for it in self.members.values())

    def dialer(self, deadlines: Deadlines | None = None) -> EmulatedDialer:
        """Return the way to its members."""
        return EmulatedDialer(self.universe, deadlines)

    def raise_alarm(self, whose: int, kind: AlarmKind) -> None:
        """Have a member raise an alarm."""
        server = next(it for it in self.universe.servers if it.member_id == whose)
        self.universe.raise_alarm(server, kind)
