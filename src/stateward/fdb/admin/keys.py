"""Keys of a database in transactions: all of it is done, or nothing.

Who reads a key in the same transaction in which it acts is refused when another changed that key
meanwhile. That is how a lock is more than a promise: an operator whose lock was taken over cannot
commit anything that it fenced with it, whatever it believes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from stateward.fdb.admin.errors import NothingDone
from stateward.fdb.model.exclusions import ByLocality, Exclusion, parse

T = TypeVar("T")

_MANAGEMENT: Final = b"\xff\xff/management/"
COORDINATORS: Final = b"\xff\xff/configuration/coordinators/processes"


class Conflicted(NothingDone):
    """Another changed meanwhile what was read: nothing was done, and it must be judged anew."""

    reason = "Conflicted"


class KeyTransaction(Protocol):
    """What can be done with keys, until it is all done at once."""

    async def get(self, key: bytes) -> bytes | None:
        """Return a value."""

    async def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        """Return keys and values from one on and below another."""

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""

    def clear(self, key: bytes) -> None:
        """Take a key away."""

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another, however many they are."""


class Keys(Protocol):
    """Who can read and write keys of a database, its own and those by which it is managed."""

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do it all, or nothing: raise Conflicted, OutcomeUnknown, DatabaseRefused or the like."""


def excluded_key(target: Exclusion, *, failed: bool = False) -> bytes:
    """Return the key that excludes somebody while it is there; its value is empty.

    >>> from stateward.fdb.model.exclusions import of_instance
    >>> excluded_key(of_instance("storage-1")).removeprefix(_MANAGEMENT)
    b'excluded_locality/locality_instance_id:storage-1'
    """
    kind = b"failed" if failed else b"excluded"
    if isinstance(target, ByLocality):
        kind += b"_locality"
    return _MANAGEMENT + kind + b"/" + str(target).encode()


def excluded_by(key: bytes) -> Exclusion | None:
    """Return who is excluded while a key is there; None: it is no such key.

    >>> str(excluded_by(_MANAGEMENT + b"excluded/10.0.0.1:4501"))
    '10.0.0.1:4501'
    >>> excluded_by(b"a")
    """
    folder, _, who = key.removeprefix(_MANAGEMENT).partition(b"/")
    if not key.startswith(_MANAGEMENT) or folder not in (b"excluded", b"excluded_locality"):
        return None
    return parse(who.decode())
