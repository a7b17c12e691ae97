"""Processes that scenarios are played on: fdbserver and fdbcli of the stand-in, or the real ones.

Their command lines are the same. Each lab has loopback addresses and folders of its own, restarts
what ended with code 0, as fdbmonitor does, and leaves nothing running.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from contract.fdb.labs import Lab
from fakes.fdb_databases import LAYOUT, names
from fakes.orphans import dying_with_us
from stateward.core.clock import SystemClock
from stateward.core.version import Version
from stateward.emulate.fdb.programs import called, shims
from stateward.emulate.fdb.talk import seeker
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.keys import Keys
from stateward.fdb.admin.session import Session, Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

#: Seconds of the stand-in that are one of ours.
PACE = 10.0
_VERSION = Version(7, 3, 79)
_COUNTER = itertools.count()


class ProcessLab(Lab):
    """Ten processes on loopback."""

    def __init__(
        self, folder: Path, programs: Path, pace: float, tls: Mapping[str, str] | None = None
    ) -> None:
        self._folder, self._programs, self._pace = folder, programs, pace
        #: What programs are told of TLS, by the environment; nothing: they speak without.
        self._tls = tls or {}
        self._version = _VERSION
        #: By name: programs of another version than all others have.
        self.versions: dict[str, Path] = {}
        # Workers of one run, and labs of one worker, have addresses of their own.
        self._net = f"127.{60 + os.getpid() % 150}.{next(_COUNTER) % 25 * 10}"
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, list[str]] = {}
        self._sessions: list[Session] = []
        self._agents: dict[str, asyncio.subprocess.Process] = {}
        self.look = 4.0 if pace > 1 else 2.0
        self.kind = "programs" if pace > 1 else "real"
        listed = ",".join(str(self.at(f"storage-{n}")) for n in (1, 2, 3))
        self._string = ConnectionString.parse(f"lab:abcdefgh@{listed}")
        self.admin = self.other()

    def at(self, name: str) -> Address:
        kind, number = name.split("-")
        head, third = self._net.rsplit(".", 1)
        return Address(f"{head}.{int(third) + LAYOUT[kind][0]}.{number}", 4501, bool(self._tls))

    async def pass_by(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._pace)

    # ------------------------------------------------------------------ processes

    async def start(self, *started: str) -> None:
        for name in started:
            home = self._folder / name
            home.mkdir(exist_ok=True)
            if not (home / "fdb.cluster").exists():
                (home / "fdb.cluster").write_text(f"{self._string}\n")
            self._keepers[name] = asyncio.create_task(self._kept(name, await self._run(name)))

    async def _run(self, name: str) -> asyncio.subprocess.Process:
        home, zone = self._folder / name, f"z{name.rpartition('-')[2]}"
        words = [
            *("--cluster-file", str(home / "fdb.cluster"), "--datadir", str(home / "data")),
            *("--logdir", str(home), "--listen-address", "public"),
            *("--locality-dcid", "dc1", "--locality-zoneid", zone, "--locality-machineid", zone),
            *("--locality_instance_id", name),
        ]
        changed = self._changed.get(name, [])
        if "--public-address" not in changed:
            words += ["--public-address", str(self.at(name))]
        if "--class" not in changed:
            words += ["--class", name.partition("-")[0]]
        with (home / "out").open("ab") as out:
            found = await asyncio.create_subprocess_exec(
                *(str(self.versions.get(name, self._programs) / "fdbserver"), *words, *changed),
                env=self._environment(),
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=dying_with_us(),
            )
        self._processes[name] = found
        return found

    async def _kept(self, name: str, process: asyncio.subprocess.Process) -> None:
        """Start one again that was killed by fdbcli."""
        while await process.wait() == 0:
            process = await self._run(name)

    async def lose(self, *lost: str) -> None:
        for name in lost:
            self._keepers.pop(name).cancel()
            process = self._processes.pop(name)
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            await process.wait()

    async def come_back(self, *back: str) -> None:
        await self.start(*back)

    async def return_as(
        self, name: str, *, kind: str = "", wiped: bool = False, moved: bool = False
    ) -> None:
        if wiped:
            shutil.rmtree(self._folder / name / "data")
        other = Address(self.at(name).host, 4511, bool(self._tls))
        self._changed[name] = [
            *(("--class", kind) if kind else ()),
            *(("--public-address", str(other)) if moved else ()),
        ]
        await self.start(name)

    async def freeze(self, name: str) -> None:
        self._processes[name].send_signal(signal.SIGSTOP)

    # ------------------------------------------------------------------ backups

    @property
    def place(self) -> str:
        return f"file://{self._folder / 'backups'}"

    def run_by(self) -> Session:
        return self._sessions[0]

    async def work(self, *agents: str) -> None:
        for name in agents:
            home = self._folder / f"agent-{name}"
            home.mkdir(exist_ok=True)
            (home / "fdb.cluster").write_text(f"{self._string}\n")
            with (home / "out").open("ab") as out:
                self._agents[name] = await asyncio.create_subprocess_exec(
                    *(str(self._programs / "backup_agent"), "-C", str(home / "fdb.cluster")),
                    env=self._environment(),
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    preexec_fn=dying_with_us(),
                )
        await asyncio.sleep(2 if self._pace > 1 else 5)  # they are heard of

    async def kill(self, *agents: str) -> None:
        for name in agents:
            process = self._agents.pop(name)
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def agent(self, name: str) -> asyncio.subprocess.Process:
        """Return the process of an agent."""
        return self._agents[name]

    def block(self, *, blocked: bool) -> None:
        """Put a file in the folder's place: root may write whatever is not allowed."""
        place, aside = self._folder / "backups", self._folder / "aside"
        if blocked:
            if place.exists():
                place.rename(aside)
            place.write_text("")
        else:
            place.unlink()
            if aside.exists():
                aside.rename(place)

    @property
    def programs(self) -> Path:
        """Where the programs are."""
        return self._programs

    def seeker(self) -> Seeker:
        """Return one who looks for who controls the cluster; of the stand-in only."""
        speaker = Speaker(called.protocol(), Security.told({}, self._tls))
        return seeker.of_file(self.file, speaker)

    def use_version(self, version: str, programs: Path) -> None:
        """Administer it with programs of another version from now on."""
        string = self._sessions[0].found_by()
        self._programs, self._version = programs, Version.parse(version)
        session = self._session()
        session.find_by(string)
        self._sessions.insert(0, self._sessions.pop())
        self.admin = Fdbcli(session)

    def pid(self, name: str) -> int:
        """Return the process of a name."""
        return self._processes[name].pid

    def said(self, name: str) -> str:
        """Return what a process has printed."""
        return (self._folder / name / "out").read_text()

    def fallen(self) -> dict[str, str]:
        """Return who ended with an error, and what each has printed."""
        return {name: self.said(name) for name, it in self._processes.items() if it.returncode}

    @property
    def folder(self) -> Path:
        """Where all of it is."""
        return self._folder

    @property
    def file(self) -> Path:
        """The cluster file of who administers it."""
        return self._sessions[0].file

    async def end(self) -> None:
        await self.kill(*self._agents)
        for name in list(self._processes):
            with suppress(ProcessLookupError):
                self._processes[name].send_signal(signal.SIGCONT)
        await self.lose(*self._processes)
        for it in self._sessions:
            it.close()

    # ------------------------------------------------------------------ whoever asks

    def _environment(self) -> Mapping[str, str]:
        return {**os.environ, "STATEWARD_FDB_PACE": f"{self._pace:g}", **self._tls}

    def _session(self) -> Session:
        shared = Shared(
            Binaries([self._programs]),
            Turns(4),
            SystemClock(),
            environment=self._environment(),
        )
        found = Session(shared, "lab", self._version)
        found.find_by(self._string)
        self._sessions.append(found)
        return found

    def other(self) -> Fdbcli:
        return Fdbcli(self._session())

    async def typed(self, line: str, seconds: float = 20) -> Answer:
        session = self._sessions[0]
        words = ["-C", str(session.file), "--exec", line, "--timeout", f"{seconds:g}"]
        return await session.run("fdbcli", words, seconds + 10)

    @property
    def keys(self) -> Keys:
        if self._pace == 1 and Binaries([self._programs]).find_library(_VERSION) is None:
            pytest.skip("no libfdb_c of FoundationDB beside its programs")
        return self.admin


@asynccontextmanager
async def process_lab(
    programs: Path | None = None, tls: Mapping[str, str] | None = None, pace: float = PACE
) -> AsyncIterator[ProcessLab]:
    """Have processes: of the stand-in, which lives at a pace, or of a folder with real programs."""
    folder = Path(tempfile.mkdtemp(prefix="stateward-fdb-lab-"))
    if programs is None:
        lab = ProcessLab(folder, shims.install(folder / "bin", str(_VERSION)), pace, tls)
    else:
        lab = ProcessLab(folder, programs, 1.0, tls)
    try:
        await lab.start(*names())
        while "following 10 addresses" not in (await lab.typed("kill", 60)).out:
            assert not (ended := lab.fallen()), f"they ended by themselves: {ended}"
            await lab.pass_by(1)
        yield lab
    finally:
        await lab.end()
        shutil.rmtree(folder, ignore_errors=True)
