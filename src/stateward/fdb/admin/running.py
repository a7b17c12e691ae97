"""Runs a program of FoundationDB: no shell, a deadline, an end to what it may print, and its costs.

It is a session of its own. When its time is over, or it prints without end, all of it is killed:
fdbcli takes Ctrl-C for "give up this command", and goes on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.errors import PrintsTooMuch, ProgramUnusable

#: Bytes of both outputs together; a status of a thousand processes has five million.
MOST: Final = 32 * 1024 * 1024
_PIECE: Final = 65_536
_ASCII: Final = bytes(it if it < 128 else ord("?") for it in range(256))
#: Seconds for which the last words of one that ended are waited for.
_LAST: Final = 1.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call took: seconds of the clock, and of processors."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Call:
    """What to run, and within which limits."""

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    seconds: float
    most: int = MOST
    #: What it reads from its input; empty: nothing is there to read.
    typed: str = ""


async def run(call: Call) -> tuple[Answer, Cost]:
    """Run a program to its end, or to the end of its time.

    Raise ProgramUnusable when it could not be started, PrintsTooMuch when it was and never stopped
    printing.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    process = _started(call)
    child, heard = _Child(loop, process.pid), _Heard(call.most)
    try:
        in_time = await _heard_all(process, heard, child, call.seconds)
    finally:
        child.kill()
        await child.ended()
        _close(process)
    if heard.too_much:
        raise PrintsTooMuch(
            f"{Path(call.argv[0]).name} must print less than {call.most} bytes, and was ended"
        )
    answer = Answer(child.code, heard.text(0), heard.text(1), in_time=in_time)
    return answer, Cost(loop.time() - began, child.cpu)


def _started(call: Call) -> subprocess.Popen[bytes]:
    try:
        # A file, not a pipe: one that does not read must not hold us up.
        with tempfile.TemporaryFile(dir=call.folder) as typed:
            typed.write(call.typed.encode())
            typed.seek(0)
            return subprocess.Popen(  # noqa: S603 - argv, no shell
                list(call.argv),
                stdin=typed if call.typed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(call.env),
                cwd=call.folder,
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ProgramUnusable(
            f"{call.argv[0]} must be a program that can be run: {why}",
            hint="install FoundationDB's programs of this version",
        ) from None


class _Heard:
    """What was printed, as long as it is not too much."""

    def __init__(self, most: int) -> None:
        self._parts: tuple[bytearray, bytearray] = (bytearray(), bytearray())
        self._left = most

    @property
    def too_much(self) -> bool:
        return self._left < 0

    def take(self, which: int, piece: bytes) -> None:
        """Keep a piece, unless it is too much."""
        self._left -= len(piece)
        if not self.too_much:
            self._parts[which].extend(piece)

    def text(self, which: int) -> str:
        """Return one output as text, and let go of its bytes."""
        raw = self._parts[which]
        try:
            return raw.decode()
        except UnicodeDecodeError:
            # Garbage as the usual marks for it would be several times as large as it was.
            return raw.translate(_ASCII).decode("ascii")
        finally:
            raw.clear()


class _Child:
    """A child: killed with all that it started, and buried without a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int) -> None:
        self._loop, self._pid = loop, pid
        self.code, self.cpu = 0, 0.0
        self._over: asyncio.Future[None] = loop.create_future()
        self._descriptor = os.pidfd_open(pid)
        loop.add_reader(self._descriptor, self._bury)

    def kill(self) -> None:
        """End it and its group at once."""
        if not self._over.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    async def ended(self) -> None:
        """Wait for its end, whoever gives up waiting."""
        await asyncio.shield(self._over)

    def _bury(self) -> None:
        self.kill()  # what it left; until it is buried, nobody else has its number
        _, status, used = os.wait4(self._pid, 0)
        self.code = os.waitstatus_to_exitcode(status)
        self.cpu = used.ru_utime + used.ru_stime
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._over.set_result(None)


async def _heard_all(
    process: subprocess.Popen[bytes], heard: _Heard, child: _Child, seconds: float
) -> bool:
    """Hear what it says until it ends; tell whether that was in time."""
    streams = [it for it in (process.stdout, process.stderr) if it is not None]
    ears = [
        asyncio.create_task(_hear(which, it.fileno(), heard)) for which, it in enumerate(streams)
    ]
    end = asyncio.create_task(child.ended())
    try:
        async with asyncio.timeout(seconds):
            await asyncio.wait((end, *ears), return_when=asyncio.FIRST_COMPLETED)
            while not end.done() and not heard.too_much:
                left = [it for it in (end, *ears) if not it.done()]
                await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            if not heard.too_much:
                # Somebody who left the group may hold its outputs open for ever.
                await asyncio.wait(ears, timeout=_LAST)
    except TimeoutError:
        return False
    finally:
        for it in (end, *ears):
            it.cancel()
    return True


async def _hear(which: int, descriptor: int, heard: _Heard) -> None:
    """Hear one output to its end, or until it was too much."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        piece: bytes | None = None
        while piece != b"" and not heard.too_much:
            await readable.wait()
            readable.clear()
            with suppress(BlockingIOError):
                piece = os.read(descriptor, _PIECE)
                heard.take(which, piece)
    finally:
        loop.remove_reader(descriptor)


def _close(process: subprocess.Popen[bytes]) -> None:
    process.returncode = 0  # it is reaped; nobody is to wait for its number again
    for it in (process.stdout, process.stderr):
        if it is not None:
            it.close()
