"""Children that end with the test run, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_SET_DEATH_SIGNAL = 1
_LIBC = ctypes.CDLL(None)


def dying_with_us() -> Callable[[], None]:
    """Return what a child does before it begins: it asks to be killed when its parent is gone."""
    parent = os.getpid()

    def prepare() -> None:
        _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before it could be asked for
            os._exit(1)

    return prepare
