"""What the programs of a control plane say: kept in files that do not grow for ever."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

#: Bytes of one file; a full one is kept beside the next, and the one before is dropped.
LARGEST: Final = 8 * 1024 * 1024
#: Bytes at the end of a file in which its last words are looked for, and characters of them.
_END: Final = 64 * 1024
_LONGEST: Final = 300

#: Lines that say why a program ended, and those of a stack, which may hold the same words.
_TROUBLE: Final = re.compile(r"\b(fatal|panic|error|failed)\b|^[EF]\d{4} ", re.IGNORECASE)
_STACK: Final = re.compile(r"^\s.*\.go:\d+|^goroutine \d+ |^created by |^[\w./*()\[\]-]+\(.*\)$")


class SaidFile:
    """Keeps what a program says."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        self._path = path
        self._largest = largest
        self._file = self._opened()
        self._size = path.stat().st_size

    def write(self, data: bytes) -> None:
        """Take in what it said."""
        with suppress(OSError):  # a full disk costs us lines, and no program its life
            if self._size and self._size + len(data) > self._largest:
                self._turn()
            self._size += self._file.write(data)

    def _turn(self) -> None:
        """Begin a new file; when that cannot be, the old one is still there to be turned later."""
        with suppress(FileNotFoundError):  # turned before, but there was no room for a new one
            self._path.replace(f"{self._path}.1")
        fresh = self._opened()
        self._file.close()
        self._file, self._size = fresh, 0

    def close(self) -> None:
        """Take in that it says nothing more."""
        self._file.close()

    def _opened(self) -> BinaryIO:
        return self._path.open("ab", buffering=0)


def last_line(path: Path) -> str:
    """Return the last thing that a program said of why it ended, or just the last, on one line."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return "it said nothing"
    told = [line for line in lines if line.strip()] or ["it said nothing"]
    plain = [line for line in told if not _STACK.search(line)] or told
    last = next((line for line in reversed(plain) if _TROUBLE.search(line)), told[-1])
    return " ".join(_readable(last).split())[:_LONGEST]


def _readable(line: str) -> str:
    """Return the words of a line that may be for machines, as those of etcd are."""
    try:
        said = json.loads(line)
    except ValueError:
        return line
    if not isinstance(said, dict) or "msg" not in said:
        return line
    return ": ".join(str(said[it]) for it in ("msg", "error") if it in said)
