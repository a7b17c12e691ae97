"""A real control plane as processes: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.

They listen on loopback alone, know each other by certificates and tokens that only this user can
read, and end with the block. What a killed one left running, the next one in the folder ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.core.errors import StatewardError, UsageError
from stateward.core.ports import Ports
from stateward.kube.http.access import BearerToken, ClusterAccess, PemFile, TlsMaterial
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES
from stateward.local.agent import orphans
from stateward.local.agent.orphans import Records
from stateward.local.agent.processes import Launch, LocalRunner, Process
from stateward.local.real import programs
from stateward.local.real.programs import Part
from stateward.local.server.identity import identity, kubeconfig_text, write_secret

#: Seconds for the API server to answer after its start, and for a program to end when asked.
_START: Final = 60.0
_STOP: Final = 10.0
_STEP: Final = 0.1

_API: Final = "kube-apiserver"
_MANAGER: Final = "kube-controller-manager"
_SCHEDULER: Final = "kube-scheduler"


@dataclass(frozen=True, slots=True)
class PlaneTerms:
    """What a control plane is asked to be."""

    release: Part = programs.KUBERNETES
    port: int = 0
    #: Names of controllers, as kube-controller-manager understands them.
    controllers: str = "*"
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
        self._papers = root / "identity"
        self._who = identity(ports.clock.now(), self._papers)
        self._records = Records(root / "processes")
        self._name = _name(root, ports)
        self._runner = LocalRunner(self._name, self._records)
        self._etcd_ports = (_free_port(), _free_port())
        self._port = self._terms.port or _free_port()
        self._running: dict[str, Process] = {}
        self.kubeconfig = root / "kubeconfig"

    @property
    def url(self) -> str:
        """Where the API server is."""
        return f"https://127.0.0.1:{self._port}"

    @property
    def etcd_url(self) -> str:
        """Where etcd is; it wants our certificate."""
        return f"https://127.0.0.1:{self._etcd_ports[0]}"

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
        text = kubeconfig_text(self.url, self._who.token, self._who.authority)
        write_secret(self.kubeconfig, text.encode())
        write_secret(
            self._papers / "tokens.csv", f"{self._who.token},admin,admin,system:masters\n".encode()
        )
        try:
            self.start("etcd")
            self.start(_API)
            await self.until_ready()
            if self._terms.controllers:
                self.start(_MANAGER)
            if self._terms.schedules:
                self.start(_SCHEDULER)
            yield self
        finally:
            for name in (_SCHEDULER, _MANAGER, _API, "etcd"):
                await self.stop(name)
            await orphans.sweep(self._name, self._records, self._ports.clock)

    def start(self, name: str) -> None:
        """Start one of its programs."""
        log = self.log(name)
        log.parent.mkdir(parents=True, exist_ok=True)
        words = (str(self._where[name]), *self._words(name), *self._terms.extra.get(name, ()))
        env = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
        self._running[name] = self._runner.start(
            Launch(words, env, self._root, name), _LogFile(log)
        )

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
        waits = {asyncio.create_task(it.wait()): name for name, it in self._running.items()}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return waits[done.pop()]
        finally:
            for task in waits:
                task.cancel()

    async def until_ready(self) -> None:
        """Wait until the API server serves; raise UsageError when a program ends before."""
        clock = self._ports.clock
        until = clock.monotonic() + _START
        async with HttpClient(self.access, clock, self._ports.chance) as client:
            while clock.monotonic() < until:
                try:
                    await client.get(NAMESPACES, ObjectKey("", "default"))
                except StatewardError:
                    await clock.sleep(_STEP)
                else:
                    return
        raise UsageError(
            f"kube-apiserver must answer within {_START:g} s of its start",
            hint=f"see {self.log(_API)}",
        )

    def _words(self, name: str) -> list[str]:
        papers = self._papers
        client, peer = self._etcd_ports
        if name == "etcd":
            return _etcd_words(papers, self._root / "etcd", client, peer)
        if name == _API:
            return _api_words(papers, self.etcd_url, self._port)
        words = [
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
        ]
        if name == _MANAGER:
            words += [
                f"--controllers={self._terms.controllers}",
                f"--service-account-private-key-file={papers / 'server.key'}",
                f"--root-ca-file={papers / 'ca.crt'}",
            ]
        return words


def _etcd_words(papers: Path, data: Path, client: int, peer: int) -> list[str]:
    here, there = f"https://127.0.0.1:{client}", f"https://127.0.0.1:{peer}"
    pair = {"cert-file": "server.crt", "key-file": "server.key", "trusted-ca-file": "ca.crt"}
    return [
        f"--data-dir={data}",
        f"--listen-client-urls={here}",
        f"--advertise-client-urls={here}",
        f"--listen-peer-urls={there}",
        f"--initial-advertise-peer-urls={there}",
        f"--initial-cluster=default={there}",
        "--client-cert-auth",
        "--peer-client-cert-auth",
        *(
            f"--{prefix}{it}={papers / name}"
            for prefix in ("", "peer-")
            for it, name in pair.items()
        ),
    ]


def _api_words(papers: Path, etcd: str, port: int) -> list[str]:
    own, key, authority = (papers / it for it in ("server.crt", "server.key", "ca.crt"))
    return [
        f"--etcd-servers={etcd}",
        f"--etcd-cafile={authority}",
        f"--etcd-certfile={own}",
        f"--etcd-keyfile={key}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={own}",
        f"--tls-private-key-file={key}",
        f"--kubelet-client-certificate={own}",
        f"--kubelet-client-key={key}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={own}",
        f"--service-account-signing-key-file={key}",
        f"--token-auth-file={papers / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--allow-privileged",
    ]


class _LogFile:
    """Keeps what a program says."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _found(terms: PlaneTerms) -> dict[str, Path]:
    wanted = {
        "etcd": programs.ETCD,
        _API: terms.release,
        _MANAGER: programs.KUBERNETES,
        _SCHEDULER: programs.KUBERNETES,
    }
    found = {name: programs.find(part, name) for name, part in wanted.items()}
    if missing := sorted(name for name, it in found.items() if it is None):
        raise UsageError(
            f"a real control plane needs {', '.join(missing)} on this machine",
            hint="`make real` builds them with Go; or name their folder in KUBEBUILDER_ASSETS",
        )
    return {name: it.path for name, it in found.items() if it is not None}


def _name(root: Path, ports: Ports) -> str:
    """Return by which name the processes of a folder are known, the same after every restart."""
    path = root / "cluster"
    root.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(ports.chance.stream("plane").uuid())
    return path.read_text().strip()


def _free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port: int = it.getsockname()[1]
        return port
