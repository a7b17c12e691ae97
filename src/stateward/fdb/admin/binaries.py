"""Where FoundationDB's programs are: one folder may have those of several versions.

``FOLDER/7.3.79/fdbcli``, ``FOLDER/7.3/fdbcli`` (as images have them), or ``FOLDER/fdbcli``.
Programs of one minor release understand its databases, whatever the patch; of another they see an
outage.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.core.version import Version
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.model import versions

_LIBRARY: Final = "libfdb_c.so"
_VERSION: Final = re.compile(r"\(v(?P<version>[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.]+)?)\)")


@dataclass(frozen=True, slots=True)
class Binaries:
    """Folders with programs, the first that has one wins."""

    folders: Sequence[Path]

    def find(self, program: str, version: Version) -> Path:
        """Return the program for databases of a version; raise ProgramUnusable."""
        for folder in self.folders:
            for place in (*_own(folder, version), folder):
                if _is_program(place / program):
                    return place / program
        raise ProgramUnusable(self.missing(program, version), hint="put it into one of these")

    def has(self, program: str, version: Version) -> bool:
        """Tell whether a program is there."""
        places = (it for folder in self.folders for it in (*_own(folder, version), folder))
        return any(_is_program(it / program) for it in places)

    def find_library(self, version: Version) -> Path | None:
        """Return libfdb_c for databases of a version, if it lies beside programs of it.

        Images of FoundationDB have it under its minor release, and hand it out so.
        """
        places = (it for folder in self.folders for it in (*_own(folder, version), folder))
        line = f"{version.major}.{version.minor}"
        names = (f"libfdb_c_{version}.so", f"libfdb_c_{line}.so", _LIBRARY)
        every = (it / name for it in places for name in names)
        return next((it for it in every if it.is_file()), None)

    def lacking(self, program: str, version: Version) -> str:
        """Return that a program is in no folder of its version, beside others; empty: it is.

        One that lies in none is of the version that runs already.
        """
        places = (place for folder in self.folders for place in _own(folder, version))
        if any(_is_program(place / program) for place in places):
            return ""
        return self.missing(program, version)

    def missing(self, program: str, version: Version) -> str:
        """Return that a program is not there, and where it was looked for."""
        looked = ", ".join(map(str, self.folders)) or "no folder"
        line = f"{version.major}.{version.minor}"
        return f"{program} of FoundationDB {line} must be on this machine; looked in {looked}"


def _own(folder: Path, version: Version) -> tuple[Path, Path]:
    """Return where programs of a version lie beside those of others."""
    return folder / str(version), folder / f"{version.major}.{version.minor}"


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def said_version(said: str, program: str) -> Version:
    """Return which version a program says it is; raise ProgramUnusable if it says none."""
    found = _VERSION.search(said)
    try:
        return Version.parse(found["version"] if found else "")
    except ValueError:
        raise ProgramUnusable(
            f"{program} --version must name a version, and says {said[:80]!r}"
        ) from None


def check_version(said: str, wanted: Version, program: str) -> Version:
    """Return which version a program says it is; raise ProgramUnusable if it cannot be used."""
    version = said_version(said, program)
    if not versions.are_compatible(version, wanted):
        raise ProgramUnusable(
            f"{program} must be of FoundationDB {wanted.major}.{wanted.minor}, and is {version}",
            hint="a program of another minor release sees nothing but an outage",
        )
    return version
