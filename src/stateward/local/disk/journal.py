"""The store on disk: every change is written before it is acknowledged.

One file, appended to. What was acknowledged is in the file when the process is killed; once a
second it is also forced to the disk, so that a power cut costs at most the last second. When much
of the file is about objects that have changed since, it is written anew and takes the place of the
old one in one step.

A file that ends in the middle of a record (the process was killed while it wrote, and had not
answered) is cut back to the last whole one; whatever is cut off is kept beside it, and said aloud.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from stateward.core.clock import Clock
from stateward.kube.errors import Unavailable
from stateward.local.disk import records
from stateward.local.disk.errors import FolderUnusable, JournalUnreadable
from stateward.local.store import Store, Stored, StoreEvent

NAME = "journal"
#: What was cut off a broken journal.
DAMAGED = "journal.damaged"
#: Seconds between two times that the file is forced to the disk.
SYNC_EVERY = 1.0
#: A journal below this many bytes is never written anew.
SMALL = 8 * 1024 * 1024
#: It is written anew when it is so many times as long as what is worth keeping.
GROWTH = 4

#: Always at the end, so that the length of the file tells when somebody else was at it.
_HOW = os.O_APPEND | os.O_CLOEXEC

_log = structlog.get_logger("journal")


class Journal:
    """The file behind one store."""

    def __init__(self, folder: Path, *, say: Callable[[str], None], small: int = SMALL) -> None:
        self._path = folder / NAME
        self._say = say
        self._small = small
        self._file = -1
        self._length = 0
        #: Bytes when the file was last written anew, or read.
        self._base = 0
        self._unsynced = False
        self._broken = ""
        self.store = Store(keep=self._keep)

    def __enter__(self) -> Self:
        try:
            self._load()
            self._open()
        except OSError as error:
            raise FolderUnusable(
                f"{self._path} must be a file to write to: {_why(error)}"
            ) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file >= 0:
            self.check_place()
            with _ignoring_trouble():
                os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    async def sync_regularly(self, clock: Clock) -> None:
        """Force what was written to the disk now and then, and keep the file short; never end."""
        loop = asyncio.get_running_loop()
        while True:
            await clock.sleep(SYNC_EVERY)
            if self._unsynced and not self._broken:
                self._unsynced = False
                with _ignoring_trouble():
                    await loop.run_in_executor(None, os.fsync, self._file)
            self.check_place()
            self.shorten()

    def check_place(self) -> None:
        """See that the file is where it belongs and whole; else make it anew from what we know.

        As long as that fails, writes are refused; it is tried again every time.
        """
        if not self._broken and self._is_in_place():
            return
        has_said = bool(self._broken)
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            self._write_anew()
        except OSError as error:
            self._broken = f"{self._path} was taken away and cannot be made anew: {_why(error)}"
            if not has_said:
                self._say(self._broken)
        else:
            self._broken = ""
            self._say(f"{self._path} was not as we left it; it was made anew, and nothing is lost")

    def _is_in_place(self) -> bool:
        try:
            found, ours = self._path.stat(), os.fstat(self._file)
        except OSError:
            return False
        return os.path.samestat(found, ours) and ours.st_size == self._length

    def shorten(self) -> None:
        """Write the file anew when most of it is about what has changed since."""
        if self._broken or self._length < max(self._small, GROWTH * self._base):
            return
        try:
            self._write_anew()
        except OSError as error:
            self._base = self._length  # try again when it has grown as much once more
            self._say(f"the journal could not be shortened: {_why(error)}; it goes on growing")

    # ------------------------------------------------------------------ writing
    def _keep(self, event: StoreEvent) -> None:
        """Write a change down; raise Unavailable when it cannot be, and then nothing happened."""
        if self._broken:
            raise Unavailable(self._broken)
        line = records.record_of(event)
        try:
            _write(self._file, line)
        except OSError as error:
            self._take_back(_why(error))
            raise Unavailable(
                f"the change cannot be kept in {self._path}: {_why(error)}; nothing was changed"
            ) from error
        self._length += len(line)
        self._unsynced = True

    def _take_back(self, why: str) -> None:
        """Cut off half a record, or refuse everything from now on."""
        try:
            os.ftruncate(self._file, self._length)
        except OSError:
            self._broken = f"{self._path} cannot be written any more: {why}"
            self._say(self._broken)

    def _write_anew(self) -> None:
        target = self._path.with_suffix(".new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _HOW
        fresh = os.open(target, flags, 0o600)
        try:
            length = _write(fresh, records.HEADER)
            for resource, stored in self.store:
                length += _write(fresh, records.kept(resource, stored))
            length += _write(fresh, records.whole(self.store.revision))
            os.fsync(fresh)
            target.replace(self._path)
        except OSError:
            os.close(fresh)
            target.unlink(missing_ok=True)
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file, self._length, self._base = fresh, length, length
        _sync_folder(self._path.parent)

    # ------------------------------------------------------------------ reading
    def _open(self) -> None:
        if self._file < 0 and self._length:
            self._file = os.open(self._path, os.O_WRONLY | _HOW)
        elif self._file < 0:
            self._write_anew()

    def _load(self) -> None:
        if not self._path.exists():
            return
        objects: dict[tuple[str, str], Stored] = {}
        revision, length = 1, 0
        with self._path.open("rb") as file:
            first = file.readline()
            if first and not records.HEADER.startswith(first):
                raise JournalUnreadable(f"{self._path} must begin with {records.HEADER!r}")
            length = len(first) if first == records.HEADER else 0
            for record, size in records.read(file) if length else ():
                if record is None:
                    break
                length += size
                revision = max(revision, record.revision)
                _take_in(objects, record)
        self._cut(length)
        kept = [(resource, stored) for (resource, _), stored in objects.items()]
        self.store.restore(kept, revision)
        self._length = length
        self._base = sum(len(stored.text) for _, stored in kept)

    def _cut(self, length: int) -> None:
        """Bring the file back to its last whole record; keep what is cut off."""
        rest = self._path.stat().st_size - length
        if not rest:
            return
        with self._path.open("r+b") as file:
            file.seek(length)
            damaged = _unused(self._path.with_name(DAMAGED))
            damaged.write_bytes(file.read())
            file.truncate(length)
        self._say(
            f"the journal was broken after byte {length}: it was repaired to the last whole record,"
            f" and the {rest} bytes that followed are in {damaged}"
        )


def _take_in(objects: dict[tuple[str, str], Stored], record: records.Record) -> None:
    if record.stored is not None:
        objects[record.resource, str(record.key)] = record.stored
    elif record.key is not None:
        objects.pop((record.resource, str(record.key)), None)


def _unused(path: Path) -> Path:
    numbered = (path.with_name(f"{path.name}.{number}") for number in count(1))
    return next(it for it in numbered if not it.exists())


def _write(file: int, data: bytes) -> int:
    """Write all of it: a full disk may take a part before it refuses the rest."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
    return len(data)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _ignoring_trouble() -> Iterator[None]:
    """Log what a disk says no to, where nobody waits for the answer."""
    try:
        yield
    except OSError as error:
        _log.warning("the journal could not be forced to the disk", error=str(error))


def _why(error: OSError) -> str:
    return error.strerror or str(error)
