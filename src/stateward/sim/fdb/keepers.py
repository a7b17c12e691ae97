"""What keeps processes in a pod: the monitor of a unified image, or fdbmonitor and its sidecar.

A keeper has files before it, and says which processes there shall be; it starts none itself.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Protocol

from stateward.core import pems
from stateward.core.chance import Chance
from stateward.core.version import Version
from stateward.emulate.keepers.classic import conf as confs
from stateward.emulate.keepers.classic import pauses
from stateward.emulate.keepers.classic.commands import Command, command_of
from stateward.emulate.keepers.split.substitutions import substituted
from stateward.emulate.keepers.unified import config as configs
from stateward.emulate.keepers.unified import judgement
from stateward.emulate.keepers.unified.backoff import Failures
from stateward.emulate.keepers.unified.judgement import Accepted, House
from stateward.fdb.model import names

#: Where programs are in an image, and where sidecars put others.
_OWN: Final = "/usr/bin/fdbserver"
_SHARED: Final = "/var/fdb/shared-binaries/bin"
MONITOR_CONF: Final = "fdbmonitor.conf"
#: What ``$PID`` stands for: the first process of a container.
_PID: Final = 1


@dataclass(frozen=True, slots=True)
class Order:
    """How a process is started: the program, its words, and of which version it is."""

    program: str
    words: tuple[str, ...]
    version: Version

    @property
    def command_line(self) -> str:
        """What a status says of it."""
        return " ".join((self.program, *self.words))


class Keeper(Protocol):
    """Who knows which processes there shall be."""

    #: Whether they find a certificate to speak TLS with.
    certified: bool
    #: Whether the sidecar has ended and cannot start again yet.
    sidecar_away: bool

    @property
    def drops(self) -> bool:
        """Whether a process is ended that is ordered no longer."""

    def look(self, mounted: Mapping[str, bytes], sidecar: str) -> None:
        """See what is mounted now, by paths; and of which version the sidecar is."""

    def orders(self) -> dict[str, Order]:
        """Return what shall run, by names."""

    def file(self, path: str) -> bytes | None:
        """Return what processes find at a path."""

    def annotations(self) -> dict[str, str]:
        """Return what it says of itself on its own pod."""

    def pause(self, name: str, code: int, lived: float) -> float:
        """Return for how long a process waits that ended with a code after so many seconds."""


@dataclass(slots=True)
class Unified:
    """The monitor: what it accepted last counts at the next start of a process, not before."""

    version: str
    environment: Mapping[str, str]
    processes: int
    #: Where its configuration is.
    config: str
    certified: bool = False
    sidecar_away: bool = False
    accepted: Accepted | None = None
    _mounted: Mapping[str, bytes] = field(default_factory=dict)
    _failures: dict[str, Failures] = field(default_factory=lambda: defaultdict(Failures))

    @property
    def drops(self) -> bool:
        """Whether a process is ended that is ordered no longer: never."""
        return False

    def look(self, mounted: Mapping[str, bytes], sidecar: str) -> None:
        """Accept a configuration, or stay with the last one."""
        self._mounted = mounted
        house = House(self.version, _OWN, _SHARED, self.processes, self.environment)
        there = {_OWN}
        if sidecar != self.version:
            there.add(str(PurePosixPath(_SHARED, sidecar, "fdbserver")))
        found = judgement.judge(mounted.get(self.config, b""), house, there.__contains__)
        if isinstance(found, Accepted):
            self.accepted = found

    def orders(self) -> dict[str, Order]:
        """Return the processes by their numbers."""
        accepted = self.accepted
        if accepted is None or not accepted.config.runs:
            return {}
        text = self.version if accepted.program == _OWN else accepted.config.version
        version = Version.parse(text)
        return {
            str(it): Order(
                accepted.program,
                configs.arguments(accepted.config, it, self.environment),
                version,
            )
            for it in range(1, self.processes + 1)
        }

    def file(self, path: str) -> bytes | None:
        """Return what is mounted there."""
        return self._mounted.get(path)

    def annotations(self) -> dict[str, str]:
        """Return what was accepted, and the variables that it is made of."""
        if self.accepted is None:
            return {}
        found = judgement.environment_of(self.accepted, self.environment)
        text = json.dumps(found, sort_keys=True, separators=(",", ":"))
        return {names.LAUNCHER_CONFIGURATION: self.accepted.raw, names.LAUNCHER_ENVIRONMENT: text}

    def pause(self, name: str, code: int, lived: float) -> float:
        """Return the pause: none after an end that was asked for."""
        if code == 0:
            return 0.0
        failures = self._failures[name].remembered(lived)
        self._failures[name] = failures.another()
        return failures.pause


@dataclass(frozen=True, slots=True)
class Errands:
    """What a sidecar of a split pod was told: where its files are, and what it copies."""

    source: str
    #: Where the main container finds what it writes.
    target: str
    files: tuple[str, ...]
    monitor_conf: str
    values: Mapping[str, str]
    #: Whether the sidecar speaks TLS, and where its certificate is.
    tls: bool = False
    certificate: str = ""


@dataclass(slots=True)
class Split:
    """fdbmonitor with what its sidecar copies for it; nobody copies unless asked to."""

    version: str
    errands: Errands
    chance: Chance
    certified: bool = False
    sidecar_away: bool = False
    #: What was copied, by names.
    copied: dict[str, bytes] = field(default_factory=dict)
    #: The certificate that the sidecar shows since it read it, by its SHA-256; empty: none.
    shown: str = ""
    _mounted: Mapping[str, bytes] = field(default_factory=dict)
    _pauses: dict[str, float] = field(default_factory=dict)

    @property
    def drops(self) -> bool:
        """Whether a process is ended that is ordered no longer: its section is gone."""
        return True

    def look(self, mounted: Mapping[str, bytes], sidecar: str) -> None:
        """See what could be copied."""
        del sidecar  # what it has is copied when it starts
        self._mounted = mounted

    def copy(self) -> None:
        """Copy everything, with values for variables in what fdbmonitor reads."""
        errands = self.errands
        for name in errands.files:
            if (data := self._input(name)) is not None:
                self.copied[name] = data
        conf = self._input(errands.monitor_conf)
        if conf is not None:
            text = substituted(conf.decode(), errands.values)
            self.copied[MONITOR_CONF] = text.encode()

    def begin(self) -> None:
        """Start the sidecar: it copies everything, and reads its certificate."""
        self.copy()
        self.refresh()

    def refresh(self) -> None:
        """Read the certificate anew that the sidecar shows."""
        path = self.errands.certificate
        self.shown = pems.fingerprint(self._mounted.get(path, b"")) if self.errands.tls else ""

    def has(self, name: str) -> bool:
        """Tell whether something is among what was copied: files, and programs of the sidecar."""
        folder = self.errands.values.get("BINARY_DIR", "")
        program = f"{folder.removeprefix(self.errands.target).lstrip('/')}/fdbserver"
        return name in self.copied or name == program

    def hash_of(self, name: str) -> str | None:
        """Return the SHA-256 of what was copied."""
        data = self.copied.get(name)
        return None if data is None else hashlib.sha256(data).hexdigest()

    def orders(self) -> dict[str, Order]:
        """Return the processes by their sections."""
        found: dict[str, Order] = {}
        for name, it in self._commands().items():
            program, *words = it.argv
            found[name] = Order(program, tuple(words), Version.parse(self._version(program)))
        return found

    def file(self, path: str) -> bytes | None:
        """Return what was copied there."""
        place = PurePosixPath(path)
        return self.copied.get(place.name) if str(place.parent) == self.errands.target else None

    def annotations(self) -> dict[str, str]:
        """Return nothing: nobody here knows of Kubernetes."""
        return {}

    def pause(self, name: str, code: int, lived: float) -> float:
        """Return the pause: none after an end that was asked for."""
        command = self._commands().get(name)
        if command is None:
            return 0.0
        current = self._pauses.get(name, command.delays.first)
        found = pauses.after(code, lived, current, command.delays, self.chance)
        self._pauses[name] = found.current
        return float(found.seconds)

    def _commands(self) -> dict[str, Command]:
        conf = confs.parse(self.copied.get(MONITOR_CONF, b"").decode())
        every = {name: command_of(conf, name, _PID) for name in conf.processes()}
        return {name: it for name, it in every.items() if not it.problem}

    def _input(self, name: str) -> bytes | None:
        return self._mounted.get(str(PurePosixPath(self.errands.source, name)))

    def _version(self, program: str) -> str:
        """Return of which version a program is: ours, or what the sidecar copied."""
        folder = PurePosixPath(program).parent
        copied = str(folder.parent) == f"{self.errands.target}/bin"
        return folder.name if copied else self.version
