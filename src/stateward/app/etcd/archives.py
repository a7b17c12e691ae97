"""Archives of etcd: its programs, and nothing else that an archive may have in it."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path
from typing import IO, Final

PROGRAMS: Final = ("etcd", "etcdctl", "etcdutl")
#: Bytes that are plenty for all that an archive of etcd unpacks to.
LIMIT: Final = 1 << 29
_CHUNK: Final = 1 << 18


class ArchiveOdd(ValueError):
    """An archive is not what it must be: says what is wrong, beginning with "it" or "its"."""


def unpack(archive: Path, folder: str, into: Path) -> None:
    """Write the programs that an archive has in a folder; raise ArchiveOdd when it has not all.

    The names of what is written are ours, never the archive's, so it cannot lead us elsewhere.
    """
    try:
        with tarfile.open(archive, "r|gz") as entries:
            _take_programs(entries, folder, into)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ArchiveOdd(f"it cannot be unpacked: {error}") from error
    missing = [name for name in PROGRAMS if not (into / name).is_file()]
    if missing:
        raise ArchiveOdd(f"it has no program {', '.join(missing)}")


def _take_programs(entries: tarfile.TarFile, folder: str, into: Path) -> None:
    wanted, length = {f"{folder}/{name}" for name in PROGRAMS}, 0
    for entry in entries:
        length += entry.size
        if length > LIMIT:
            raise ArchiveOdd(f"it unpacks to more than {LIMIT} bytes")
        if entry.name in wanted:
            _write(entries.extractfile(entry) if entry.isreg() else None, entry, into)


def _write(text: IO[bytes] | None, entry: tarfile.TarInfo, into: Path) -> None:
    name = entry.name.rpartition("/")[2]
    if text is None:  # a link, a folder or a device
        raise ArchiveOdd(f"its {name} is not a file")
    file = into / name
    with file.open("wb") as out:
        while piece := text.read(_CHUNK):
            out.write(piece)
    file.chmod(0o755)
