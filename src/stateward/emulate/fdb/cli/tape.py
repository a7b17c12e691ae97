"""One call of fdbcli: what it prints, when it must end, and how it waits.

It waits by letting the database's time go on; whoever runs it under a real clock lets as much of
that go by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stateward.emulate.fdb.database import Database

TIMED_OUT: Final = "Specified timeout reached -- exiting...\n"
_LONG: Final = 5.0
_DELAY: Final = "\nWARNING: Long delay (Ctrl-C to interrupt)\n"
_STEP: Final = 1.0
#: Without a deadline it waits for ever; nobody here does.
_FOR_EVER: Final = 86_400.0


class TimeIsUp(Exception):
    """The deadline came before the answer."""


class Failed(Exception):
    """A command failed; the rest of the line is not run."""


class Tape:
    """What one call has printed so far, and until when it may go on."""

    def __init__(self, database: Database, timeout: float) -> None:
        self.database = database
        self.out, self.err = "", ""
        self._until = database.now + (timeout or _FOR_EVER)

    def say(self, *lines: str) -> None:
        """Print lines."""
        self.out += "".join(f"{it}\n" for it in lines)

    def warn(self, *lines: str) -> None:
        """Print lines where errors go."""
        self.err += "".join(f"{it}\n" for it in lines)

    def fail(self, *lines: str) -> Failed:
        """Print what is wrong; the command has failed."""
        self.warn(*lines)
        return Failed()

    def spend(self, seconds: float) -> None:
        """Let time go by; raise TimeIsUp at the deadline."""
        then = self.database.now + seconds
        self.database.advance(min(then, self._until))
        if then > self._until:
            raise TimeIsUp

    def wait(self, is_so: Callable[[], bool], *, quietly: bool = False) -> None:
        """Wait until something is so; after five seconds a command says that it takes long."""
        began, has_said = self.database.now, quietly
        while not is_so():
            self.spend(_STEP)
            if not has_said and self.database.now - began >= _LONG:
                has_said = True
                self.err += _DELAY
                self.out += f"\n{minimal(self.database)}\n\n"

    def serve(self) -> None:
        """Wait until transactions are served."""
        self.wait(lambda: self.database.recovery.serves)


def minimal(database: Database) -> str:
    """Return the shortest status."""
    if database.recovery.serves and database.has_quorum:
        return "The database is available."
    return "The database is unavailable; type `status' for more information."
