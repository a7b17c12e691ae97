"""One call of fdbcli: what it prints, when it must end, and how it waits.

A command is a generator: it yields how many seconds it waits, and whoever plays it lets those go
by, on a clock of the model's own, of a simulation, or of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, TypeAlias

from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document

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
        #: From where it is asked, and by which cluster file.
        self.view = Viewpoint()
        self.string = database.string

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
                self.out += f"\n{minimal(self.document())}\n\n"

    def serve(self) -> Waits:
        """Wait until transactions are served, and somebody says by whom."""
        return self.wait(lambda: self.is_served)

    @property
    def is_served(self) -> bool:
        """Whether transactions are served to this one."""
        return self.view.is_served(self.database, self.string)

    @property
    def sees_quorum(self) -> bool:
        """Whether most coordinators answer this one."""
        return self.view.sees_quorum(self.database, self.string)

    def document(self, path: str = "") -> dict[str, Any]:
        """Return the status as this one sees it."""
        return document.status(self.database, self.string, path, self.view)


def minimal(seen: Mapping[str, Any]) -> str:
    """Return the shortest status."""
    found = seen["client"]["database_status"]
    if not found["available"]:
        return "The database is unavailable; type `status' for more information."
    if not found["healthy"]:
        return "The database is available, but has issues (type 'status' for more information)."
    return "The database is available."
