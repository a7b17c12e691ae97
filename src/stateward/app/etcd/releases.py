"""Official releases of etcd, fetched on request: looked at, agreed to, compared, unpacked.

Nothing is written before the user agrees, and nothing stays that was not compared with the
checksum of its release. Of an archive only the three programs are taken, whatever else it says.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import ssl
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import aiohttp
from yarl import URL

from stateward.app.etcd.archives import ArchiveOdd, unpack
from stateward.app.etcd.available import fetched
from stateward.core.errors import PeerConfused, PeerError, PeerUnreachable, UsageError
from stateward.core.version import Version
from stateward.etcd.api.settings import DEFAULT_VERSION
from stateward.local.real.programs import version_of

#: Where the project publishes its releases, and the variable that names another place.
SITE: Final = "https://github.com/etcd-io/etcd/releases/download"
SITE_VARIABLE: Final = "STATEWARD_ETCD_DOWNLOAD"
#: The release that is fetched when nobody says which.
USUAL: Final = str(DEFAULT_VERSION)

#: Bytes that are plenty for a list of checksums and for an archive.
_SUMS, _ARCHIVE = 1 << 18, 1 << 28
_CHUNK: Final = 1 << 18
#: Seconds for a connection and between two pieces of an answer.
_TIMES: Final = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=30)
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
    try:
        wanted = Version.parse(version)
    except ValueError as error:
        raise UsageError(f"--version: {error}") from None
    if wanted.pre:
        raise UsageError(f"--version must be a release, got the pre-release {wanted}")
    machine = _MACHINES.get(platform.machine())
    if platform.system() != "Linux" or machine is None:
        raise UsageError(
            f"releases are fetched for Linux on {', '.join(sorted(_MACHINES))}, and this is"
            f" {platform.system()} on {platform.machine()}",
            hint="name an etcd of your own in STATEWARD_ETCD_BIN",
        )
    place = (site or environment.get(SITE_VARIABLE, "") or SITE).rstrip("/")
    _check_private(_read_url(place))
    return Release(wanted, place, machine)


def place_of(release: Release, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of a release that was fetched, or will be."""
    return fetched(environment) / str(release.version)


async def look(release: Release) -> Offer:
    """Return what there is to fetch; nothing is written, and the archive is not read."""
    async with _session() as session:
        sums = await _short(session, release.sums)
        async with _asked(session, release.archive) as answer:
            size = answer.content_length
    return Offer(release, _digest(sums, release), size)


async def fetch(offer: Offer, place: Path) -> None:
    """Fetch a release into a folder that appears whole, or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=place.parent) as name:
        archive, fresh = Path(name) / "archive", Path(name) / "programs"
        await _download(offer, archive)
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


# ---------------------------------------------------------------- the network
@asynccontextmanager
async def _session() -> AsyncGenerator[aiohttp.ClientSession, None]:
    trusted = aiohttp.TCPConnector(ssl=ssl.create_default_context())
    async with aiohttp.ClientSession(
        connector=trusted, timeout=_TIMES, trust_env=True, auto_decompress=False
    ) as session:
        yield session


@asynccontextmanager
async def _asked(
    session: aiohttp.ClientSession, url: URL
) -> AsyncGenerator[aiohttp.ClientResponse, None]:
    """Provide the answer of a site; whatever goes wrong is said in a sentence."""
    try:
        async with session.get(url, headers={"Accept-Encoding": "identity"}) as answer:
            for step in (*answer.history, answer):
                _check_private(step.url)
            _check_there(answer, url)
            yield answer
    except (TimeoutError, aiohttp.ClientError) as error:
        raise PeerUnreachable(
            f"{url} must be reachable and answer to the end: {str(error) or 'no answer in time'}",
            hint=f"check the network, or name a mirror in {SITE_VARIABLE};"
            " without a network name an etcd in STATEWARD_ETCD_BIN",
        ) from error


def _check_there(answer: aiohttp.ClientResponse, url: URL) -> None:
    if answer.status == 404:
        raise UsageError(
            f"{url} must be there, and is not",
            hint="the version must be a release of etcd that has archives for this machine",
        )
    if answer.status != 200:
        raise PeerError(f"{url} must be given out, and the answer is {answer.status}")


def _read_url(text: str) -> URL:
    try:
        return URL(text)
    except ValueError as error:
        raise UsageError(f"the site must be an address, got {text!r}: {error}") from None


def _check_private(url: URL) -> None:
    """Refuse an address on which others can change what we get: the checksums come from there."""
    if url.scheme != "https" and not (url.scheme == "http" and _is_here(url.host or "")):
        raise UsageError(
            f"the site must be asked by https, got {url}",
            hint=f"correct --from or {SITE_VARIABLE}",
        )


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _short(session: aiohttp.ClientSession, url: URL) -> str:
    async with _asked(session, url) as answer:
        text = await answer.content.read(_SUMS)
        while len(text) < _SUMS and (more := await answer.content.read(_SUMS)):
            text += more
    if len(text) >= _SUMS:
        raise PeerConfused(f"{url} must be a short list, and has more than {_SUMS} bytes")
    return text.decode(errors="replace")


def _digest(sums: str, release: Release) -> str:
    for line in sums.splitlines():
        digest, _, name = line.strip().partition(" ")
        if name.strip(" *") == release.archive.name and len(digest) == 64:
            return digest.lower()
    raise PeerConfused(
        f"{release.sums} must have a SHA-256 of {release.archive.name}, and has none",
        hint="nothing was fetched",
    )


async def _download(offer: Offer, file: Path) -> None:
    url, found = offer.release.archive, hashlib.sha256()
    with file.open("wb") as out:
        async with aclosing(_pieces(url)) as pieces:
            async for piece in pieces:
                found.update(piece)
                out.write(piece)
    if found.hexdigest() != offer.digest:
        raise PeerConfused(
            f"{url} must have the SHA-256 {offer.digest}, and has {found.hexdigest()}",
            hint="nothing was kept; try again, or check who changes what you fetch",
        )


async def _pieces(url: URL) -> AsyncGenerator[bytes, None]:
    """Yield an archive piece by piece; raise PeerConfused when it does not end."""
    length = 0
    async with _session() as session, _asked(session, url) as answer:
        async for piece in answer.content.iter_chunked(_CHUNK):
            length += len(piece)
            if length > _ARCHIVE:
                raise PeerConfused(
                    f"{url} must be an archive of etcd, and has more than {_ARCHIVE} bytes",
                    hint="nothing was kept",
                )
            yield piece
