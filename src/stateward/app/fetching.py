"""Fetches what a project publishes: by https alone, to its end, and compared with its checksum.

What goes wrong is said in a sentence, with the variable by which a mirror can be named.
"""

from __future__ import annotations

import hashlib
import platform
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import aiohttp
from yarl import URL

from stateward.core.errors import PeerConfused, PeerError, PeerUnreachable, UsageError
from stateward.core.version import Version

#: Bytes that are plenty for a list of checksums.
_SHORT: Final = 1 << 18
_CHUNK: Final = 1 << 18
#: Seconds for a connection and between two pieces of an answer.
_TIMES: Final = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=30)
_MISSING, _WHOLE, _REST, _BEYOND = 404, 200, 206, 416
#: Digits of a SHA-256.
_DIGITS: Final = 64


@dataclass(frozen=True, slots=True)
class Site:
    """What is fetched from somewhere, and how people can help."""

    #: What is published there, as in "a release of etcd", and where it is.
    what: str
    usual: str
    #: The variable that names a mirror, and what does without any network.
    mirror: str
    otherwise: str


def wanted_version(text: str) -> Version:
    """Return the version that somebody typed; raise UsageError."""
    try:
        return Version.parse(text)
    except ValueError as error:
        raise UsageError(f"--version: {error}") from None


def machine_of(machines: Mapping[str, str], hint: str) -> str:
    """Return how releases call this machine; raise UsageError where there are none for it."""
    found = machines.get(platform.machine())
    if platform.system() != "Linux" or found is None:
        raise UsageError(
            f"releases are fetched for Linux on {', '.join(sorted(machines))}, and this is"
            f" {platform.system()} on {platform.machine()}",
            hint=hint,
        )
    return found


def address_of(site: Site, typed: str, environment: Mapping[str, str]) -> str:
    """Return where releases are: as typed, as the variable says, or as usual; raise UsageError."""
    place = (typed or environment.get(site.mirror, "") or site.usual).rstrip("/")
    try:
        found = URL(place)
    except ValueError as error:
        raise UsageError(f"the site must be an address, got {place!r}: {error}") from None
    _check_private(found, site)
    return place


def _check_private(url: URL, site: Site) -> None:
    """Refuse an address on which others can change what we get: the checksums come from there."""
    if url.scheme != "https" and not (url.scheme == "http" and _is_here(url.host or "")):
        raise UsageError(
            f"the site must be asked by https, got {url}",
            hint=f"correct what you typed, or {site.mirror}",
        )


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def session() -> AsyncGenerator[aiohttp.ClientSession, None]:
    """Provide one who asks sites."""
    trusted = aiohttp.TCPConnector(ssl=ssl.create_default_context())
    async with aiohttp.ClientSession(
        connector=trusted, timeout=_TIMES, trust_env=True, auto_decompress=False
    ) as found:
        yield found


@asynccontextmanager
async def asked(
    client: aiohttp.ClientSession, url: URL, site: Site, since: int = 0
) -> AsyncGenerator[aiohttp.ClientResponse, None]:
    """Provide the answer of a site; whatever goes wrong is said in a sentence."""
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={since}-"} if since else {})
    try:
        async with client.get(url, headers=headers) as answer:
            for step in (*answer.history, answer):
                _check_private(step.url, site)
            _check_there(answer, url, site, is_rest=since > 0)
            yield answer
    except (TimeoutError, aiohttp.ClientError) as error:
        raise PeerUnreachable(
            f"{url} must be reachable and answer to the end: {str(error) or 'no answer in time'}",
            hint=f"check the network, or name a mirror in {site.mirror};"
            f" without a network {site.otherwise}",
        ) from error


def _check_there(answer: aiohttp.ClientResponse, url: URL, site: Site, *, is_rest: bool) -> None:
    if answer.status == _MISSING:
        raise UsageError(
            f"{url} must be there, and is not",
            hint=f"the version must be {site.what} that has files for this machine",
        )
    if answer.status != _WHOLE and not (is_rest and answer.status in (_REST, _BEYOND)):
        raise PeerError(f"{url} must be given out, and the answer is {answer.status}")


async def short(client: aiohttp.ClientSession, url: URL, site: Site) -> str:
    """Return a short text, as a list of checksums is."""
    async with asked(client, url, site) as answer:
        text = await answer.content.read(_SHORT)
        while len(text) < _SHORT and (more := await answer.content.read(_SHORT)):
            text += more
    if len(text) >= _SHORT:
        raise PeerConfused(f"{url} must be a short list, and has more than {_SHORT} bytes")
    return text.decode(errors="replace")


def digest_in(sums: str, name: str, url: URL) -> str:
    """Return the checksum of a file in a list of them; one that stands alone needs no name."""
    lines = [line.strip() for line in sums.splitlines() if line.strip()]
    for line in lines:
        digest, _, said = line.partition(" ")
        named = said.strip(" *").rpartition("/")[2]
        is_it = named == name or (not named and len(lines) == 1)
        if is_it and len(digest) == _DIGITS:
            return digest.lower()
    raise PeerConfused(
        f"{url} must have a SHA-256 of {name}, and has none", hint="nothing was fetched"
    )


@dataclass(frozen=True, slots=True)
class File:
    """A file that is there to be fetched: where, its checksum, and the most that it may be."""

    url: URL
    digest: str
    most: int


async def download(client: aiohttp.ClientSession, file: File, path: Path, site: Site) -> None:
    """Fetch a file; what is there of it already is gone on from.

    Raise PeerConfused, with nothing left of it, when it is not what its checksum says.
    """
    have = _size(path)
    async with asked(client, file.url, site, have) as answer:
        if answer.status == _WHOLE and have:  # it does not give out parts
            _drop(path)
        if answer.status != _BEYOND:
            await _append(answer, file, path)
    found = _digest_of(path)
    if found != file.digest:
        _drop(path)
        raise PeerConfused(
            f"{file.url} must have the SHA-256 {file.digest}, and has {found}",
            hint="nothing was kept; try again, or check who changes what you fetch",
        )


async def _append(answer: aiohttp.ClientResponse, file: File, path: Path) -> None:
    length = _size(path)
    with path.open("ab") as out:
        async for piece in answer.content.iter_chunked(_CHUNK):
            length += len(piece)
            if length <= file.most:
                out.write(piece)
                continue
            _drop(path)
            raise PeerConfused(
                f"{file.url} must be a file of a release, and has more than {file.most} bytes",
                hint="nothing was kept",
            )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _drop(path: Path) -> None:
    path.unlink()


def _digest_of(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as source:
        while piece := source.read(_CHUNK):
            found.update(piece)
    return found.hexdigest()
