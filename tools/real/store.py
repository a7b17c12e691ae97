"""The cache of built programs: ``<part>-<release>/<version>/``, each with its checksum beside it.

A program appears whole or not at all. One that is not what was built is removed: a wrong program
would make wrong tests, a missing one is built again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stateward.local.real import programs

SUMS: Final = "SHA256SUMS"
_UNFINISHED: Final = ".unfinished-"


@contextmanager
def locked(root: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Let one process at a time change the cache; the others wait."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("waiting for another `make real` to end")
            fcntl.flock(file, fcntl.LOCK_EX)
        for left in root.glob(f"*/{_UNFINISHED}*"):  # by one that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextmanager
def workbench(root: Path, part: str) -> Iterator[Path]:
    """Give a folder to build in, on the same disk as the cache; it does not stay."""
    (root / part).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root / part, prefix=_UNFINISHED) as folder:
        yield Path(folder)


def keep(built: Path, version: str) -> Path:
    """Move a program from its workbench to its place, with its checksum."""
    folder = built.parents[1] / version
    folder.mkdir(exist_ok=True)
    sums = _sums(folder) | {built.name: _sum(built)}
    lines = "".join(f"{it}  {name}\n" for name, it in sorted(sums.items()))
    written = built.parent / SUMS
    written.write_text(lines)
    built.replace(folder / built.name)
    if (folder / SUMS).is_dir():
        remove(folder / SUMS)
    written.replace(folder / SUMS)
    return folder / built.name


def is_sound(path: Path) -> bool:
    """Return whether a program is still what was built."""
    try:
        return _sums(path.parent).get(path.name) == _sum(path)
    except OSError:  # another process was faster, or it cannot be read
        return False


def remove(path: Path) -> None:
    """Remove what stands in the place of a program, whatever it is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def drop_older(folder: Path) -> list[Path]:
    """Remove the versions of a part of which the newest has every program; return them."""
    newest, *older = programs.versions(folder) or [folder]
    gone = [it for it in older if _names(it) <= _names(newest)]
    for it in gone:
        shutil.rmtree(it)
    return gone


def size(root: Path) -> int:
    """Return how many bytes the cache takes."""
    return sum(
        (Path(folder) / name).lstat().st_size
        for folder, _, names in os.walk(root)
        for name in names
    )


def _names(folder: Path) -> set[str]:
    return {it.name for it in folder.iterdir()} - {SUMS}


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sums(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / SUMS).read_text(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (it.split() for it in lines)
    return {it[1]: it[0] for it in pairs if len(it) == 2}
