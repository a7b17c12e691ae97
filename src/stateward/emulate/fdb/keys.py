"""Keys and values with transactions: read at one version, written at once or not at all.

Whoever read something that another changed before it commits is told so (1020), and nothing of it
is written. Versions grow by a million a second, as the real ones do.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

A_SECOND: Final = 1_000_000
#: What is older than this cannot be read any more.
_WINDOW: Final = 5 * A_SECOND
#: Where keys of the system begin, which only some may read and write.
SYSTEM: Final = b"\xff"
_LONGEST_KEY, _LONGEST_VALUE = 10_000, 100_000


class FdbError(Exception):
    """An error of FoundationDB, by its number."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def words(self) -> str:
        """What the real one says of it."""
        return _WORDS.get(self.code, "Unknown error")


NOT_COMMITTED, TOO_OLD, LOCKED, OUTSIDE = 1020, 1007, 1038, 2004
KEY_TOO_LARGE, VALUE_TOO_LARGE, USED = 2102, 2103, 2017
_WORDS: Final = {
    NOT_COMMITTED: "Transaction not committed due to conflict with another transaction",
    TOO_OLD: "Transaction is too old to perform reads or be committed",
    LOCKED: "Database is locked",
    OUTSIDE: "Key outside legal range",
    KEY_TOO_LARGE: "Key length exceeds limit",
    VALUE_TOO_LARGE: "Value length exceeds limit",
    USED: "Operation issued while a commit was outstanding",
}

_Span = tuple[bytes, bytes]


@dataclass(slots=True)
class Store:
    """All keys, with what they were within the last seconds."""

    version: int = 0
    #: By key: versions and values, None where it was cleared.
    _history: dict[bytes, list[tuple[int, bytes | None]]] = field(default_factory=dict)
    _keys: list[bytes] = field(default_factory=list)
    #: Who may write while it is locked: whoever knows of it.
    locked_by: str = ""
    #: While it is backed up: what users wrote, by versions, as long as it is in no file.
    is_journaled: bool = False
    journal: list[tuple[int, list[tuple[bytes, bytes | None]]]] = field(default_factory=list)

    def at(self, now: float) -> int:
        """Return the version of a moment; it never goes back."""
        self.version = max(self.version, int(now * A_SECOND))
        return self.version

    def value(self, key: bytes, version: int) -> bytes | None:
        """Return what a key was at a version."""
        for when, it in reversed(self._history.get(key, ())):
            if when <= version:
                return it
        return None

    def span(self, begin: bytes, end: bytes, version: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys from one on and below another, in their order, as they were at a version."""
        place = bisect_left(self._keys, begin)
        while place < len(self._keys) and self._keys[place] < end:
            key = self._keys[place]
            if (found := self.value(key, version)) is not None:
                yield key, found
            place += 1

    def changed_since(self, begin: bytes, end: bytes, version: int) -> bool:
        """Tell whether any key from one on and below another was written after a version."""
        first, last = bisect_left(self._keys, begin), bisect_left(self._keys, end)
        return any(self._history[key][-1][0] > version for key in self._keys[first:last])

    def write(self, writes: Sequence[tuple[bytes, bytes | None]]) -> int:
        """Write keys at a new version, which is returned; None clears one."""
        self.version += 1
        for key, value in writes:
            if key not in self._history:
                insort(self._keys, key)
            versions = self._history.setdefault(key, [])
            versions.append((self.version, value))
            self._forget(versions)
        if self.is_journaled and (mine := [it for it in writes if it[0] < SYSTEM]):
            self.journal.append((self.version, mine))
        return self.version

    def _forget(self, versions: list[tuple[int, bytes | None]]) -> None:
        """Leave out what nobody can read any more."""
        oldest = self.version - _WINDOW
        kept = bisect_right([when for when, _ in versions], oldest) - 1
        del versions[: max(0, kept)]


def overlaid(
    found: Iterable[tuple[bytes, bytes]],
    writes: Mapping[bytes, bytes | None],
    begin: bytes,
    end: bytes,
) -> list[tuple[bytes, bytes]]:
    """Return what was read with what was written since: a transaction sees its own writes."""
    mine = {key: it for key, it in writes.items() if begin <= key < end}
    both: dict[bytes, bytes | None] = {**dict(found), **mine}
    return sorted((key, it) for key, it in both.items() if it is not None)


class Transaction:
    """Reads at one version, sees its own writes, and commits all of them or none."""

    def __init__(
        self, store: Store, now: float, *, system: bool = False, aware: bool = False
    ) -> None:
        self._store = store
        self._version = store.at(now)
        self._system = system
        self._aware = aware
        self._writes: dict[bytes, bytes | None] = {}
        self._reads: list[_Span] = []
        self._is_over = False

    def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        self._check(key)
        if key in self._writes:
            return self._writes[key]
        self._reads.append((key, key + b"\x00"))
        return self._store.value(key, self._version)

    def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        """Return keys and values from one on and below another."""
        self._check(begin)
        self._reads.append((begin, end))
        return overlaid(self._store.span(begin, end, self._version), self._writes, begin, end)

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        self._check(key)
        if len(value) > _LONGEST_VALUE:
            raise FdbError(VALUE_TOO_LARGE)
        self._writes[key] = value

    def clear(self, key: bytes) -> None:
        """Take a key away."""
        self._check(key)
        self._writes[key] = None

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another."""
        self._check(begin)
        there = {key for key, _ in self._store.span(begin, end, self._store.version)}
        mine = {key for key in self._writes if begin <= key < end}
        self._writes.update(dict.fromkeys(there | mine))

    def commit(self, now: float) -> int:
        """Write all of it; return the version, which is -1 when nothing was written."""
        self._check(b"")
        self._is_over = True
        if not self._writes:
            return -1
        if self._store.at(now) - self._version > _WINDOW:
            raise FdbError(TOO_OLD)
        if any(self._store.changed_since(*span, self._version) for span in self._reads):
            raise FdbError(NOT_COMMITTED)
        return self._store.write(list(self._writes.items()))

    def _check(self, key: bytes) -> None:
        if self._is_over:
            raise FdbError(USED)
        if self._store.locked_by and not self._aware:
            raise FdbError(LOCKED)
        if key >= SYSTEM and not self._system:
            raise FdbError(OUTSIDE)
        if len(key) > _LONGEST_KEY:
            raise FdbError(KEY_TOO_LARGE)
