"""What the programs of a control plane say: kept in files that do not grow for ever."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

#: Bytes of one file; a full one is kept beside the next, and the one before is dropped.
LARGEST: Final = 8 * 1024 * 1024
#: Bytes at the end of a file in which its last line is looked for, and characters of it.
_END: Final = 4096
_LONGEST: Final = 300


class SaidFile:
    """Keeps what a program says."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        self._path = path
        self._largest = largest
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._opened()
        self._size = path.stat().st_size

    def write(self, data: bytes) -> None:
        """Take in what it said."""
        with suppress(OSError):  # a full disk costs us lines, and no program its life
            if self._size and self._size + len(data) > self._largest:
                self._file.close()
                os.replace(self._path, f"{self._path}.1")  # noqa: PTH105 - the manual's word
                self._file = self._opened()
                self._size = 0
            self._file.write(data)
        self._size += len(data)

    def close(self) -> None:
        """Take in that it says nothing more."""
        self._file.close()

    def _opened(self) -> BinaryIO:
        return self._path.open("ab", buffering=0)


def last_line(path: Path) -> str:
    """Return the last thing that a program said, on one line."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return "it said nothing"
    told = [line for line in lines if line.strip()]
    return " ".join(told[-1].split())[:_LONGEST] if told else "it said nothing"
