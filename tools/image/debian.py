"""Debian's Python and what it is linked with: fetched by apt, which checks signatures, and unpacked.

Nothing is installed: no scripts run, no package manager and no shell get into the image.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from tools.image.errors import ImageImpossible

#: What the interpreter and the compiled parts of our packages load.
PACKAGES: Final = (
    "libbz2-1.0",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libsqlite3-0",
    "libssl3",
    "libuuid1",
    "media-types",
    "python3.11-minimal",
    "zlib1g",
)
#: Shared by all machines, so nothing of it depends on which one made the image.
_UNWANTED: Final = (
    "usr/share/man",
    "usr/share/lintian",
    "usr/share/doc-base",
    "usr/share/binfmts",
    "usr/share/gdb",
    "usr/lib/python3.11/lib2to3",
    "usr/lib/python3.11/distutils",
    "usr/lib/python3.11/pydoc_data",
)
_PINNED: Final = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9+.-]+)=(?P<version>[0-9A-Za-z][0-9A-Za-z.+:~-]*) sha256:[0-9a-f]{64}"
)
_DOCUMENTS: Final = PurePosixPath("usr/share/doc")
_MAGIC: Final = b"!<arch>\n"
_HEADER: Final = 60


def fetch(folder: Path, wanted: Sequence[str] = PACKAGES) -> list[Path]:
    """Download packages, NAME or NAME=VERSION each, into a folder that only they are in."""
    if shutil.which("apt-get") is None:
        raise ImageImpossible(
            "apt-get is needed to fetch Debian's Python; use the Containerfile on other systems"
        )
    shutil.rmtree(folder, ignore_errors=True)
    state, debs = folder / "apt", folder / "debs"
    (state / "lists" / "partial").mkdir(parents=True)
    debs.mkdir()
    # Lists of its own: those of the machine may be old or missing, and only root may renew them.
    own = ["-o", f"Dir::State={state}", "-o", f"Dir::State::lists={state}/lists"]
    own += ["-o", f"Dir::Cache={state}", "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1"]
    own += ["-o", "APT::Get::List-Cleanup=0", "--quiet=2"]
    _apt([*own, "update"], debs)
    _apt([*own, "download", *wanted], debs)
    found = sorted(debs.glob("*.deb"))
    if len(found) != len(wanted):
        raise ImageImpossible(f"{len(wanted)} packages were asked for, and {len(found)} came")
    return found


def _apt(arguments: list[str], folder: Path) -> None:
    command = ["apt-get", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise ImageImpossible(
            "apt-get must find these packages of Debian 12 in its sources:"
            f" {said[-1] if said else '?'}"
        )


def pinned(lines: Sequence[str]) -> list[str]:
    """Return NAME=VERSION of each line of such a list as `listed` makes."""
    found = [_PINNED.fullmatch(line.strip()) for line in lines]
    for line, match in zip(lines, found, strict=True):
        if match is None:
            raise ImageImpossible(
                f"a line must be NAME=VERSION sha256:HASH, as `make image` writes it, got {line!r}"
            )
    for why, odd in _oddities([it["name"] for it in found if it]):
        raise ImageImpossible(f"the list must name each package of the image once; {why}: {odd}")
    return [f"{it['name']}={it['version']}" for it in found if it]


def _oddities(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the names of a list."""
    if missing := sorted(set(PACKAGES) - set(names)):
        yield ("these lack" if names else "it is empty, and these lack"), ", ".join(missing)
    if strange := sorted(set(names) - set(PACKAGES)):
        yield "these are no part of it", ", ".join(strange)
    if twice := sorted({it for it in names if names.count(it) > 1}):
        yield "these are there twice", ", ".join(twice)


def compare(debs: Sequence[Path], lines: Sequence[str]) -> None:
    """Raise unless packages are those of a list, to the last byte."""
    said = {it.strip().partition("=")[0]: it.strip() for it in lines}
    for line in listed(debs):
        wanted = said.get(line.partition("=")[0], "nothing")
        if line != wanted:
            raise ImageImpossible(
                f"Debian's archive must have what the list says, {wanted}, and has {line}"
            )


def listed(debs: Sequence[Path]) -> list[str]:
    """Return what was fetched, a line each: name, version, and the hash of the archive."""
    lines = []
    for deb in debs:
        name, version, _ = deb.stem.split("_", 2)
        digest = hashlib.sha256(deb.read_bytes()).hexdigest()
        lines.append(f"{name}={version.replace('%3a', ':')} sha256:{digest}")
    return lines


def unpack(deb: Path, root: Path) -> None:
    """Put the files of a package into a root filesystem, but for manuals and the like."""
    with tarfile.open(fileobj=io.BytesIO(_content(deb))) as archive:
        for member in archive:
            member.name = member.name.removeprefix("./").rstrip("/")
            if member.name and _is_wanted(PurePosixPath(member.name), member):
                _extract(archive, member, root)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, root: Path) -> None:
    if ".." in PurePosixPath(member.name).parts:
        raise ImageImpossible(f"{member.name} leads out of its package")
    member.uid = member.gid = 0
    member.mode |= 0o200  # who makes the image may not be root, and writes beside it
    archive.extract(member, root, set_attrs=not member.issym())


def _is_wanted(path: PurePosixPath, member: tarfile.TarInfo) -> bool:
    if path.is_relative_to(_DOCUMENTS):
        return member.isdir() or path.name == "copyright"
    return not any(path.is_relative_to(it) for it in _UNWANTED)


def _content(deb: Path) -> bytes:
    for name, content in _members(deb.read_bytes()):
        if name.startswith("data.tar"):
            return content
    raise ImageImpossible(f"{deb.name} has no files")


def _members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of an ``ar`` archive."""
    if not archive.startswith(_MAGIC):
        raise ImageImpossible("a Debian package must be an ar archive")
    place = len(_MAGIC)
    while place + _HEADER <= len(archive):
        header = archive[place : place + _HEADER]
        name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        place += _HEADER
        yield name, archive[place : place + size]
        place += size + size % 2
