"""Programs as process groups: started, heard, signalled and reaped, without threads.

Each is a session of its own, so that Ctrl-C in our terminal does not reach it and a signal of ours
reaches all of it. When its first process ends, the rest of the group is killed, as the end of a
container's first process ends the container.
"""

from __future__ import annotations

import asyncio
import fcntl
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
from stateward.local.agent.orphans import CLUSTER, CONTAINER, Origin, Records

#: Bytes that are heard at once. One who says more waits for a moment, or programs that never stop
#: talking would leave no time for anybody else.
_PIECE = 32_768
_PAUSE = 0.02


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
    #: Whether it only behaves like what is in the container's image.
    emulated: bool = False


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
        #: Where the processes of a container come from: its first one, not those of probes.
        self._origins: dict[str, tuple[int, Origin]] = {}

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
                # Kept open beside the output: whoever descends from it can be told by this pipe.
                pass_fds=(said,),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(heard)
            raise StartFailed(f"{launch.argv[0]} must be a program that runs: {error}") from error
        finally:
            os.close(said)
        origin = Origin(orphans.start_time(started.pid) or 0, os.fstat(heard).st_ino)
        self._records.add(started.pid, origin)
        self._remember(launch.mark, started.pid, origin)
        try:
            return _Group(started, heard, output, self._records)
        except OSError as error:
            started.kill()
            started.wait()
            os.close(heard)
            raise StartFailed(f"{launch.argv[0]} cannot be looked after: {error}") from error

    def _remember(self, mark: str, pid: int, origin: Origin) -> None:
        known, before = self._origins.get(mark, (0, None))
        if before is None or orphans.start_time(known) != before.began:
            self._origins[mark] = pid, origin

    async def clear(self, mark: str) -> None:
        """Kill what carries the mark of a container that ended, or descends from it."""
        pid, origin = self._origins.pop(mark, (0, None))
        known = {pid: origin} if origin is not None else {}
        await asyncio.to_thread(orphans.clear, self._cluster, mark, known)


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
        self._pause: asyncio.TimerHandle | None = None

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

    def _hear(self) -> None:
        """Pass on what was said."""
        data = self._said(_PIECE)
        if len(data) == _PIECE:
            self._loop.remove_reader(self._heard)
            self._pause = self._loop.call_later(_PAUSE, self._listen)
        elif not data:
            self._loop.remove_reader(self._heard)

    def _listen(self) -> None:
        self._loop.add_reader(self._heard, self._hear)

    def _said(self, most: int) -> bytes:
        try:
            data = os.read(self._heard, most)
        except BlockingIOError:
            return b""
        if data:
            self._output.write(data)
        return data

    def _ended(self) -> None:
        self._loop.remove_reader(self._held)
        # The leader is a zombie now, which keeps the number of the group from being given away.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        code = self._started.wait()
        # What it said is in the pipe by now. More is what others say who hold the pipe still, and
        # they may never stop.
        self._said(fcntl.fcntl(self._heard, fcntl.F_GETPIPE_SZ))
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._heard)
        os.close(self._heard)
        os.close(self._held)
        self._output.close()
        self._records.remove(self.pid)
        self._code.set_result(code)
