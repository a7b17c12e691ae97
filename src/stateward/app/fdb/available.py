"""Which FoundationDB this machine has; where it has none, it is emulated, and that is said.

What STATEWARD_FDB_BIN names is used and nothing else, or an error says why it cannot be; without
that variable PATH is asked, and then what ``stateward local get-fdb`` fetched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from stateward.app.fdb.asking import said
from stateward.core.errors import UsageError
from stateward.core.version import Version
from stateward.emulate.fdb.programs.called import BANNER
from stateward.fdb.admin.binaries import check_version, said_version
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.model.versions import are_compatible
from stateward.local.real import programs

#: Where it is from, in the order in which they are asked.
NAMED: Final = "STATEWARD_FDB_BIN"
ON_PATH: Final = "PATH"
FETCHED: Final = "`stateward local get-fdb`"

_NEEDED: Final = ("fdbserver", "fdbcli")
_BESIDE: Final = ("fdbbackup", "fdbrestore", "backup_agent")
_LIBRARY: Final = "libfdb_c.so"

#: Makes the programs of the stand-in for a version in a folder; returns where they are.
Install: TypeAlias = Callable[[Path, str], Path]
_Places: TypeAlias = Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Found:
    """Programs of one release that belong together, and where they are from."""

    version: Version
    source: str
    #: By their names: those that are needed, and what there is of the others.
    programs: Mapping[str, Path]
    #: libfdb_c, if it is beside them; None: perhaps the system has one.
    library: Path | None
    #: Whether they are those of our stand-in, which say so.
    emulated: bool = False

    def folders(self) -> tuple[Path, ...]:
        """Return where the programs are."""
        return tuple(dict.fromkeys(it.parent for it in self.programs.values()))

    def __str__(self) -> str:
        word = ", EMULATED" if self.emulated else ""
        return f"FoundationDB {self.version} from {self.source}{word}"


@dataclass(frozen=True, slots=True)
class Emulated:
    """There is no real one: our stand-in takes its place."""

    version: Version

    def __str__(self) -> str:
        return f"FoundationDB {self.version}, EMULATED"


async def available(environment: Mapping[str, str] = os.environ) -> tuple[Found, ...]:
    """Return every FoundationDB of this machine; raise UsageError when one is named in vain."""
    if environment.get(NAMED):
        return await _named(environment)
    return (*await _on_path(environment), *_fetched(environment))


def choose(wanted: Version, found: Sequence[Found]) -> Found | Emulated:
    """Return what stands for a version: of its minor release a real one, that one, or the newest.

    Raise UsageError when STATEWARD_FDB_BIN names others only: who names some wants no stand-in.
    """
    near = [it for it in found if are_compatible(it.version, wanted)]
    if near:
        return max(near, key=lambda it: (not it.emulated, it.version == wanted, it.version))
    if any(it.source == NAMED for it in found):
        raise UsageError(
            f"{NAMED} must have FoundationDB {wanted.major}.{wanted.minor}, and has"
            f" {', '.join(str(it.version) for it in found)}",
            hint="name a folder that has it too; without the variable it is emulated",
        )
    return Emulated(wanted)


def folders_of(choice: Found | Emulated, into: Path, install: Install) -> tuple[Path, ...]:
    """Return where the programs are; those of the stand-in are made, in a folder."""
    if isinstance(choice, Found):
        return choice.folders()
    return (install(into, str(choice.version)),)


# -------------------------------------------------------------------------- what is named


async def _named(environment: Mapping[str, str]) -> tuple[Found, ...]:
    found: list[Found] = []
    for word in filter(None, environment[NAMED].split(os.pathsep)):
        folder = _folder(word)
        some = [_places(it) for it in (folder, *programs.versions(folder))]
        some = [it for it in some if it]
        if not some:
            raise _in_vain(f"{folder} has neither, nor has a folder of a version in it")
        found += [await _release(it, NAMED, environment) for it in some]
    if not found:
        raise _in_vain("it names no folder")
    return tuple(found)


def _folder(word: str) -> Path:
    """Return the folder that is meant, by whom too who names a program in it."""
    path = Path(word).absolute()
    return path.parent if programs.is_file(path) else path


async def _release(places: _Places, source: str, environment: Mapping[str, str]) -> Found:
    """Return the programs of one release; raise UsageError when they do not belong together."""
    if missing := [it for it in _NEEDED if it not in places]:
        there = next(iter(places.values()))
        raise _in_vain(f"{' and '.join(missing)} must be beside {there}")
    try:
        text = await said(places["fdbserver"], environment)
        version = said_version(text, "fdbserver")
        for path in places.values():
            check_version(await said(path, environment), version, str(path))
    except ProgramUnusable as error:
        raise _in_vain(error.message) from None
    return _found(version, source, places, emulated=BANNER in text)


def _in_vain(why: str) -> UsageError:
    return UsageError(
        f"{NAMED} must name folders with fdbserver and fdbcli of one release each: {why}",
        hint="correct it or unset it; `stateward local get-fdb` fetches a release",
    )


# -------------------------------------------------------------------------- what is found


async def _on_path(environment: Mapping[str, str]) -> list[Found]:
    """Return what PATH has, if that is whole: packages put a server and tools into two folders."""
    path = environment.get(ON_PATH, "")
    every = {name: it for name in _NEEDED + _BESIDE if (it := _which(name, path)) is not None}
    needed = {name: it for name, it in every.items() if name in _NEEDED}
    for some in (every, needed) if needed else ():
        with suppress(UsageError):
            return [await _release(some, ON_PATH, environment)]
    return []


def _which(program: str, path: str) -> Path | None:
    found = shutil.which(program, path=path)
    return Path(found).absolute() if found else None


def _fetched(environment: Mapping[str, str]) -> list[Found]:
    """Return what was fetched: it was asked for its version before it was kept."""
    try:
        folder = programs.cache(environment).parent / "fdb"
    except UsageError:  # a user without a home has no caches
        return []
    return list(_kept(folder))


def _kept(folder: Path) -> Iterator[Found]:
    for it in programs.versions(folder):
        places = _places(it)
        with suppress(ValueError):  # a folder of somebody else's
            if places.keys() >= set(_NEEDED):
                yield _found(Version.parse(it.name), FETCHED, places)


def _places(folder: Path) -> _Places:
    every = {name: folder / name for name in _NEEDED + _BESIDE}
    return {name: path for name, path in every.items() if programs.can_run(path)}


def _found(version: Version, source: str, places: _Places, *, emulated: bool = False) -> Found:
    library = places["fdbserver"].parent / _LIBRARY
    is_there = programs.is_file(library)
    return Found(version, source, places, library if is_there else None, emulated)
