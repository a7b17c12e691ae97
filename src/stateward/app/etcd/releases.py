"""Official releases of etcd, fetched on request: looked at, agreed to, compared, unpacked.

Nothing is written before the user agrees, and nothing stays that was not compared with the
checksum of its release. Of an archive only the three programs are taken, whatever else it says.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from yarl import URL

from stateward.app import fetching
from stateward.app.etcd.archives import ArchiveOdd, unpack
from stateward.app.etcd.available import fetched
from stateward.core.errors import PeerConfused, UsageError
from stateward.core.version import Version
from stateward.etcd.api.settings import DEFAULT_VERSION
from stateward.local.real.programs import version_of

#: Where the project publishes its releases, and the variable that names another place.
SITE: Final = "https://github.com/etcd-io/etcd/releases/download"
SITE_VARIABLE: Final = "STATEWARD_ETCD_DOWNLOAD"
#: The release that is fetched when nobody says which.
USUAL: Final = str(DEFAULT_VERSION)

#: Bytes that are plenty for an archive.
_ARCHIVE = 1 << 28
_SITE: Final = fetching.Site(
    "a release of etcd", SITE, SITE_VARIABLE, "name an etcd in STATEWARD_ETCD_BIN"
)
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64le", "s390x": "s390x"}


@dataclass(frozen=True, slots=True)
class Release:
    """One version for one kind of machine, and where it is published."""

    version: Version
    site: str
    machine: str

    @property
    def folder(self) -> str:
        """The folder that its archive unpacks to."""
        return f"etcd-v{self.version}-linux-{self.machine}"

    @property
    def archive(self) -> URL:
        """Where its archive is."""
        return URL(f"{self.site}/v{self.version}/{self.folder}.tar.gz")

    @property
    def sums(self) -> URL:
        """Where the checksums of its archives are."""
        return URL(f"{self.site}/v{self.version}/SHA256SUMS")


@dataclass(frozen=True, slots=True)
class Offer:
    """A release that is there to be fetched."""

    release: Release
    digest: str
    #: Bytes of the archive; None when the site does not say.
    size: int | None


def release_of(
    version: str, site: str = "", environment: Mapping[str, str] = os.environ
) -> Release:
    """Return the release of a version for this machine; raise UsageError when there can be none."""
    wanted = fetching.wanted_version(version)
    if wanted.pre:
        raise UsageError(f"--version must be a release, got the pre-release {wanted}")
    machine = fetching.machine_of(_MACHINES, "name an etcd of your own in STATEWARD_ETCD_BIN")
    return Release(wanted, fetching.address_of(_SITE, site, environment), machine)


def place_of(release: Release, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of a release that was fetched, or will be."""
    return fetched(environment) / str(release.version)


async def look(release: Release) -> Offer:
    """Return what there is to fetch; nothing is written, and the archive is not read."""
    async with fetching.session() as session:
        sums = await fetching.short(session, release.sums, _SITE)
        async with fetching.asked(session, release.archive, _SITE) as answer:
            size = answer.content_length
    digest = fetching.digest_in(sums, release.archive.name, release.sums)
    return Offer(release, digest, size)


async def fetch(offer: Offer, place: Path) -> None:
    """Fetch a release into a folder that appears whole, or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=place.parent) as name:
        archive, fresh = Path(name) / "archive", Path(name) / "programs"
        file = fetching.File(offer.release.archive, offer.digest, _ARCHIVE)
        async with fetching.session() as session:
            await fetching.download(session, file, archive, _SITE)
        fresh.mkdir()
        try:
            unpack(archive, offer.release.folder, fresh)
            _check_runs(fresh / "etcd", offer.release.version)
        except ArchiveOdd as error:
            raise PeerConfused(
                f"{offer.release.archive} must be an archive of etcd {offer.release.version} for"
                f" this machine, and {error}",
                hint="nothing was kept",
            ) from error
        _put(fresh, place)


def _check_runs(program: Path, version: Version) -> None:
    if (said := version_of(program, "etcd")) != str(version):
        raise ArchiveOdd(f"its etcd says that it is {said or 'nothing'} here")


def _put(fresh: Path, place: Path) -> None:
    try:
        fresh.rename(place)
    except OSError:
        # Another one was faster, or an earlier one is no good: ours has just been checked.
        shutil.rmtree(place, ignore_errors=True)
        fresh.rename(place)
