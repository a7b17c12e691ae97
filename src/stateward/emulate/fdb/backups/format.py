"""What is in the files of a backup, which is a format of our own: real programs cannot read it.

A container is a folder:

- ``kvranges/SNAPSHOT/range,VERSION,NUMBER``: keys and values of a range, as they were at a version;
- ``logs/log,BEGIN,END``: what was written from one version on and below another, in its order;
- ``snapshots/snapshot,BEGIN,END,SIZE``: which ranges are one snapshot: they are whole at END;
- ``properties/format``: the word that says that it is emulated.

All but the last are MessagePack. Nothing is ever written twice with other contents, so whoever
writes a file a second time does no harm.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from stateward.emulate.fdb.backups.files import Unusable
from stateward.emulate.fdb.backups.state import RangeFile

Writes = list[tuple[bytes, bytes | None]]
Row = tuple[bytes, bytes]

#: The file by which a container is known, and what it says.
FORMAT: Final = "properties/format"
MARK: Final = b"EMULATED: a backup of Stateward's stand-in for FoundationDB, format 1\n"
LOG: Final = re.compile(r"logs/log,(?P<begin>\d+),(?P<end>\d+)")
SNAPSHOT: Final = re.compile(r"snapshots/snapshot,(?P<begin>\d+),(?P<end>\d+),(?P<size>\d+)")


class Range(msgspec.Struct, frozen=True):
    """Keys of a range at a version."""

    begin: bytes
    end: bytes
    version: int
    rows: list[Row]


class Log(msgspec.Struct, frozen=True):
    """What was written, by versions."""

    begin: int
    end: int
    writes: list[tuple[int, Writes]]


class Manifest(msgspec.Struct, frozen=True):
    """What one snapshot is made of; paths are within the container."""

    begin: int
    end: int
    files: list[RangeFile]

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(it.size for it in self.files)


Part = TypeVar("Part", Range, Log, Manifest)


def encoded(part: Range | Log | Manifest) -> bytes:
    """Return a file."""
    return msgspec.msgpack.encode(part)


def decoded(raw: bytes, kind: type[Part], path: str) -> Part:
    """Return what a file holds; raise Unusable for one that was damaged."""
    try:
        return msgspec.msgpack.decode(raw, type=kind)
    except msgspec.MsgspecError as error:
        raise Unusable(f"Corrupted backup data ({path}: {error})") from None


def range_path(snapshot: int, version: int, number: int) -> str:
    """Return where keys of a range are."""
    return f"kvranges/{snapshot}/range,{version},{number}"


def log_path(begin: int, end: int) -> str:
    """Return where mutations are."""
    return f"logs/log,{begin},{end}"


def snapshot_path(manifest: Manifest) -> str:
    """Return where it is said what a snapshot is made of."""
    return f"snapshots/snapshot,{manifest.begin},{manifest.end},{manifest.size}"
