"""Programs that are run beside a cluster file of our own, each in its turn and with a deadline."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.core.clock import Clock
from stateward.core.peers.meeting import Side
from stateward.core.version import Version
from stateward.fdb.admin import running
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.binaries import Binaries, check_version
from stateward.fdb.admin.clusterfile import ClusterFile
from stateward.fdb.admin.costs import End, Meter, Uncounted, command_of, end_of
from stateward.fdb.admin.errors import PrintsTooMuch, ProgramUnusable
from stateward.fdb.admin.keyed.optimistic import PROGRAM
from stateward.fdb.admin.running import Call
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import LOG_GROUP

#: Seconds within which a program says its version.
_SOON: Final = 20.0
#: The module that stands for it where FoundationDB is real.
_KEYS: Final = "stateward.fdb.admin.native.fdbkeys"
#: What variables call the files of TLS.
_FILES: Final = ("CERTIFICATE", "KEY", "CA")
#: Whatever would have programs load libraries of other versions, or look elsewhere.
_UNWANTED: Final = ("FDB_NETWORK_OPTION_", "FDB_CLUSTER_FILE")
#: Where Python looks for what is imported; an empty part is the folder that one is in.
_IMPORTED: Final = "PYTHONPATH"


@dataclass(frozen=True, slots=True)
class Tls:
    """The files by which we prove who we are, and believe others."""

    certificate: Path
    key: Path
    authority: Path
    verify_peers: str = ""

    @classmethod
    def told(cls, environment: Mapping[str, str]) -> Tls | None:
        """Return the files that variables name, as FoundationDB's programs read them; or None."""
        certificate, key, authority = (environment.get(f"FDB_TLS_{it}_FILE") for it in _FILES)
        if not (certificate and key and authority):
            return None
        rules = environment.get("FDB_TLS_VERIFY_PEERS", "")
        return cls(Path(certificate), Path(key), Path(authority), rules)

    def read(self) -> Side | None:
        """Return what the files hold now; None: they cannot be read, as who uses them will say."""
        try:
            texts = [it.read_bytes() for it in (self.certificate, self.key, self.authority)]
        except OSError:
            return None
        return Side(*texts)

    def environment(self) -> dict[str, str]:
        """Return what FoundationDB's programs read."""
        found = {
            "FDB_TLS_CERTIFICATE_FILE": str(self.certificate),
            "FDB_TLS_KEY_FILE": str(self.key),
            "FDB_TLS_CA_FILE": str(self.authority),
        }
        return found | ({"FDB_TLS_VERIFY_PEERS": self.verify_peers} if self.verify_peers else {})


@dataclass(frozen=True, slots=True)
class Shared:
    """What all databases have in common: programs, turns, the clock, and who counts the costs."""

    binaries: Binaries
    turns: Turns
    clock: Clock
    meter: Meter = field(default_factory=Uncounted)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Session:
    """One database and the programs of its version."""

    def __init__(
        self, shared: Shared, whose: str, version: Version, tls: Tls | None = None
    ) -> None:
        self._shared = shared
        self._whose = whose
        self._version = version
        self._tls = tls
        self._kept = ClusterFile()
        self._checked: set[str] = set()

    @property
    def file(self) -> Path:
        """The cluster file."""
        return self._kept.path

    def now(self) -> float:
        """Return what time it is."""
        return self._shared.clock.now()

    def close(self) -> None:
        """Remove the folder."""
        self._kept.close()

    def find_by(self, connection: ConnectionString) -> None:
        """Find the database by this from now on."""
        self._kept.find_by(connection)

    def found_by(self) -> ConnectionString:
        """Return how it is found, as far as programs were told."""
        return self._kept.found_by()

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a program in its turn, perhaps with something to read.

        Raise PrintsTooMuch, or ProgramUnusable if it was not run.
        """
        own = self._own(program)
        path = self._shared.binaries.find(program, self._version) if own is None else None
        began = self._shared.clock.monotonic()
        async with self._shared.turns.take(self._whose):
            self._shared.meter.waited(self._shared.clock.monotonic() - began)
            if path is not None:
                await self._check(path, _changed(path))
            argv = [*(own or [str(path)]), *words]
            return await self._run(program, argv, seconds, typed)

    def _own(self, program: str) -> list[str] | None:
        """Return how the program for keys is run where FoundationDB is real, which has none.

        None: it is to be found, as all others are.
        """
        binaries = self._shared.binaries
        if program != PROGRAM or binaries.has(program, self._version):
            return None
        library = binaries.find_library(self._version)
        if library is None:
            raise ProgramUnusable(
                binaries.missing("libfdb_c.so", self._version),
                hint="put it beside fdbcli; `stateward local get-fdb` fetches it",
            )
        return [sys.executable, "-P", "-m", _KEYS, "--library", str(library)]

    async def _check(self, program: Path, changed: int) -> None:
        """See once that it is of the version that we take it for."""
        known = f"{program} {changed}"
        if known in self._checked:
            return
        try:
            answer = await self._run(program.name, [str(program), "--version"], _SOON)
        except PrintsTooMuch as error:
            raise ProgramUnusable(error.message) from None  # nothing was asked of it yet
        if not answer.in_time:
            raise ProgramUnusable(f"{program} --version must answer within {_SOON:g} s")
        check_version(answer.out, self._version, str(program))
        self._checked.add(known)

    async def _run(
        self, program: str, argv: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        call = Call(argv, self._environment(), self._kept.folder, seconds, typed=typed)
        began = self._shared.clock.monotonic()
        end, cpu = End.GIVEN_UP, 0.0
        try:
            answer, cost = await running.run(call)
            end, cpu = end_of(answer), cost.cpu
        except ProgramUnusable:
            end = End.UNUSABLE
            raise
        finally:
            wall = self._shared.clock.monotonic() - began
            self._shared.meter.ended(program, command_of(argv[1:]), end, wall, cpu)
        return answer

    def _environment(self) -> dict[str, str]:
        kept = self._shared.environment.items()
        found = {name: it for name, it in kept if not name.startswith(_UNWANTED)}
        found["HOME"] = str(self._kept.folder)  # fdbcli keeps a history there
        # Programs of ours are found from here, and are run elsewhere.
        if path := found.get(_IMPORTED):
            parts = (str(Path(it).absolute()) for it in path.split(os.pathsep))
            found[_IMPORTED] = os.pathsep.join(parts)
        # We are clients, too, and the old one until a version has changed: nobody waits for us.
        found[f"{_UNWANTED[0]}TRACE_LOG_GROUP"] = LOG_GROUP
        return found | (self._tls.environment() if self._tls else {})


def _changed(program: Path) -> int:
    """Return when a program was written; 0: it went just now, and running it will tell."""
    try:
        return program.stat().st_mtime_ns
    except OSError:
        return 0
