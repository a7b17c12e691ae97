"""Files: noticed when they change, written whole or not at all, and never outside of a folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from stateward.core.errors import UsageError

#: Which file a path leads to, and in which state it is; None when there is none.
Stamp: TypeAlias = tuple[str, int, int, int, int] | None


class CopyFailed(UsageError):
    """A file could not be copied."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One file to copy."""

    source: Path
    target: Path
    #: Refuse it when it is empty.
    required: bool = False
    #: Leave what is there.
    keep: bool = False
    #: Permissions; None: those of the source.
    mode: int | None = None


class Watched:
    """Notices that a path leads to another file, or to other content, symbolic links included.

    A change counts when two looks in a row see the same: who writes a file in place empties it
    first, and half a configuration is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._taken = self._seen = stamp(path)

    def changed(self) -> bool:
        """Look again; tell whether there is a change that has come to rest, once for each."""
        before, self._seen = self._seen, stamp(self._path)
        if self._seen == self._taken or self._seen != before:
            return False
        self._taken = self._seen
        return True


def absolute(path: Path) -> Path:
    """Return the path from the root; links stay what they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links


def is_there(path: Path) -> bool:
    """Tell whether a path leads to something."""
    return stamp(path) is not None


def stamp(path: Path) -> Stamp:
    """Return which file a path leads to now, and its state."""
    try:
        real = path.resolve(strict=True)
        state = real.stat()
    except (OSError, RuntimeError):
        return None
    return (str(real), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


def write_whole(target: Path, write: Callable[[Path], None]) -> None:
    """Have a file written beside its target and then put there in one step."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(descriptor)
    try:
        write(Path(name))
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def copy(it: Copy) -> bool:
    """Copy a file; tell whether that was needed. Raise CopyFailed with the reason."""
    if it.keep and it.target.exists():
        return False
    try:
        state = it.source.stat()
        if it.required and not state.st_size:
            raise CopyFailed(f"{it.source} must not be empty")
        mode = state.st_mode & 0o777 if it.mode is None else it.mode

        def write(path: Path) -> None:
            shutil.copyfile(it.source, path)
            path.chmod(mode)

        write_whole(it.target, write)
    except OSError as error:
        why = error.strerror or str(error)
        raise CopyFailed(f"{it.source} must be copied to {it.target}: {why}") from error
    return True


def inside(folder: Path, name: str) -> Path | None:
    """Return the path of a name below a folder; None when it leads, or links, out of it.

    >>> inside(Path("/srv"), "../etc/passwd") is inside(Path("/srv"), "/etc/passwd") is None
    True
    """
    relative = PurePosixPath(name)
    if not name or "\0" in name or relative.is_absolute() or ".." in relative.parts:
        return None
    path = folder / relative
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        return None
    return path if real.is_relative_to(folder.resolve()) else None
