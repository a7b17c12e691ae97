"""A real control plane as processes: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.

They listen on loopback alone, know each other by certificates and tokens that only this user can
read, and end with the block. What a killed one left running, the next one in the folder ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from stateward.core.chance import Chance
from stateward.core.errors import StatewardError, UsageError
from stateward.core.ports import Ports
from stateward.kube.http.access import BearerToken, ClusterAccess, PemFile, TlsMaterial
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES
from stateward.local.agent import orphans
from stateward.local.agent.life.tools import given_up
from stateward.local.agent.processes import Launch, LocalRunner, Process
from stateward.local.real import doors, programs, words
from stateward.local.real.programs import Part
from stateward.local.real.saying import SaidFile, last_line
from stateward.local.server.identity import identity, kubeconfig_text, write_secret

#: Seconds for the API server to answer after its start, and for a program to end when asked.
_START: Final = 60.0
_STOP: Final = 10.0
_STEP: Final = 0.1
#: A folder that nobody named goes with the cluster.
_KEPT: Final = "with --data DIR all that it said is kept, in DIR/plane/log"

ETCD: Final = "etcd"
API: Final = "kube-apiserver"
MANAGER: Final = "kube-controller-manager"
SCHEDULER: Final = "kube-scheduler"


@dataclass(frozen=True, slots=True)
class PlaneTerms:
    """What a control plane is asked to be."""

    release: Part = programs.KUBERNETES
    etcd: Part = programs.ETCD
    port: int = 0
    #: Names of controllers, as kube-controller-manager understands them.
    controllers: str = words.CONTROLLERS
    schedules: bool = True
    #: More words for a program, by its name.
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Plane:
    """A control plane that runs; its parts can be stopped and started one by one."""

    def __init__(self, root: Path, ports: Ports, terms: PlaneTerms | None = None) -> None:
        self._root = root
        self._ports = ports
        self._terms = terms or PlaneTerms()
        self._where = _found(self._terms)
        self._name, self._records = orphans.owned(root, ports.chance.stream("plane"))
        orphans.private(root / "log")
        self._papers = root / "identity"
        self._who = identity(ports.clock.now(), self._papers)
        self._runner = LocalRunner(self._name, self._records)
        self._doors = _doors(self._terms, ports.chance.stream("doors"))
        self._running: dict[str, Process] = {}
        self.kubeconfig = root / "kubeconfig"

    @property
    def url(self) -> str:
        """Where the API server is."""
        return f"https://127.0.0.1:{self._doors.api}"

    @property
    def etcd_url(self) -> str:
        """Where etcd is; it wants our certificate."""
        return f"https://127.0.0.1:{self._doors.etcd}"

    @property
    def papers(self) -> Path:
        """The folder with ca.crt, server.crt, server.key and the token."""
        return self._papers

    @property
    def access(self) -> ClusterAccess:
        """How clients reach it, as one who may do everything."""
        tls = TlsMaterial(authority=PemFile(self._papers / "ca.crt"))
        return ClusterAccess(self.url, tls=tls, credentials=BearerToken(self._who.token))

    def log(self, part: str) -> Path:
        """Return the file with what a program said."""
        return self._root / "log" / f"{part}.log"

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Plane, None]:
        """Run it for the length of a block."""
        await orphans.sweep(self._name, self._records, self._ports.clock)
        doors.check_free(self._doors.api)
        text = kubeconfig_text(self.url, self._who.token, self._who.authority)
        write_secret(self.kubeconfig, text.encode())
        write_secret(
            self._papers / "tokens.csv", f"{self._who.token},admin,admin,system:masters\n".encode()
        )
        try:
            self.start(ETCD)
            self.start(API)
            await self.until_ready()
            if self._terms.controllers:
                self.start(MANAGER)
            if self._terms.schedules:
                self.start(SCHEDULER)
            yield self
        finally:
            for name in (SCHEDULER, MANAGER, API, ETCD):
                await self.stop(name)
            await orphans.sweep(self._name, self._records, self._ports.clock)

    def start(self, name: str) -> None:
        """Start one of its programs."""
        argv = (str(self._where[name]), *self._words(name), *self._terms.extra.get(name, ()))
        env = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
        launch = Launch(argv, env, self._root, name)
        self._running[name] = self._runner.start(launch, SaidFile(self.log(name)))

    @property
    def parts(self) -> tuple[str, ...]:
        """The programs that were started."""
        return tuple(self._running)

    async def wait(self, name: str) -> int:
        """Return the exit code of a program once it ended; below 0 the signal that killed it."""
        return await self._running[name].wait()

    async def stop(self, name: str, number: int = signal.SIGTERM) -> None:
        """End one of its programs, if it runs."""
        process = self._running.pop(name, None)
        if process is None:
            return
        process.signal(number)
        try:
            async with asyncio.timeout(_STOP):
                await process.wait()
        except TimeoutError:
            process.signal(signal.SIGKILL)
            await process.wait()

    async def ended(self) -> str:
        """Return the name of the first program that ends by itself."""
        waits = {asyncio.create_task(self.wait(name)): name for name in self.parts}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return waits[done.pop()]
        finally:
            await given_up(waits)

    async def until_ready(self) -> None:
        """Wait until the API server serves; raise UsageError when a program ends before."""
        served = asyncio.create_task(self._until_served())
        ended = asyncio.create_task(self.ended())
        try:
            async with asyncio.timeout(_START):
                await asyncio.wait((served, ended), return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise UsageError(
                f"kube-apiserver must answer within {_START:g} s of its start:"
                f" {last_line(self.log(API))}",
                hint=_KEPT,
            ) from None
        finally:
            await given_up((served, ended))
        if served.done() and not served.cancelled():
            served.result()
        if not ended.cancelled():
            name = ended.result()
            raise UsageError(
                f"{name} ended at its start, and must run: {last_line(self.log(name))}",
                hint=_KEPT,
            )

    async def _until_served(self) -> None:
        clock = self._ports.clock
        async with HttpClient(self.access, clock, self._ports.chance) as client:
            while True:
                try:
                    await client.get(NAMESPACES, ObjectKey("", "default"))
                except StatewardError:
                    await clock.sleep(_STEP)
                else:
                    return

    def _words(self, name: str) -> list[str]:
        papers, (etcd, peer, own) = self._papers, self._doors
        if name == ETCD:
            return words.etcd(papers, self._root / "etcd", etcd, peer)
        if name == API:
            return words.api_server(papers, self.etcd_url, own)
        if name == MANAGER:
            return words.manager(papers, self.kubeconfig, self._terms.controllers)
        return words.scheduler(self.kubeconfig)


class _Doors(NamedTuple):
    """Where its programs listen."""

    etcd: int
    peer: int
    api: int


def _doors(terms: PlaneTerms, chance: Chance) -> _Doors:
    own = terms.port or doors.free(chance)
    etcd = doors.free(chance, [own])
    return _Doors(etcd, doors.free(chance, [own, etcd]), own)


def _found(terms: PlaneTerms) -> dict[str, Path]:
    wanted = {
        ETCD: terms.etcd,
        API: terms.release,
        MANAGER: programs.KUBERNETES,
        SCHEDULER: programs.KUBERNETES,
    }
    found = {name: programs.find(part, name) for name, part in wanted.items()}
    if missing := sorted(name for name, it in found.items() if it is None):
        raise UsageError(
            f"a real control plane needs {', '.join(missing)} on this machine",
            hint="`make real` builds what is missing; or name a folder in KUBEBUILDER_ASSETS",
        )
    return {name: it.path for name, it in found.items() if it is not None}
