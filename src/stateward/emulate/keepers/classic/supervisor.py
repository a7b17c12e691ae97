"""The processes of one fdbmonitor: started, ended, and started again by its configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from signal import SIGHUP, SIGTERM
from typing import assert_never

from stateward.core.clock import Timer
from stateward.core.ports import Ports
from stateward.emulate.keepers import children
from stateward.emulate.keepers.children import Child, Launch
from stateward.emulate.keepers.classic import pauses
from stateward.emulate.keepers.classic.changes import Begin, Change, Drop, Keep, Renew, changes
from stateward.emulate.keepers.classic.commands import Command
from stateward.emulate.keepers.classic.lines import Log, Severity
from stateward.emulate.keepers.image import Image


@dataclass(frozen=True, slots=True)
class Means:
    """What a supervisor works with."""

    image: Image
    log: Log
    ports: Ports
    environment: Mapping[str, str]
    patience: float = children.DEFAULT_PATIENCE


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom processes run as; None: as their keeper does."""

    user: int | None = None
    group: int | None = None


@dataclass(slots=True, eq=False)
class _Kept:
    """One process: what it is to be, and what is of it."""

    command: Command
    current: float
    child: Child | None = None
    began: float = 0.0
    timer: Timer | None = None
    #: It is not to be started again when it ends.
    dropped: bool = False
    #: It is being ended by us, and whoever does that goes on from there.
    ending: bool = field(default=False)


class Supervisor:
    """Keeps processes as a configuration wants them."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._kept: dict[str, _Kept] = {}
        self._identity = Identity()

    async def adopt(self, wanted: Mapping[str, Command], identity: Identity) -> None:
        """Make what is kept into what is wanted."""
        if identity != self._identity:
            self._identity = identity
            await self._end_all([it for it in self._kept.values() if it.command.kills])
        before = {name: it.command for name, it in self._kept.items()}
        ended: list[_Kept] = []
        begun: list[_Kept] = []
        for change in changes(before, wanted):
            self._note(change, ended, begun)
        for kept in ended:
            await self._end(kept)
        for kept in begun:
            self._start(kept)

    def forget_failures(self) -> None:
        """Have whoever waits for a start wait no longer, and count from the beginning."""
        for kept in list(self._kept.values()):
            kept.current = kept.command.delays.first
            if kept.timer is not None:
                self._call_off(kept)
                self._start(kept)

    async def close(self) -> None:
        """End all processes, all at once."""
        for kept in self._kept.values():
            self._call_off(kept)
            kept.dropped = kept.ending = True
        running = [it.child for it in reversed(self._kept.values()) if it.child is not None]
        for child in running:
            self._means.log.say(f"Killing process {child.pid}")
            child.signal(SIGTERM)
        for child in running:
            await self._wait_for(child)
        self._kept.clear()

    def _note(self, change: Change, ended: list[_Kept], begun: list[_Kept]) -> None:
        """Say what a change means, and put aside who is to be ended and who to be started."""
        say = self._means.log.say
        match change:
            case Drop(name, kills):
                say(f"Deconfigured {name}")
                self._kept[name].dropped = True
                if kills or self._kept[name].child is None:
                    ended.append(self._kept.pop(name))
            case Renew(command, kills):
                say(f"Found new configuration for {command.name}")
                kept = self._kept[command.name]
                kept.command, kept.dropped = command, False
                kept.current = command.delays.first
                if kills:
                    ended.append(kept)
                    begun.append(kept)
            case Keep(command):
                say(f"Updated configuration for {command.name}")
                kept = self._kept[command.name]
                kept.command, kept.dropped = command, False
                kept.current = pauses.fitted(kept.current, command.delays)
            case Begin(command):
                kept = _Kept(command, command.delays.first)
                self._kept[command.name] = kept
                begun.append(kept)
            case _:
                assert_never(change)

    async def _end_all(self, those: list[_Kept]) -> None:
        for kept in those:
            self._kept.pop(kept.command.name, None)
            await self._end(kept)

    async def _end(self, kept: _Kept) -> None:
        self._call_off(kept)
        child = kept.child
        if child is None:
            return
        self._means.log.say(f"Killing process {child.pid}")
        kept.ending = True
        child.signal(SIGTERM)
        await self._wait_for(child)
        kept.child, kept.ending = None, False

    async def _wait_for(self, child: Child) -> None:
        if not await child.end(self._means.patience):
            text = f"Process {child.pid} did not end when asked to, and was killed"
            self._means.log.say(text, Severity.WARNING)

    def _call_off(self, kept: _Kept) -> None:
        if kept.timer is not None:
            kept.timer.cancel()
            kept.timer = None

    def _start(self, kept: _Kept) -> None:
        """Start a process; one that cannot be started waits like one that failed."""
        command, log = kept.command, self._means.log
        if not kept.began:
            log.say(f"Starting {command.name}")
        kept.timer = None
        kept.began = self._means.ports.clock.monotonic()
        if command.problem:
            log.say(command.problem, Severity.ERROR)
            return
        for name in command.removed:
            log.say(f"Deleting parent environment variable: '{name}'", process=command.name)
        try:
            kept.child = children.start(self._launch(command), _relaying(log, command.name))
        except (OSError, ValueError) as error:
            self._wait_after(kept, 1, f"Unable to launch {command.argv[0]}: {error}")
            return
        if not command.quiet:
            text = f"Launching {command.argv[0]} ({kept.child.pid}) for {command.name}"
            log.say(text, process=command.name)
        child = kept.child
        child.ended.add_done_callback(lambda it: self._ended(kept, child, it.result()))

    def _launch(self, command: Command) -> Launch:
        image = self._means.image
        env = dict(self._means.environment) | dict(command.added)
        env[children.COMMAND_LINE] = " ".join(command.argv)
        for name in command.removed:
            env.pop(name, None)
        argv = (command.argv[0], *(image.places.translated(it) for it in command.argv[1:]))
        return Launch(
            argv,
            image.runs(command.argv[0]),
            env,
            SIGHUP,
            self._identity.user if self._identity.user != os.geteuid() else None,
            self._identity.group if self._identity.group != os.getegid() else None,
        )

    def _ended(self, kept: _Kept, child: Child, code: int) -> None:
        if kept.ending:
            return
        kept.child = None
        if kept.dropped:
            self._kept.pop(kept.command.name, None)
            return
        how = f"exited {code}" if code >= 0 else f"terminated by signal {-code}"
        self._wait_after(kept, code, f"Process {child.pid} {how}")

    def _wait_after(self, kept: _Kept, code: int, told: str) -> None:
        ports, command = self._means.ports, kept.command
        lived = ports.clock.monotonic() - kept.began
        pause = pauses.after(code, lived, kept.current, command.delays, ports.chance)
        kept.current = pause.current
        if not command.quiet:
            text = f"{told}, restarting in {pause.seconds} seconds"
            severity = Severity.ERROR if code > 0 else Severity.WARNING
            self._means.log.say(text, severity, process=command.name)
        kept.timer = ports.clock.call_later(pause.seconds, lambda: self._start(kept))


def _relaying(log: Log, name: str) -> children.Hear:
    def relay(is_error: bool, text: str) -> None:  # noqa: FBT001 - the port says so
        log.say(text, Severity.ERROR if is_error else Severity.INFO, process=name)

    return relay
