"""What containers say: kept in files with the time of every line, and read back piece by piece."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from stateward.core.moments import to_rfc3339_micro
from stateward.kube.client import LogOptions

R = TypeVar("R")

#: Bytes of one file; a full one is kept beside the next, and the one before is dropped.
LARGEST = 10 * 1024 * 1024
#: Bytes of a line that is not ended yet.
_LONGEST = 16_384
_PIECE = 65_536
_STAMP = len(b"2006-01-02T15:04:05.000000Z ")


class Aside(Protocol):
    """Does slow work without holding up the event loop."""

    def __call__(self, work: Callable[[], R], /) -> Awaitable[R]:
        """Return what the work returns."""


#: How much of a log stands for the last words of a container that left none.
_TAIL_BYTES = 2048
_TAIL_LINES = 80


class LogFile:
    """The log of one run of a container."""

    def __init__(self, path: Path, now: Callable[[], float], *, largest: int = LARGEST) -> None:
        self.path = path
        #: True before it is opened (an earlier agent may have written it) and after it is closed.
        self.closed = True
        #: How often the file was begun anew.
        self.turns = 0
        self._now = now
        self._largest = largest
        self._partial = b""
        self._news = asyncio.Event()
        self._file: BinaryIO | None = None
        self._size = 0

    def open(self) -> None:
        """Begin an empty file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)  # the program may have put a pipe or a link there
        self._file = self.path.open("xb", buffering=0)
        self.closed = False

    def remove(self) -> None:
        """Remove what is on disk."""
        self.older.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    @property
    def older(self) -> Path:
        """Where the full file before this one is, if there was one."""
        return self.path.with_name(f"{self.path.name}.1")

    def write(self, data: bytes) -> None:
        """Take in what was said; a line is kept once it is whole, or too long to wait for."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        while len(self._partial) > _LONGEST:
            lines.append(self._partial[:_LONGEST])
            self._partial = self._partial[_LONGEST:]
        self._keep(lines)

    def close(self) -> None:
        """Keep what is left and tell those who follow that nothing more comes."""
        if self._file is None:
            return
        self._keep([self._partial] if self._partial else [])
        self.closed = True
        self._file.close()
        self._file = None
        self._news.set()

    def tail(self) -> bytes:
        """Return the end of what was said, as much as a status takes, without its times."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self._size - 2 * _TAIL_BYTES))
                lines = file.read().splitlines()
        except OSError:
            return b""
        said = [line.partition(b" ")[2] for line in lines[-_TAIL_LINES:]]
        return b"\n".join(said)[-_TAIL_BYTES:]

    def news(self) -> asyncio.Event:
        """Return what is set when something more was said, or nothing will be."""
        return self._news

    def _keep(self, lines: list[bytes]) -> None:
        if not lines or self._file is None:
            return
        stamp = to_rfc3339_micro(self._now()).encode() + b" "
        text = stamp + (b"\n" + stamp).join(lines) + b"\n"
        with suppress(OSError):  # a full disk costs us lines, and no program its life
            if self._size and self._size + len(text) > self._largest:
                self._file = self._turned(self._file)
            self._file.write(text)
        self._size += len(text)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _turned(self, full: BinaryIO) -> BinaryIO:
        os.replace(self.path, self.older)  # noqa: PTH105 - the words of the manual: atomic
        fresh = self.path.open("xb", buffering=0)
        full.close()
        self._size = 0
        self.turns += 1
        return fresh


class RunLogs:
    """The logs of the last two runs of a container."""

    def __init__(self, path: Callable[[int], Path], now: Callable[[], float]) -> None:
        self._path = path
        self._now = now
        self._kept: list[LogFile] = []

    @property
    def last(self) -> LogFile | None:
        """The log of the last run, if there was one."""
        return self._kept[-1] if self._kept else None

    @property
    def previous(self) -> LogFile | None:
        """The log of the run before."""
        return self._kept[-2] if len(self._kept) > 1 else None

    def recall(self, run: int) -> None:
        """Take in that an earlier agent kept the log of a run."""
        self._kept = [LogFile(self._path(run), self._now)]

    def begin(self, run: int) -> LogFile:
        """Return the log of a new run; of the ones before, one is kept."""
        for old in self._kept[:-1]:
            old.remove()
        log = LogFile(self._path(run), self._now)
        log.open()
        self._kept = [*self._kept[-1:], log]
        return log


async def read(
    log: LogFile, options: LogOptions, now: float, aside: Aside
) -> AsyncGenerator[bytes, None]:
    """Yield what a container said, as the options want it."""
    since = now - options.since_seconds if options.since_seconds is not None else 0.0
    shape = _Shape(to_rfc3339_micro(since).encode(), keeps_time=options.timestamps)
    chosen = _followed if options.follow else _kept
    async with aclosing(chosen(log, options, aside)) as pieces:
        async for piece in pieces:
            if text := shape.shaped(piece):
                yield text


async def _kept(log: LogFile, options: LogOptions, aside: Aside) -> AsyncGenerator[bytes, None]:
    """Yield what is in the files by now; what is said meanwhile would have no end."""
    with ExitStack() as opened:
        files = [opened.enter_context(it) for it in _opened(log)]
        ends = await aside(lambda: _go_to_tail(files, options.tail_lines))
        for file, end in zip(files, ends, strict=True):
            step = _reading(file, end)
            while piece := await aside(step):
                yield piece


def _reading(file: BinaryIO, end: int) -> Callable[[], bytes]:
    return lambda: file.read(max(0, min(_PIECE, end - file.tell())))


def _opened(log: LogFile) -> list[BinaryIO]:
    """Open what there is of a log; a pipe, a link or a folder in its place is not of it."""
    return [it for path in (log.older, log.path) if (it := _plain(path)) is not None]


def _plain(path: Path) -> BinaryIO | None:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(number).st_mode):
        return os.fdopen(number, "rb")
    os.close(number)
    return None


async def _followed(log: LogFile, options: LogOptions, aside: Aside) -> AsyncGenerator[bytes, None]:
    """Yield what is in the files, and what comes."""
    turns = log.turns
    files = _opened(log)
    try:
        await aside(lambda: _go_to_tail(files, options.tail_lines))
        while files:
            # Looked at before reading: what is said while we read is news, not the end.
            news, is_over = log.news(), log.closed
            is_full = len(files) > 1 or turns != log.turns
            while piece := await aside(lambda: files[0].read(_PIECE)):
                yield piece
            if is_full and len(files) == 1:
                turns = log.turns
                files.extend(it for it in (_plain(log.path),) if it is not None)
            if is_full or is_over:
                files.pop(0).close()
            else:
                await news.wait()
    finally:
        for file in files:
            file.close()


class _Shape:
    """Takes whole lines out of pieces, drops old ones, and their times unless wanted."""

    def __init__(self, since: bytes, *, keeps_time: bool) -> None:
        self._since = since
        self._keeps_time = keeps_time
        self._rest = b""

    def shaped(self, piece: bytes) -> bytes:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        start = 0 if self._keeps_time else _STAMP
        return b"".join(line[start:] + b"\n" for line in lines if line >= self._since)


def _go_to_tail(files: list[BinaryIO], lines: int | None) -> list[int]:
    """Move the files to where the last lines begin, if only some are wanted; return their ends."""
    ends = [os.fstat(it.fileno()).st_size for it in files]
    if lines is None:
        return ends
    for file, end in reversed(list(zip(files, ends, strict=True))):
        place, found = _tail_start(file, lines, end)
        file.seek(place)
        lines -= found
    return ends


def _tail_start(file: BinaryIO, lines: int, end: int) -> tuple[int, int]:
    """Return where the last lines before an end begin, and how many there are."""
    place = end
    if lines <= 0:
        return place, 0
    found = 0
    while place > 0:
        step = min(_PIECE, place)
        place -= step
        file.seek(place)
        piece = file.read(step)
        here = piece.count(b"\n")
        if found + here > lines:
            return place + _after_line(piece, here - (lines - found)), lines
        found += here
    return 0, found


def _after_line(piece: bytes, number: int) -> int:
    """Return where a piece goes on after so many ends of lines."""
    at = 0
    for _ in range(number):
        at = piece.index(b"\n", at) + 1
    return at
