"""Where backups are kept: files by their paths, on a disk or in memory; nothing else is asked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol


class Unusable(Exception):
    """A file cannot be written, read or deleted: why."""


class Files(Protocol):
    """Who keeps files."""

    def write(self, path: str, raw: bytes) -> None:
        """Write a whole file, or nothing of it; raise Unusable."""

    def read(self, path: str) -> bytes:
        """Return a whole file; raise Unusable."""

    def list(self, folder: str) -> list[str]:
        """Return the paths of all files below a folder, in their order; none: there is none."""

    def delete(self, path: str) -> None:
        """Have a file be gone, or a folder with all that is in it; raise Unusable."""


class DiskFiles(Files):
    """Files of this machine."""

    def write(self, path: str, raw: bytes) -> None:
        """Write a file beside its place, and move it there."""
        place = Path(path)
        arriving = place.with_name(f".{place.name}.{os.getpid()}.new")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            arriving.write_bytes(raw)
            arriving.replace(place)
        except OSError as error:
            with suppress(OSError):
                arriving.unlink()
            raise Unusable(_why(error, path)) from None

    def read(self, path: str) -> bytes:
        """Return a whole file."""
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise Unusable(_why(error, path)) from None

    def list(self, folder: str) -> list[str]:
        """Return what is there; files that are just being written are not yet."""
        try:
            every = [it for it in Path(folder).rglob("*") if it.is_file()]
        except OSError as error:
            raise Unusable(_why(error, folder)) from None
        return sorted(str(it) for it in every if not it.name.startswith("."))

    def delete(self, path: str) -> None:
        """Delete it; what is not there is gone already."""
        place = Path(path)
        try:
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
        except OSError as error:
            raise Unusable(_why(error, path)) from None


def _why(error: OSError, path: str) -> str:
    return f"{error.strerror or error} ({path})"


class MemoryFiles(Files):
    """Files that are nowhere; whoever wants some to be out of reach says so."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        #: Tells of a path whether it cannot be written or read now.
        self.is_away: Callable[[str], bool] = lambda _path: False

    def write(self, path: str, raw: bytes) -> None:
        """Keep a file."""
        self._check(path)
        self.kept[path] = raw

    def read(self, path: str) -> bytes:
        """Return a file."""
        self._check(path)
        if path not in self.kept:
            raise Unusable(f"No such file or directory ({path})")
        return self.kept[path]

    def list(self, folder: str) -> list[str]:
        """Return what is below a folder."""
        self._check(folder)
        return sorted(it for it in self.kept if it.startswith(f"{folder.rstrip('/')}/"))

    def delete(self, path: str) -> None:
        """Forget it."""
        for it in [path, *self.list(path)]:
            self.kept.pop(it, None)

    def _check(self, path: str) -> None:
        if self.is_away(path):
            raise Unusable(f"Input/output error ({path})")
