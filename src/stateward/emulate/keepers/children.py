"""Children of a keeper: started, heard line by line, ended, and buried without a thread.

They die with their keeper: the kernel sends them a signal when it is gone, however it went.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIG_DFL, SIGHUP, SIGINT, SIGKILL, SIGTERM
from signal import signal as set_handler
from typing import TypeAlias

#: Takes in a line: whether it came on the error output, and the text without its end.
Hear: TypeAlias = Callable[[bool, str], None]

#: Seconds that a child has to end after it was asked to; then it is killed.
PATIENCE = "STATEWARD_KEEPER_PATIENCE"
DEFAULT_PATIENCE = 10.0

#: How a child may say what was started, whatever had to be translated: as it was written.
COMMAND_LINE = "STATEWARD_COMMAND_LINE"

_PR_SET_PDEATHSIG = 1
_PIECE = 65_536
#: A line that is longer is told in pieces.
_LONGEST = 16_384
#: So many pieces of last words are heard: another process may hold the pipe, and talk for ever.
_LAST_PIECES = 64

_LIBC = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start."""

    #: The words as people read them, the first being the name of the program.
    argv: tuple[str, ...]
    #: The file that is run for it.
    runs: str
    env: Mapping[str, str] = field(default_factory=dict)
    #: The signal it gets when its keeper is gone.
    orphaned: int = SIGKILL
    user: int | None = None
    group: int | None = None


class Child:
    """A program that runs."""

    def __init__(self, process: subprocess.Popen[bytes], hear: Hear) -> None:
        self._process = process
        self.pid = process.pid
        self._loop = asyncio.get_running_loop()
        #: Its exit code; below 0 it is the signal that ended it.
        self.ended: asyncio.Future[int] = self._loop.create_future()
        streams = [it for it in (process.stdout, process.stderr) if it is not None]
        self._ears = [_Ear(it.fileno(), hear, is_error=n == 1) for n, it in enumerate(streams)]
        for ear in self._ears:
            self._loop.add_reader(ear.descriptor, self._listen, ear)
        self._descriptor = os.pidfd_open(self.pid)
        self._loop.add_reader(self._descriptor, self._bury)

    def signal(self, number: int) -> None:
        """Send it a signal; nothing happens when it has ended."""
        if not self.ended.done():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    async def end(self, patience: float, number: int = SIGTERM) -> bool:
        """End it; tell whether asking was enough."""
        self.signal(number)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await asyncio.shield(self.ended)
                return True
        self.signal(SIGKILL)
        await asyncio.shield(self.ended)
        return False

    def _listen(self, ear: _Ear) -> None:
        if not ear.listen():
            self._loop.remove_reader(ear.descriptor)

    def _bury(self) -> None:
        code = self._process.wait()
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        for ear in self._ears:
            self._loop.remove_reader(ear.descriptor)
            ear.finish()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self.ended.set_result(code)


def start(launch: Launch, hear: Hear) -> Child:
    """Start a program and hear what it says; raise OSError or ValueError when that cannot be."""
    process = subprocess.Popen(  # noqa: S603 - starting programs is what it is for
        launch.argv,
        executable=launch.runs,
        env=dict(launch.env),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_prepared(os.getpid(), launch.orphaned),  # noqa: PLW1509 - one thread forks
        user=launch.user,
        group=launch.group,
    )
    try:
        return Child(process, hear)
    except OSError:
        process.kill()
        process.wait()
        raise


def patience_of(environment: Mapping[str, str]) -> float:
    """Return how long a child has to end, by the environment."""
    try:
        return max(0.0, float(environment.get(PATIENCE) or DEFAULT_PATIENCE))
    except ValueError:
        return DEFAULT_PATIENCE


def _prepared(keeper: int, orphaned: int) -> Callable[[], None]:
    def prepare() -> None:
        for number in (SIGHUP, SIGINT, SIGTERM):
            set_handler(number, SIG_DFL)
        _LIBC.prctl(_PR_SET_PDEATHSIG, orphaned)
        if os.getppid() != keeper:  # it was gone before it could be asked for
            os._exit(1)

    return prepare


class _Ear:
    """One output of a child, as lines."""

    def __init__(self, descriptor: int, hear: Hear, *, is_error: bool) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._hear = hear
        self._is_error = is_error
        self._rest = b""

    def listen(self) -> bool:
        """Hear what is there; tell whether there may be more later."""
        try:
            piece = os.read(self.descriptor, _PIECE)
        except BlockingIOError:
            return True
        self._take(piece)
        return bool(piece)

    def finish(self) -> None:
        """Hear the last words."""
        for _ in range(_LAST_PIECES):
            try:
                piece = os.read(self.descriptor, _PIECE)
            except BlockingIOError:
                break
            if not piece:
                break
            self._take(piece)
        if self._rest:
            self._say(self._rest)
            self._rest = b""

    def _take(self, piece: bytes) -> None:
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            self._say(line)
        while len(self._rest) > _LONGEST:
            self._say(self._rest[:_LONGEST])
            self._rest = self._rest[_LONGEST:]

    def _say(self, line: bytes) -> None:
        self._hear(self._is_error, line.decode(errors="replace"))
