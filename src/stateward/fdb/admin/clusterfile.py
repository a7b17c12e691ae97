"""A private folder with a cluster file in it.

Whoever talks to a database by it, a program or libfdb_c, writes it anew when coordinators have
changed, so it is ours alone, and what it holds afterwards is how the database is found from now on.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.model.connection import ConnectionString

_NAME: Final = "fdb.cluster"
#: Bytes that are plenty for a hundred coordinators.
_MOST: Final = 64 * 1024


class ClusterFile:
    """How one database is found, on disk, where nobody else looks."""

    def __init__(self, lent: Path | None = None) -> None:
        """Have a folder of our own; or use the file that somebody lent us, and leave it there."""
        if lent is not None:
            self.folder, self._name = lent.parent, lent.name
            return
        self._name = _NAME
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="stateward-fdb-"))  # 0700
        except OSError as error:
            raise _refused(f"there must be a place for a cluster file: {error}") from None

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / self._name

    def find_by(self, connection: ConnectionString) -> None:
        """Find the database by this from now on."""
        arriving = self.folder / f"{self._name}.new"
        try:
            arriving.write_text(f"{connection}\n", encoding="ascii")
            arriving.replace(self.path)
        except OSError as error:
            raise _refused(f"the cluster file must be ours to write: {error}") from None

    def found_by(self) -> ConnectionString:
        """Return how it is found; raise DatabaseRefused (CLUSTER_FILE) when nobody can tell."""
        try:
            return ConnectionString.parse(self._text())
        except (OSError, ValueError) as error:
            text = f"the cluster file must hold a connection string: {error}"
            raise _refused(text) from None

    def _text(self) -> str:
        with self.path.open("rb") as source:
            found = source.read(_MOST + 1)
        if len(found) > _MOST:
            raise ValueError(f"it has more than {_MOST} bytes")
        return found.decode("ascii")

    def close(self) -> None:
        """Remove the folder."""
        for path in list(self.folder.glob("*")):
            with suppress(OSError):
                path.unlink()
        with suppress(OSError):
            self.folder.rmdir()


def _refused(text: str) -> DatabaseRefused:
    return DatabaseRefused(Refusal.CLUSTER_FILE, text)
