"""The lines that fdbmonitor writes: who says what, when, and how bad it is."""

from __future__ import annotations

from contextlib import suppress
from enum import IntEnum
from typing import TextIO

from stateward.core.clock import Clock


class Severity(IntEnum):
    """How bad it is, in the numbers of FoundationDB."""

    INFO = 10
    WARNING = 20
    ERROR = 40


def line(when: float, severity: Severity, group: str, process: str, text: str) -> str:
    """Return a line.

    >>> line(1.5, Severity.INFO, "default", "fdbmonitor", "Starting fdbserver.1")
    'Time="1.500000" Severity="10" LogGroup="default" Process="fdbmonitor": Starting fdbserver.1'
    """
    return (
        f'Time="{when:.6f}" Severity="{severity:d}" LogGroup="{group}" Process="{process}": {text}'
    )


class Log:
    """Where the lines of one fdbmonitor go."""

    def __init__(self, stream: TextIO, clock: Clock, group: str = "default") -> None:
        self._stream = stream
        self._clock = clock
        self._group = group

    def say(
        self, text: str, severity: Severity = Severity.INFO, *, process: str = "fdbmonitor"
    ) -> None:
        """Write one line; who cannot be told is not waited for."""
        said = line(self._clock.now(), severity, self._group, process, text)
        with suppress(OSError, ValueError):
            self._stream.write(said + "\n")
            self._stream.flush()
