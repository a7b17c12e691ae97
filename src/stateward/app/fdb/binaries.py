"""FoundationDB's programs for the operator itself: those of this machine, or the stand-in's.

On a local cluster the operator must talk to databases by programs of the same kind as those in the
pods: real ones understand the stand-in's servers no better than the other way round.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from stateward.app.fdb.available import Found, available, choose, folders_of
from stateward.core.errors import UsageError
from stateward.core.version import Version
from stateward.emulate.fdb.programs import shims
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.errors import ProgramUnusable


@dataclass(frozen=True, slots=True)
class LocalBinaries(Binaries):
    """Finds programs as the pods of a local cluster find theirs; the first folder is for shims."""

    found: Sequence[Found] = ()

    def find(self, program: str, version: Version) -> Path:
        """Return the program for databases of a version; raise ProgramUnusable."""
        try:
            choice = choose(version, self.found)
        except UsageError as error:
            raise ProgramUnusable(error.message, hint=error.hint) from None
        into = self.folders[0] / str(version)
        return Binaries(folders_of(choice, into, shims.install)).find(program, version)

    def lacking(self, program: str, version: Version) -> str:
        """Return why databases of a version could not be talked to; empty: they could."""
        try:
            self.find(program, version)
        except ProgramUnusable as error:
            return error.message
        return ""


@asynccontextmanager
async def local_binaries(
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[LocalBinaries]:
    """Provide the programs of this machine for a while; shims that were made go afterwards.

    Raise UsageError when STATEWARD_FDB_BIN names programs that cannot be used.
    """
    found = await available(environment)
    with tempfile.TemporaryDirectory(prefix="stateward-fdb-bin-") as folder:
        yield LocalBinaries((Path(folder),), found)
