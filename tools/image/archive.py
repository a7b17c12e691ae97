"""Layers and the archive that holds them, as the Open Container Initiative describes them.

The same files give the same bytes: names in order, no times, no owners of this machine.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_LAYOUT: Final = {"imageLayoutVersion": "1.0.0"}
_KIND: Final = "application/vnd.oci.image"
#: Folders that everybody may write to.
_SHARED: Final = frozenset({"tmp"})
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Blob:
    """Some bytes and what they are called."""

    kind: str
    content: bytes
    #: The name of what was compressed.
    diff: str = ""

    @property
    def digest(self) -> str:
        """How it is called by everybody."""
        return _digest(self.content)

    def described(self, **more: Any) -> dict[str, Any]:
        """Return how others speak of it."""
        about = {"mediaType": self.kind, "digest": self.digest, "size": len(self.content)}
        return about | more


def layer(root: Path, is_in: Callable[[str], bool], level: int = _LEVEL) -> Blob:
    """Return the files of a root filesystem that belong to a layer."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(root.rglob("*"), key=lambda it: it.relative_to(root).as_posix()):
            name = path.relative_to(root).as_posix()
            if is_in(name):
                _add(archive, path, name)
    plain = packed.getvalue()
    pressed = gzip.compress(plain, level, mtime=0)
    return Blob(f"{_KIND}.layer.v1.tar+gzip", pressed, _digest(plain))


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    about = tarfile.TarInfo(name)
    if path.is_symlink():
        about.type, about.linkname, about.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
        archive.addfile(about)
    elif path.is_dir():
        about.type, about.mode = tarfile.DIRTYPE, 0o1777 if name in _SHARED else 0o755
        archive.addfile(about)
    else:
        content = path.read_bytes()
        about.size = len(content)
        about.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
        archive.addfile(about, io.BytesIO(content))


def image(layers: Iterable[Blob], config: Mapping[str, Any], machine: str, name: str) -> list[Blob]:
    """Return everything that an image is made of; the last one is its index."""
    stacked = list(layers)
    about = {
        "architecture": machine,
        "os": "linux",
        "config": dict(config),
        "rootfs": {"type": "layers", "diff_ids": [it.diff for it in stacked]},
        "history": [{"created_by": "stateward: make image"} for _ in stacked],
    }
    configured = Blob(f"{_KIND}.config.v1+json", _json(about))
    manifest = Blob(
        f"{_KIND}.manifest.v1+json",
        _json(
            {
                "schemaVersion": 2,
                "mediaType": f"{_KIND}.manifest.v1+json",
                "config": configured.described(),
                "layers": [it.described() for it in stacked],
            }
        ),
    )
    called = _called(name)
    platform = {"architecture": machine, "os": "linux"}
    entry = manifest.described(annotations=called, platform=platform)
    index = {
        "schemaVersion": 2,
        "mediaType": f"{_KIND}.index.v1+json",
        "manifests": [entry],
    }
    return [*stacked, configured, manifest, Blob(f"{_KIND}.index.v1+json", _json(index))]


def _called(name: str) -> dict[str, str]:
    return {
        "org.opencontainers.image.ref.name": name,
        "io.containerd.image.name": full_name(name),
    }


def rename(archive: Path, name: str, copy: Path) -> None:
    """Write a copy of an archive whose image has another name."""
    with tarfile.open(archive) as given, tarfile.open(copy, "w", format=tarfile.PAX_FORMAT) as new:
        for member in given:
            content = given.extractfile(member)
            read = content.read() if content is not None else b""
            if member.name == "index.json":
                read = _renamed(read, name)
            member.size = len(read)
            new.addfile(member, io.BytesIO(read))


def upon(given: Path, added: Blob, config: Mapping[str, Any], name: str) -> list[Blob]:
    """Return an image that has a layer more than that of an archive; what is said of it wins."""
    with tarfile.open(given) as files:

        def content(named: str) -> bytes:
            found = files.extractfile(named)
            assert found is not None, "an archive has files only"  # noqa: S101
            return found.read()

        def blob(about: Mapping[str, Any]) -> bytes:
            return content(f"blobs/{about['digest'].replace(':', '/')}")

        (entry,) = json.loads(content("index.json"))["manifests"]
        manifest = json.loads(blob(entry))
        about = json.loads(blob(manifest["config"]))
        below = [
            Blob(it["mediaType"], blob(it), diff)
            for it, diff in zip(manifest["layers"], about["rootfs"]["diff_ids"], strict=True)
        ]
    settings = {**about["config"], **config}
    return image([*below, added], settings, about["architecture"], name)


def _renamed(index: bytes, name: str) -> bytes:
    about = json.loads(index)
    for entry in about["manifests"]:
        entry["annotations"] = _called(name)
    return _json(about)


def full_name(name: str) -> str:
    """Return the name of an image with the registry that everybody means where none is said.

    >>> full_name("stateward:1"), full_name("quay.io/coreos/etcd:v1")
    ('docker.io/library/stateward:1', 'quay.io/coreos/etcd:v1')
    """
    registry, slash, _ = name.partition("/")
    if slash and ("." in registry or ":" in registry):
        return name
    return f"docker.io/{name}" if slash else f"docker.io/library/{name}"


def write(blobs: list[Blob], path: Path) -> str:
    """Write an archive of an image, whole or not at all; return the digest of its manifest."""
    *parts, index = blobs
    files = {f"blobs/sha256/{it.digest.partition(':')[2]}": it.content for it in parts}
    files |= {"index.json": index.content, "oci-layout": _json(_LAYOUT)}
    unfinished = path.with_suffix(".unfinished")
    with tarfile.open(unfinished, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(files[name]), 0o644
            archive.addfile(about, io.BytesIO(files[name]))
    unfinished.replace(path)
    return parts[-1].digest


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
