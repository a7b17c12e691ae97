"""The file in which a container says something about its end.

The program may have put anything in its place: a pipe that blocks, a link to somewhere else, a
device without an end. So it is made anew for every start, never followed, and only its end is read.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

#: Bytes that are read.
_MOST = 4096


def begin(path: Path) -> None:
    """Make an empty file, whatever was there; raise OSError when that cannot be."""
    folder = path.parent
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))


def read(path: Path) -> bytes:
    """Return the end of the file; what is no plain file says nothing."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode):
            return b""
        return os.pread(opened, _MOST, max(0, about.st_size - _MOST))
    except OSError:
        return b""
    finally:
        os.close(opened)
