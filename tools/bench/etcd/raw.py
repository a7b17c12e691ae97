"""The reference: etcd processes that are driven directly, as fast as etcd lets anybody.

No Kubernetes, no operator, no probes: a tight loop that asks again at once when etcd refuses. What
this takes is etcd's own starts, elections and refusal windows; nobody can be faster.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from stateward.core.errors import PeerError
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Endpoint, MemberApi
from tools.bench.ports import free_ports

#: From a hundred entries of the log on, 3.6 sends whoever joins a snapshot, as with real data.
KEYS = 200
#: Seconds between two tries, and until a step is given up.
TIGHT, PATIENCE = 0.01, 90.0
_ENDING = 10.0


async def until(what: str, act: Callable[[], Awaitable[bool]]) -> None:
    """Try again at once until it is true; a refusal by etcd is just not yet."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(PeerError):
                if await act():
                    return
            await asyncio.sleep(TIGHT)
    raise AssertionError(what)


async def fill(door: MemberApi) -> None:
    """Write a few keys, so that a member that joins has something to learn."""
    for number in range(KEYS):
        await door.put(f"bench/{number}".encode(), b"hold fast")


@dataclass(slots=True)
class Member:
    """One process: where it listens, and what it keeps."""

    number: int
    folder: Path
    ports: list[int]
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Return an address of this machine that is this member's own."""
        pid = os.getpid()
        return f"127.{128 + self.number}.{(pid >> 8) & 255}.{(pid & 255) or 1}"

    @property
    def peer_url(self) -> str:
        """Return where other members find it."""
        return f"https://{self.address}:{self.ports[1]}"

    @property
    def entry(self) -> str:
        """Return how an initial cluster names it."""
        return f"member-{self.number}={self.peer_url}"

    def start(self, etcd: Path, initial: str, state: str, *options: str) -> None:
        """Run it, with the flags that the operator's pods have too."""
        client, _, metrics = self.ports
        words = [
            *dying_with_us(),
            str(etcd),
            f"--name=member-{self.number}",
            f"--data-dir={self.folder / 'data'}",
            f"--listen-client-urls=http://{self.address}:{client}",
            f"--advertise-client-urls=http://{self.address}:{client}",
            f"--listen-peer-urls={self.peer_url}",
            f"--initial-advertise-peer-urls={self.peer_url}",
            f"--listen-metrics-urls=http://{self.address}:{metrics}",
            "--peer-auto-tls",
            f"--initial-cluster={initial}",
            f"--initial-cluster-state={state}",
            *options,
        ]
        self.folder.mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    async def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End its process, if it has one."""
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(how)
        await asyncio.to_thread(process.wait, _ENDING)

    def wipe(self) -> None:
        """Lose its disk."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)


@dataclass(slots=True)
class RawCluster:
    """Members by their numbers, from 0."""

    etcd: Path
    folder: Path
    dialer: Connections
    members: dict[int, Member] = field(default_factory=dict)
    #: Seconds that each learner took from its start to its vote.
    starts: list[float] = field(default_factory=list)
    #: Whoever takes a number again listens where the one before did, as pods of a set do.
    _ports: dict[int, list[int]] = field(default_factory=dict)

    def door(self, number: int) -> MemberApi:
        """Return how a client asks a member."""
        it = self.members[number]
        return self.dialer.dial(Endpoint(it.address, it.ports[0]))

    def _prepared(self, number: int) -> Member:
        ports = self._ports.setdefault(number, free_ports(3))
        return Member(number, self.folder / str(number), ports)

    def _initial(self) -> str:
        return ",".join(it.entry for it in self.members.values())

    async def create(self, size: int) -> None:
        """Start so many members with a list of all of them, and wait until each is well."""
        for number in range(size):
            self.members[number] = self._prepared(number)
        for it in self.members.values():
            it.start(self.etcd, self._initial(), "new")
        await self.well()

    async def fill(self) -> None:
        """Write a few keys."""
        await fill(self.door(0))

    async def well(self) -> None:
        """Wait until every member has a vote and answers after asking a majority."""
        await asyncio.gather(*(self._well(it) for it in self.members))

    async def _well(self, number: int) -> None:
        async def asked() -> bool:
            roster = await self.door(number).members()
            voters = [it for it in roster.members if it.started and not it.learner]
            return len(voters) == len(roster.members) == len(self.members)

        await until(f"member {number} is well", asked)

    async def grow(self, size: int) -> None:
        """Add learners one by one: added, started, heard, promoted, as soon as etcd takes it."""
        while len(self.members) < size:
            await self._join(self._prepared(len(self.members)))
        await self.well()

    async def _join(self, joining: Member) -> None:
        ids: list[int] = []

        async def added() -> bool:
            ids.append((await self.door(0).add_learner(joining.peer_url)).id)
            return True

        async def heard() -> bool:
            return (await self.door(joining.number).status()).member_id == ids[0]

        async def promoted() -> bool:
            await self.door(0).promote(ids[0])
            return True

        await until("a learner is added", added)
        self.members[joining.number] = joining
        self.members = dict(sorted(self.members.items()))
        began = time.monotonic()
        joining.start(self.etcd, self._initial(), "existing")
        await until("a learner is heard", heard)
        await until("a learner is promoted", promoted)
        self.starts.append(time.monotonic() - began)

    async def shrink(self, size: int) -> None:
        """Remove the highest members, none of them while it leads."""
        while len(self.members) > size:
            number = max(self.members)
            await self._hand_over(number)
            await self._remove(number)
            gone = self.members.pop(number)
            await gone.end()
            gone.wipe()
        await self.well()

    async def _remove(self, number: int) -> None:
        roster = await self.door(0).members()
        url = self.members[number].peer_url
        ids = [it.id for it in roster.members if url in it.peer_urls]

        async def removed() -> bool:
            await self.door(0).remove(ids[0])
            return True

        await until("a member is removed", removed)

    async def _hand_over(self, number: int) -> None:
        status = await self.door(number).status()
        if status.leader != status.member_id:
            return
        heir = next(it for it in self.members if it != number)
        await self.door(number).move_leader((await self.door(heir).status()).member_id)

    async def restart(self, number: int, *options: str) -> None:
        """End a member as a deleted pod ends, start it again, and wait until all are well."""
        await self.members[number].end()
        self.members[number].start(self.etcd, self._initial(), "existing", *options)
        await self.well()

    async def lose_disk(self, number: int) -> None:
        """Kill a member and empty its disk: it is removed and joins as a new one."""
        lost = self.members[number]
        await lost.end(signal.SIGKILL)
        lost.wipe()
        await self._remove(number)
        del self.members[number]
        await self._join(lost)
        await self.well()

    async def roll(self, etcd: Path, *options: str) -> None:
        """Restart every member, the one that leads last and after it handed over."""
        self.etcd = etcd
        leads = (await self.door(0).status()).leader
        ids = {it: (await self.door(it).status()).member_id for it in self.members}
        for number in sorted(self.members, key=lambda it: ids[it] == leads):
            await self._hand_over(number)
            await self.restart(number, *options)


@asynccontextmanager
async def raw_cluster(etcd: Path, folder: Path) -> AsyncGenerator[RawCluster, None]:
    """Give a cluster without members; what is started in it ends with the block."""
    await asyncio.to_thread(folder.mkdir)
    dialer = Connections()
    cluster = RawCluster(etcd, folder, dialer)
    try:
        yield cluster
    finally:
        for it in cluster.members.values():
            await it.end(signal.SIGKILL)
        await dialer.close()


def dying_with_us(how: str = "KILL") -> Iterator[str]:
    """Yield what makes a program end when we are killed and cannot end it."""
    if (tool := shutil.which("setpriv")) is not None:
        yield from (tool, "--pdeathsig", how)
