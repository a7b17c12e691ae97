"""An alarm for what takes too long."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Final

#: Seconds that a life has to end itself after the alarm, and the exit code of who gave up.
_LAST_CHANCE, GAVE_UP = 5.0, 99

__all__: Final = ["GAVE_UP", "Alarm", "TookTooLong"]


class TookTooLong(KeyboardInterrupt):
    """A life took too long. Like Ctrl-C, because asyncio swallows every other error."""


class Alarm:
    """Ends what takes too long: at first with an error, and if that is not heard, the process."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._rang = False

    def __enter__(self) -> Alarm:
        self.set()
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def set(self) -> None:
        """Let it ring after so many seconds of this machine."""
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, _LAST_CHANCE)

    def _ring(self, _: int, __: FrameType | None) -> None:
        if self._rang:
            os._exit(GAVE_UP)
        self._rang = True
        raise TookTooLong
