"""The file that one fdbmonitor holds while it runs; another one with the same file waits for it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from stateward.core.clock import Clock

#: Seconds between two tries.
_PAUSE = 0.2


class Lock:
    """A file that we hold, with our number in it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Take the file away, and let go of it."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)


async def hold(path: Path, clock: Clock, waiting: Callable[[], None]) -> Lock:
    """Return the lock once nobody else holds it; call ``waiting`` once when that is not at once.

    Raise OSError when there can be no such file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    told = False
    while (descriptor := _taken(path)) is None:
        if not told:
            told = True
            waiting()
        await clock.sleep(_PAUSE)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return Lock(path, descriptor)


def _taken(path: Path) -> int | None:
    """Return the file when we have it now.

    Who had it takes it away when ending: what we then hold is a file that nobody else can find.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held, found = os.fstat(descriptor), os.stat(path)  # noqa: PTH116 - beside fstat
    except (BlockingIOError, PermissionError, FileNotFoundError):
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    if (held.st_dev, held.st_ino) != (found.st_dev, found.st_ino):
        os.close(descriptor)
        return None
    return descriptor
