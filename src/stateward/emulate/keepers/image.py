"""The image that a keeper stands for: its version, its programs and libraries, and its first line.

In a real image the programs are in ``/usr/bin``. Here they are in the folder that
``STATEWARD_FDB_PROGRAMS`` names, in a folder of it that is called like the version or in itself;
without that variable in ``/usr/bin``, and then wherever ``PATH`` says.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from stateward.emulate.keepers.places import Places

PROGRAMS = "STATEWARD_FDB_PROGRAMS"
VERSION = "STATEWARD_FDB_VERSION"
DEFAULT_VERSION = "7.3.79"

#: Where a real image says which version it is.
VERSION_FILE = Path("/var/fdb/version")

#: Where the programs of a real image are.
HOME = PurePosixPath("/usr/bin")

#: Where the client libraries of a real image are, by their minor releases.
LIBRARIES = Path("/usr/lib/fdb/multiversion")


@dataclass(frozen=True, slots=True)
class Image:
    """What a keeper may take from its own image, and where the paths of its container are."""

    version: str
    folder: Path | None
    search: str
    places: Places

    @classmethod
    def of(cls, environment: Mapping[str, str], version_file: Path = VERSION_FILE) -> Self:
        """Return what the environment says; where it says no version, a file of the image may."""
        folder = environment.get(PROGRAMS)
        return cls(
            version=environment.get(VERSION) or _read(version_file) or DEFAULT_VERSION,
            folder=Path(folder) if folder else None,
            search=environment.get("PATH", os.defpath),
            places=Places.of(environment),
        )

    @property
    def line(self) -> str:
        """The release line, as programs print it: the first two numbers."""
        return ".".join(self.version.split(".")[:2])

    def banner(self, program: str) -> str:
        """Return what a person is told first, whatever follows."""
        return (
            f"EMULATED: this is Stateward's own {program}, standing for the one in an image"
            f" of FoundationDB {self.version}"
        )

    def program(self, name: str) -> Path | None:
        """Return where a program of the image is, or None when it is nowhere."""
        for path in self._candidates(name):
            if is_program(path):
                return path
        found = shutil.which(name, path=self.search)
        return Path(found) if found else None

    def library(self, version: str) -> Path | None:
        """Return where the client library of a version is, or None."""
        name = f"libfdb_c_{version}.so"
        real = (LIBRARIES / name, Path("/var/fdb/lib", name))
        ours = (
            (self.folder / version / "libfdb_c.so", self.folder / "lib" / name, self.folder / name)
            if self.folder
            else ()
        )
        return next((path for path in (*ours, *real) if path.is_file()), None)

    def runs(self, shown: str) -> str:
        """Return the file to run for a program as a configuration names it.

        A name, or a path in the folder of a real image, is a program of ours; any other path is a
        path of the container.
        """
        path = PurePosixPath(shown)
        if path.parent in {HOME, PurePosixPath()}:
            return str(self.program(path.name) or shown)
        return self.places.translated(shown)

    def _candidates(self, name: str) -> Iterator[Path]:
        if self.folder is None:
            yield Path(HOME / name)
            return
        yield self.folder / self.version / name
        yield self.folder / name
        yield self.folder / "bin" / name


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def is_program(path: Path) -> bool:
    """Tell whether a path is a file that its owner may run."""
    try:
        return path.is_file() and bool(path.stat().st_mode & 0o100)
    except OSError:
        return False
