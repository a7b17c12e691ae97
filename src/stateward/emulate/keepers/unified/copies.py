"""What the unified image copies as a sidecar or before the start: files, programs, libraries. Pure
but for the question where the image has something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stateward.core.errors import UsageError
from stateward.emulate.keepers.files import Copy
from stateward.emulate.keepers.image import HOME, LIBRARIES, Image


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for on the command line."""

    source: Path
    target: Path
    files: Sequence[str] = ()
    programs: Sequence[str] = ()
    libraries: Sequence[str] = ()
    primary_library: str = ""
    required: Sequence[str] = ()
    #: Below the target, where programs go; empty: by the mode.
    programs_folder: str = ""


def copies(wishes: Wishes, image: Image, *, as_sidecar: bool) -> list[Copy]:
    """Return what to copy; raise UsageError when something asked for cannot be meant.

    A sidecar puts programs where launchers look for those of other versions; before a start they
    are wanted by release line.
    """
    for name in wishes.required:
        if name not in wishes.files:
            raise UsageError(f"--require-not-empty {name} must be one of the files of --copy-file")
    default = f"bin/{image.version}" if as_sidecar else image.line
    folder = _within(wishes.target, wishes.programs_folder or default)
    found = [_file(name, wishes) for name in wishes.files]
    found += [Copy(_program(name, image), _within(folder, name)) for name in wishes.programs]
    found += [
        Copy(_library(it, image), wishes.target / f"libfdb_c_{it}.so") for it in wishes.libraries
    ]
    if wishes.primary_library:
        source = _library(wishes.primary_library, image)
        found.append(Copy(source, wishes.target / "libfdb_c.so"))
    return found


def _file(name: str, wishes: Wishes) -> Copy:
    target = wishes.target / PurePosixPath(name).name
    return Copy(_within(wishes.source, name), target, required=name in wishes.required)


def _within(folder: Path, name: str) -> Path:
    relative = PurePosixPath(name)
    if relative.is_absolute() or ".." in relative.parts or not relative.name:
        raise UsageError(f"what is copied must be named below its folder, got {name!r}")
    return folder / relative


def _program(name: str, image: Image) -> Path:
    return image.program(name) or Path(HOME / name)


def _library(version: str, image: Image) -> Path:
    if "/" in version:
        raise UsageError(f"a library must be named by its version, got {version!r}")
    name = f"libfdb_c_{version}.so"
    return image.library(version) or LIBRARIES / name
