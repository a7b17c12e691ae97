"""What a sidecar does to files: copies them, and writes the configuration of fdbmonitor."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stateward.core.errors import UsageError
from stateward.emulate.keepers import files
from stateward.emulate.keepers.files import Copy, CopyFailed
from stateward.emulate.keepers.image import HOME, Image
from stateward.emulate.keepers.split.substitutions import substituted

MONITOR_CONF = "fdbmonitor.conf"


class NotThere(UsageError):
    """A file was asked for that is not there."""


class NotAllowed(UsageError):
    """A path was asked for that leads out of the folder."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What a sidecar is there for."""

    source: Path
    target: Path
    files: Sequence[str] = ()
    programs: Sequence[str] = ()
    libraries: Sequence[str] = ()
    required: Sequence[str] = ()
    monitor_conf: str = ""
    main_version: str = ""


class Work:
    """Carries out orders."""

    def __init__(self, orders: Orders, image: Image, values: Mapping[str, str]) -> None:
        for name in (*orders.files, *orders.required, *orders.programs, orders.monitor_conf):
            if name and files.inside(Path("/"), name) is None:
                raise UsageError(f"what is copied must be named below its folder, got {name!r}")
        for version in orders.libraries:
            if "/" in version:
                raise UsageError(f"a library must be named by its version, got {version!r}")
        self._orders = orders
        self._image = image
        self.values = dict(values)

    def copy_all(self) -> None:
        """Do everything once."""
        self.copy_files()
        self.copy_programs()
        self.copy_libraries()
        self.copy_monitor_conf()

    def copy_files(self) -> None:
        """Copy files of the input, if none is empty that must not be."""
        orders = self._orders
        for name in orders.required:
            path = orders.source / name
            if not path.is_file() or not path.stat().st_size:
                raise CopyFailed(f"{path} must be there and must not be empty")
        for name in orders.files:
            files.copy(Copy(orders.source / name, orders.target / name))

    def copy_programs(self) -> None:
        """Copy programs of our image, unless the main container has the same."""
        orders, image = self._orders, self._image
        if orders.main_version == image.version:
            return
        for name in orders.programs:
            source = image.program(name) or Path(HOME / name)
            target = orders.target / "bin" / image.version / name
            files.copy(Copy(source, target, keep=True, mode=0o744))

    def copy_libraries(self) -> None:
        """Copy client libraries: the first as the one, all others beside it."""
        folder = self._orders.target / "lib"
        for place, version in enumerate(self._orders.libraries):
            name = f"libfdb_c_{version}.so"
            source = self._image.library(version) or Path("/var/fdb/lib", name)
            target = folder / "multiversion" / name if place else folder / "libfdb_c.so"
            files.copy(Copy(source, target, keep=True))

    def copy_monitor_conf(self) -> None:
        """Write the configuration of fdbmonitor, with values for its variables."""
        orders = self._orders
        if not orders.monitor_conf:
            return
        source = orders.source / orders.monitor_conf
        try:
            text = substituted(source.read_text(encoding="utf-8"), self.values)

            def write(path: Path) -> None:
                path.write_text(text, encoding="utf-8")
                path.chmod(0o644)

            files.write_whole(orders.target / MONITOR_CONF, write)
        except (OSError, UnicodeDecodeError) as error:
            raise CopyFailed(f"{source} must be a text to copy: {error}") from error

    def hash_of(self, name: str) -> str:
        """Return the SHA-256 of a file of the output; raise NotThere or NotAllowed."""
        path = self._found(name)
        if not path.is_file():
            raise NotThere(f"{name} must be a file of the output folder")
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()

    def is_present(self, name: str) -> bool:
        """Tell whether something is in the output; raise NotAllowed."""
        return self._found(name).exists()

    def _found(self, name: str) -> Path:
        path = files.inside(self._orders.target, name)
        if path is None:
            raise NotAllowed(f"{name!r} must be a path below the output folder")
        return path
