"""Official releases of FoundationDB, fetched on request: looked at, agreed to, compared, kept.

Each program is a file of its own with a checksum beside it. Nothing is written before the user
agrees; a release appears whole or not at all, and one that was interrupted is gone on with.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from yarl import URL

from stateward.app import fetching
from stateward.app.fdb.asking import said
from stateward.app.fetching import File
from stateward.core.errors import PeerConfused, PeerError, UsageError
from stateward.core.version import Version
from stateward.fdb.admin.binaries import check_version
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.local.real import programs

#: Where the project publishes its releases, and the variable that names another place.
SITE: Final = "https://github.com/apple/foundationdb/releases/download"
SITE_VARIABLE: Final = "STATEWARD_FDB_DOWNLOAD"
#: The release that is fetched when nobody says which.
USUAL: Final = "7.3.79"

_SITE: Final = fetching.Site(
    "a release of FoundationDB",
    SITE,
    SITE_VARIABLE,
    "copy the files of a release into the folder fdb/VERSION of our cache",
)
#: Bytes that are plenty for a program.
_PROGRAM = 1 << 30
_PROGRAMS: Final = ("fdbserver", "fdbcli", "fdbbackup")
#: These are fdbbackup under other names.
_SAME: Final = ("fdbrestore", "backup_agent")
_LIBRARY: Final = "libfdb_c"
_MACHINES: Final = {"x86_64": "x86_64", "aarch64": "aarch64"}
_LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class Release:
    """One version for one kind of machine, and where it is published."""

    version: Version
    site: str
    machine: str

    def files(self) -> dict[str, URL]:
        """Return where each file is, by the name that it gets here."""
        base = f"{self.site}/{self.version}"
        found = {it: URL(f"{base}/{it}.{self.machine}") for it in _PROGRAMS}
        return found | {f"{_LIBRARY}.so": URL(f"{base}/{_LIBRARY}.{self.machine}.so")}


@dataclass(frozen=True, slots=True)
class Offer:
    """A release that is there to be fetched: its files by name, and their bytes if that is said."""

    release: Release
    files: Mapping[str, File]
    size: int | None


def release_of(
    version: str, site: str = "", environment: Mapping[str, str] = os.environ
) -> Release:
    """Return the release of a version for this machine; raise UsageError when there can be none."""
    machine = fetching.machine_of(_MACHINES, "FoundationDB publishes none for it")
    place = fetching.address_of(_SITE, site, environment)
    return Release(fetching.wanted_version(version), place, machine)


def place_of(release: Release, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of a release that was fetched, or will be."""
    return programs.cache(environment).parent / "fdb" / str(release.version)


async def look(release: Release) -> Offer:
    """Return what there is to fetch; nothing is written, and no program is read."""
    found: dict[str, File] = {}
    sizes: list[int | None] = []
    async with fetching.session() as session:
        for name, url in release.files().items():
            sums = url.with_name(f"{url.name}.sha256")
            text = await fetching.short(session, sums, _SITE)
            found[name] = File(url, fetching.digest_in(text, url.name, sums), _PROGRAM)
            async with fetching.asked(session, url, _SITE) as answer:
                sizes.append(answer.content_length)
    known = [it for it in sizes if it is not None]
    return Offer(release, found, sum(known) if len(known) == len(sizes) else None)


async def fetch(offer: Offer, place: Path) -> None:
    """Fetch a release into a folder that appears whole, or not at all."""
    arriving = place.with_name(f".{place.name}.part")
    _make(arriving)
    with _alone(arriving):
        async with fetching.session() as session:
            for name, file in offer.files.items():
                await fetching.download(session, file, arriving / name, _SITE)
        await _finish(arriving, place, offer.release.version)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Be the only one who fetches into a folder: two would write into the same files."""
    with (folder / _LOCK).open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"somebody else is fetching into {folder}; wait for them") from None
        yield


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PeerError(
            f"{folder.parent} must be a folder to write to: {error.strerror}",
            hint="name another place for caches in XDG_CACHE_HOME",
        ) from None


async def _finish(arriving: Path, place: Path, version: Version) -> None:
    for name in _PROGRAMS:
        (arriving / name).chmod(0o755)
    for name in _SAME:
        (arriving / name).unlink(missing_ok=True)
        (arriving / name).symlink_to("fdbbackup")
    try:
        check_version(await said(arriving / "fdbserver"), version, "fdbserver")
    except ProgramUnusable as error:
        shutil.rmtree(arriving, ignore_errors=True)
        raise PeerConfused(
            f"what was fetched must be FoundationDB {version} for this machine: {error.message}",
            hint="nothing was kept",
        ) from None
    _keep(arriving, place)


def _keep(arriving: Path, place: Path) -> None:
    (arriving / _LOCK).unlink()
    shutil.rmtree(place, ignore_errors=True)
    arriving.rename(place)
