"""Programs as process groups: started, heard, signalled and reaped, without threads.

Each is a session of its own, so that Ctrl-C in our terminal does not reach it and a signal of ours
reaches all of it. When its first process ends, the rest of the group is killed, as the end of a
container's first process ends the container.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stateward.core.errors import UsageError
from stateward.local.agent import orphans
from stateward.local.agent.orphans import CLUSTER, CONTAINER, Records

_PIECE = 65_536


class StartFailed(UsageError):
    """A program could not be started."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    #: Which container it belongs to.
    mark: str = ""


class Output(Protocol):
    """Where the words of a program go."""

    def write(self, data: bytes) -> None:
        """Take in what it said."""

    def close(self) -> None:
        """Take in that it says nothing more."""


class Process(Protocol):
    """A program that runs, with all that it started."""

    @property
    def pid(self) -> int:
        """The number of its first process."""

    async def wait(self) -> int:
        """Return its exit code once it ended; below 0 it is the signal that killed it."""

    def signal(self, number: int) -> None:
        """Send a signal to all of it; nothing happens when it has ended."""


class Runner(Protocol):
    """Who starts programs."""

    def start(self, launch: Launch, output: Output) -> Process:
        """Start one; raise StartFailed when that cannot be."""

    async def clear(self, mark: str) -> None:
        """End what a container left behind: programs that had left their groups."""


class Captured:
    """Keeps the beginning of what a program says."""

    def __init__(self, limit: int = 10_240) -> None:
        self._limit = limit
        self._kept = b""

    def write(self, data: bytes) -> None:
        """Take in what it said, as far as there is room."""
        self._kept += data[: self._limit - len(self._kept)]

    def close(self) -> None:
        """Nothing is open."""

    @property
    def text(self) -> str:
        """What was said, on one line."""
        return " ".join(self._kept.decode(errors="replace").split())


class LocalRunner:
    """Starts programs on this machine."""

    def __init__(self, cluster: str, records: Records) -> None:
        self._cluster = cluster
        self._records = records

    def start(self, launch: Launch, output: Output) -> Process:
        """Start a program in a session of its own."""
        heard, said = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(said, True)
        try:
            started = subprocess.Popen(  # noqa: S603 - starting programs is what it is for
                launch.argv,
                env={**launch.env, CLUSTER: self._cluster, CONTAINER: launch.mark},
                cwd=launch.cwd,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(heard)
            raise StartFailed(f"{launch.argv[0]} must be a program that runs: {error}") from error
        finally:
            os.close(said)
        self._records.add(started.pid)
        try:
            return _Group(started, heard, output, self._records)
        except OSError as error:
            started.kill()
            started.wait()
            os.close(heard)
            raise StartFailed(f"{launch.argv[0]} cannot be looked after: {error}") from error

    async def clear(self, mark: str) -> None:
        """Kill what carries the mark of a container that ended."""
        await asyncio.to_thread(orphans.clear, self._cluster, mark)


class _Group:
    """A session that we started."""

    def __init__(
        self, started: subprocess.Popen[bytes], heard: int, output: Output, records: Records
    ) -> None:
        self._started = started
        self._heard = heard
        self._output = output
        self._records = records
        self._loop = asyncio.get_running_loop()
        self._code: asyncio.Future[int] = self._loop.create_future()
        self._held = os.pidfd_open(started.pid)
        self._loop.add_reader(self._held, self._ended)
        self._loop.add_reader(heard, self._hear)

    @property
    def pid(self) -> int:
        """The number of the leader, and of the group."""
        return self._started.pid

    async def wait(self) -> int:
        """Return the exit code once it ended."""
        return await asyncio.shield(self._code)

    def signal(self, number: int) -> None:
        """Send a signal to the group; as long as we have not reaped the leader it is ours."""
        if not self._code.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _hear(self) -> bool:
        """Pass on what was said; tell whether there may be more."""
        try:
            data = os.read(self._heard, _PIECE)
        except BlockingIOError:
            return False
        if data:
            self._output.write(data)
        else:
            self._loop.remove_reader(self._heard)
        return bool(data)

    def _ended(self) -> None:
        self._loop.remove_reader(self._held)
        # The leader is a zombie now, which keeps the number of the group from being given away.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        code = self._started.wait()
        while self._hear():
            pass
        self._loop.remove_reader(self._heard)
        os.close(self._heard)
        os.close(self._held)
        self._output.close()
        self._records.remove(self.pid)
        self._code.set_result(code)
