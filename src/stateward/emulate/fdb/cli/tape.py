"""One call of fdbcli: what it prints, when it must end, and how it waits.

A command is a generator: it yields how many seconds it waits, and whoever plays it lets those go
by, on a clock of the model's own, of a simulation, or of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final, TypeAlias

from stateward.emulate.fdb.database import Database

TIMED_OUT: Final = "Specified timeout reached -- exiting...\n"
_LONG: Final = 5.0
_DELAY: Final = "\nWARNING: Long delay (Ctrl-C to interrupt)\n"
_STEP: Final = 1.0

#: What a command is: the seconds for which it waits, one after another.
Waits: TypeAlias = Generator[float, None, None]


class Failed(Exception):
    """A command failed; the rest of the line is not run."""


class Tape:
    """What one call has printed so far."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.out, self.err = "", ""

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

    def misused(self, usage: str) -> Failed:
        """Print how a command is used: it has failed."""
        self.say(f"Usage: {usage}")
        return Failed()

    def wait(self, is_so: Callable[[], bool], *, quietly: bool = False) -> Waits:
        """Wait until something is so; after five seconds a command says that it takes long."""
        began, has_said = self.database.now, quietly
        while not is_so():
            yield _STEP
            if not has_said and self.database.now - began >= _LONG:
                has_said = True
                self.err += _DELAY
                self.out += f"\n{minimal(self.database)}\n\n"

    def serve(self) -> Waits:
        """Wait until transactions are served, and somebody says by whom."""
        return self.wait(lambda: self.database.recovery.serves and _is_found(self.database))


def _is_found(database: Database) -> bool:
    return any(map(database.reachable, database.string.coordinators))


def minimal(database: Database) -> str:
    """Return the shortest status."""
    if database.recovery.serves and database.has_quorum:
        return "The database is available."
    return "The database is unavailable; type `status' for more information."
