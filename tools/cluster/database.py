"""The image of FoundationDB that nodes get: with programs of this machine, or EMULATED.

It is the operator's image, which has Python and the stand-in, and a layer with programs under their
real names. It is made for stories alone: nothing that is installed anywhere has it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from stateward.app.fdb.available import Found, available, choose
from stateward.app.fdb.programs import REPOSITORIES
from stateward.core.version import Version
from stateward.emulate.fdb.programs import pace, shims
from stateward.emulate.keepers import image as keeper
from stateward.emulate.keepers.image import HOME, LIBRARIES, VERSION_FILE
from tools.image import application, archive

VERSION: Final = "7.3.63"
REPOSITORY: Final = "foundationdb/fdb-kubernetes-monitor"
#: Seconds of the stand-in in one of the world.
_PACE: Final = "30"
_PYTHON: Final = "/usr/bin/python3.11"


@dataclass(frozen=True, slots=True)
class Database:
    """Which FoundationDB is in the image."""

    version: str = VERSION
    #: Real programs, by their names; none: it is the stand-in.
    programs: dict[str, Path] = field(default_factory=dict)
    #: Its libfdb_c, where there is one beside them.
    library: Path | None = None

    @property
    def image(self) -> str:
        """What the image is called."""
        return f"{REPOSITORY}:{self.version}"

    @property
    def is_emulated(self) -> bool:
        """Whether the stand-in is in it."""
        return not self.programs

    def __str__(self) -> str:
        return f"FoundationDB {self.version}{', EMULATED' if self.is_emulated else ''}"


def of_this_machine() -> Database:
    """Return what this machine has: real programs as elsewhere, by STATEWARD_FDB_BIN first."""
    found = choose(Version.parse(VERSION), asyncio.run(available()))
    if not isinstance(found, Found) or found.emulated:
        return Database()
    return Database(str(found.version), dict(found.programs), found.library)


def write(database: Database, operator: Path, output: Path) -> Path:
    """Write the archive of the image, upon that of the operator's; return where it is."""
    with tempfile.TemporaryDirectory() as scraps:
        root = Path(scraps)
        furnish(root, database)
        added = archive.layer(root, lambda _: True, level=1)
    archive.write(archive.upon(operator, added, _config(database), database.image), output)
    return output


def furnish(root: Path, database: Database) -> None:
    """Put the programs where they are in real images; those that keep servers are ours."""
    folder = root / HOME.relative_to("/")
    folder.mkdir(parents=True)
    for name, module in {**shims.DATABASE, **shims.KEEPERS}.items():
        if real := database.programs.get(name):
            shutil.copy(real, folder / name)
        else:
            (folder / name).write_text(script(module, database.version), encoding="utf-8")
        (folder / name).chmod(0o755)
    library = root / LIBRARIES.relative_to("/") / f"libfdb_c_{_line(database.version)}.so"
    library.parent.mkdir(parents=True)
    if database.library is not None:
        shutil.copy(database.library, library)
    else:  # images have one, and whoever copies it finds one
        library.write_bytes(b"EMULATED: there is no library of FoundationDB.\n")
    version = root / VERSION_FILE.relative_to("/")
    version.parent.mkdir(parents=True)
    version.write_text(f"{database.version}\n", encoding="utf-8")


def _line(version: str) -> str:
    """Return the minor release of a version, by which images name their libraries."""
    parsed = Version.parse(version)
    return f"{parsed.major}.{parsed.minor}"


def script(module: str, version: str) -> str:
    """Return a program for an image that has Python and no shell.

    It finds what it needs whoever calls it, in the operator's image too, to which it is copied.
    """
    says = {keeper.VERSION: version, pace.VARIABLE: _PACE}
    return (
        # -P: what lies in a container's folder is not imported.
        f"#!{_PYTHON} -P\n"
        "# EMULATED: Stateward's stand-in for a program of FoundationDB.\n"
        "import os, runpy, sys\n"
        f"sys.path.insert(0, {'/' + application.HOME!r})\n"
        f"os.environ.update({says!r}, STATEWARD_FDB_CALLED=sys.argv[0])\n"
        f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)\n"
    )


def _config(database: Database) -> dict[str, Any]:
    labels = {
        "org.opencontainers.image.title": REPOSITORIES[REPOSITORY],
        "org.opencontainers.image.description": f"{database}, for tests",
        "org.opencontainers.image.version": database.version,
        "stateward.dev/emulated": str(database.is_emulated).lower(),
    }
    return {
        "Entrypoint": [str(HOME / REPOSITORIES[REPOSITORY])],
        "Cmd": [],
        "Labels": labels,
    }
