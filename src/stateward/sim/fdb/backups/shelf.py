"""What backups need of a world: files that are nowhere, and who hears of what is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stateward.emulate.fdb.backups import urls
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.console import BLOBS
from stateward.emulate.fdb.database import Database
from stateward.sim.fdb.backups.calls import BackupCall
from stateward.sim.network import Asked

Rows = Sequence[tuple[bytes, bytes | None]]


@dataclass(frozen=True, slots=True)
class Typed:
    """One line that arrived: who sent it, and which database it is about."""

    call: BackupCall
    #: The process of an operator; empty: nobody's.
    who: str
    database: Database


@dataclass(slots=True)
class Shelf:
    """Where backups lie, and what is heard of them."""

    #: Whose call is carried out right now.
    acting: Callable[[], tuple[str, Asked] | None] = lambda: None
    files: MemoryFiles = field(default_factory=MemoryFiles)
    #: Told of every line as it is carried out, and of every one that was, with its code.
    typed: list[Callable[[Typed], None]] = field(default_factory=list)
    done: list[Callable[[Typed, int], None]] = field(default_factory=list)
    #: Seconds that a piece takes whoever does the work, and that it takes to delete files.
    pace: float = 0.3
    deleting: float = 2.0
    #: All that users ever wrote, by versions: what restores are held to.
    written: list[tuple[int, Rows]] = field(default_factory=list)

    def who(self) -> str:
        """Return whose call is carried out right now; empty: nobody's."""
        acting = self.acting()
        return acting[0] if acting is not None else ""

    def write(self, database: Database, rows: Rows) -> int:
        """Write keys as a user does; return as of which version they are so."""
        database.store.at(database.now)
        version = database.store.write(rows)
        self.written.append((version, rows))
        return version

    def keys(self, version: int) -> dict[bytes, bytes]:
        """Return what users had at a version."""
        found: dict[bytes, bytes | None] = {}
        for when, rows in self.written:
            if when <= version:
                found.update(rows)
        return {key: value for key, value in sorted(found.items()) if value is not None}

    def below(self, url: str) -> list[str]:
        """Return all files of a container."""
        return self.files.list(urls.folder(url, BLOBS)) if url else []


def keys_of(database: Database) -> dict[bytes, bytes]:
    """Return all keys of users as they are now."""
    store = database.store
    return dict(store.span(b"", b"\xff", store.at(database.now)))
