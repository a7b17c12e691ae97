"""The lock that operators of one database share: who holds it, since when, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from stateward.fdb.model import tuples

#: Under which all keys of operators are, unless ``lockOptions.lockKeyPrefix`` says otherwise.
PREFIX: Final = b"\xff\x02/org.foundationdb.kubernetes-operator"
_GLOBAL: Final = b"/global"
_DENIED: Final = b"/denyList/"
_PARTS: Final = 3


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
            return cls(owner, start, end)
        raise ValueError("a lock must be a name and two moments")

    def encode(self) -> bytes:
        """Return the value."""
        return tuples.pack(self.owner, self.start, self.end)

    def is_over(self, now: float) -> bool:
        """Tell whether anybody may take it."""
        return now > self.end


def lock_key(prefix: bytes = PREFIX) -> bytes:
    """Return the key of the lock."""
    return prefix + _GLOBAL


def denied_key(owner: str, prefix: bytes = PREFIX) -> bytes:
    """Return the key that forbids an operator to take it; its value is the operator's name."""
    return prefix + _DENIED + owner.encode()
