"""The lock that operators of one database share: who holds it, since when, and until when."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from stateward.fdb.model import tuples

#: Under which all keys of operators are, unless ``lockOptions.lockKeyPrefix`` says otherwise.
PREFIX: Final = b"\xff\x02/org.foundationdb.kubernetes-operator"
_GLOBAL: Final = b"/global"
_DENIED: Final = b"/denyList/"
_PARTS: Final = 3
_BYTE: Final = re.compile(rb"\\x([0-9a-fA-F]{2})")
#: The last moment that can be written as a date; beyond it nobody meant seconds.
LAST: Final = 253_402_300_799


def prefix_of(text: str) -> bytes:
    r"""Return the key that a text means: it is written as the compatible operator writes it.

    But for bytes as fdbcli prints them: no text has those below which only operators write.

    >>> prefix_of("/locks"), prefix_of(r"\xff\x02/locks")
    (b'/locks', b'\xff\x02/locks')
    """
    return _BYTE.sub(lambda it: bytes.fromhex(it[1].decode()), text.encode()) or PREFIX


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock as it stands in the database; times are whole seconds since 1970.

    >>> Lock.decode(Lock("dc1", 1, 2).encode())
    Lock(owner='dc1', start=1, end=2)
    """

    owner: str
    start: int
    end: int

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Read a value; raise ValueError when nobody of ours wrote it."""
        parts = tuples.unpack(raw)
        if len(parts) != _PARTS:
            raise ValueError(f"a lock must have {_PARTS} parts, got {len(parts)}")
        owner, start, end = parts
        if isinstance(owner, str) and isinstance(start, int) and isinstance(end, int):
            return cls(owner, _moment(start), _moment(end))
        raise ValueError("a lock must be a name and two moments")

    def encode(self) -> bytes:
        """Return the value."""
        return tuples.pack(self.owner, self.start, self.end)

    def is_over(self, now: float) -> bool:
        """Tell whether anybody may take it."""
        return now > self.end


def _moment(seconds: int) -> int:
    if not 0 <= seconds <= LAST:
        raise ValueError(f"a lock's moments must be seconds since 1970, got {seconds}")
    return seconds


@dataclass(frozen=True, slots=True)
class Found:
    """The lock as it stands, and to whom it is denied."""

    lock: Lock | None
    denied: tuple[str, ...] = ()
    #: Which groups have the programs of another version, by version; empty where nobody looked.
    prepared: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """Who wants the lock, at what time, and for how many seconds."""

    owner: str
    now: int
    seconds: int
    #: What it was called before, while process groups of that name are still its own and stay.
    formerly: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NotOurs:
    """Why it was not taken: somebody else has it, or we must not (``denied``)."""

    holder: Lock | None
    denied: bool = False


def judged(found: Lock | None, claim: Claim, denied: Collection[str]) -> Lock | NotOurs:
    """Return the lock as it shall be if it may be ours now.

    Who is denied does not get it, not even when it is free; what it holds, others may take.

    >>> judged(Lock("dc2", 0, 50), Claim("dc1", 60, 600), ())
    Lock(owner='dc1', start=60, end=660)
    >>> judged(Lock("dc1", 7, 50), Claim("dc1", 60, 600), ())
    Lock(owner='dc1', start=7, end=660)
    """
    if claim.owner in denied:
        return NotOurs(found, denied=True)
    end = claim.now + claim.seconds
    if found is not None and found.owner == claim.owner:
        return Lock(claim.owner, found.start, end)
    nobodys = found is None or found.is_over(claim.now) or found.owner in denied
    if nobodys or (found is not None and found.owner in claim.formerly):
        return Lock(claim.owner, claim.now, end)
    return NotOurs(found)


def lock_key(prefix: bytes = PREFIX) -> bytes:
    """Return the key of the lock."""
    return prefix + _GLOBAL


def all_keys(prefix: bytes = PREFIX) -> tuple[bytes, bytes]:
    """Return between which keys all are that forbid it to somebody, and the lock right after."""
    return prefix + _DENIED, lock_key(prefix) + b"\x00"


def every_key(prefix: bytes = PREFIX) -> tuple[bytes, bytes]:
    """Return between which keys all are that operators have, also those of upgrades."""
    return prefix + b"/", prefix + b"0"


def denied_by(key: bytes, prefix: bytes = PREFIX) -> str | None:
    """Return to whom a key forbids it; None: it is no such key."""
    begin = prefix + _DENIED
    if not key.startswith(begin):
        return None
    return key.removeprefix(begin).decode(errors="backslashreplace")


def denied_key(owner: str, prefix: bytes = PREFIX) -> bytes:
    """Return the key that forbids an operator to take it; its value is the operator's name."""
    return prefix + _DENIED + owner.encode()
