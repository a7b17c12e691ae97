"""Images of FoundationDB on a local cluster: real programs of this machine, or the stand-in.

What keeps a server running (fdbmonitor, fdb-kubernetes-monitor, the sidecar) is ours either way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from stateward.app.fdb.available import Emulated, Found, choose, folders_of
from stateward.core.errors import UsageError
from stateward.core.version import Version
from stateward.emulate.fdb.programs import shims
from stateward.emulate.keepers import image as keeper
from stateward.local.agent.images import (
    Answer,
    Asked,
    ImageRefused,
    Images,
    ProgramMissing,
    located,
    parts_of,
)
from stateward.local.disk.folder import Layout

#: By repository: what is run where a container names no command.
REPOSITORIES: Final = {
    "foundationdb/fdb-kubernetes-monitor": "fdb-kubernetes-monitor",
    "foundationdb/foundationdb-kubernetes-sidecar": "sidecar",
    "foundationdb/foundationdb": "fdbmonitor",
}
#: ``7.3.79``, or with the number of a build, as the sidecar's images have it.
_TAG: Final = re.compile(r"(?P<version>\d+\.\d+\.\d+(?:-(?:rc|pre)[.\d]*)?)(?:-\d+)?(?:-debug)?")
#: Where programs are in those images; others of the same folders are this machine's.
_FOLDERS: Final = {".", "/usr/bin", "/usr/local/bin", "/"}


def version_of_tag(tag: str) -> Version | None:
    """Return the version that a tag names, or None.

    >>> [str(version_of_tag(it)) for it in ("7.3.79", "7.3.79-1", "latest")]
    ['7.3.79', '7.3.79', 'None']
    """
    found = _TAG.fullmatch(tag)
    try:
        return Version.parse(found["version"]) if found else None
    except ValueError:  # a number that begins with a zero
        return None


@dataclass(frozen=True, slots=True)
class FdbProgram:
    """Stands for images of FoundationDB; what must be made for that is made in a folder."""

    found: Sequence[Found]
    folder: Path
    entry: str
    #: By which programs that write on their own pod reach the cluster.
    kubeconfig: Path

    def __call__(self, asked: Asked) -> Answer:
        """Return what to run; raise ImageRefused or ProgramMissing when that cannot be."""
        choice = self._chosen(asked)
        version = str(choice.version)
        home = self.folder / version
        (database, *_) = folders_of(choice, home / "bin", shims.install)
        keepers = shims.install(home / "keepers", version, shims.KEEPERS)
        words = asked.words if asked.command else (self.entry, *asked.args)
        path = f"{keepers}:{database}:{asked.env.get('PATH', '/usr/bin:/bin')}"
        env = {
            keeper.PROGRAMS: str(database),
            keeper.VERSION: version,
            "PATH": path,
            "KUBECONFIG": str(self.kubeconfig),
        }
        argv = (_program(words[0], (keepers, database), asked), *words[1:])
        return Answer(argv, env, emulated=isinstance(choice, Emulated) or choice.emulated)

    def _chosen(self, asked: Asked) -> Found | Emulated:
        wanted = version_of_tag(parts_of(asked.image)[1])
        if wanted is None:
            raise ImageRefused(
                f'the tag of image "{asked.image}" must name a version of FoundationDB, as in'
                " 7.3.79",
                hint="write the version that is wanted",
            )
        try:
            return choose(wanted, self.found)
        except UsageError as error:
            raise ImageRefused(str(error), hint=error.hint) from None


def _program(word: str, folders: Sequence[Path], asked: Asked) -> str:
    """Return what a word means in these images: their programs, or those of this machine."""
    path = PurePosixPath(word)
    if str(path.parent) not in _FOLDERS:
        if Path(word).is_file():  # a mount, which is written as its place already
            return word
        raise ProgramMissing(
            f'the command of image "{asked.image}" must be a program of it, got "{word}"',
            hint=f"it has {', '.join((*shims.DATABASE, *shims.KEEPERS))}",
        )
    for it in folders:
        if (it / path.name).is_file():
            return str(it / path.name)
    return located(path.name, asked)


def add_fdb(images: Images, found: Sequence[Found], root: Path) -> Images:
    """Let images of FoundationDB be known to a cluster in a folder; return all images."""
    for repository, entry in REPOSITORIES.items():
        program = FdbProgram(found, root / "fdb", entry, Layout(root).kubeconfig)
        images.add(repository, program)
    return images
