"""Read your own writes: what we wrote and have not yet seen come back.

A cache lags behind the server. Planning on a cache that does not show our own last write would do
the work twice, or undo it. So every write is noted here, and a pass over an object waits until the
informer has seen the notes that concern it. A write whose outcome is unknown is noted too, and has
to be looked up first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeVar

from stateward.kube.meta import Object, ObjectKey, is_newer
from stateward.runtime.cache import Cache

T = TypeVar("T", bound=Object)

#: The pass on whose behalf we write: whoever wrote looks up what became of it.
PASS: ContextVar[Hashable] = ContextVar("pass", default=None)


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """An object as the server returned it from our write."""

    object: T


@dataclass(frozen=True, slots=True)
class Deleted(Generic[T]):
    """An object whose deletion the server accepted."""

    object: T


@dataclass(frozen=True, slots=True)
class Doubtful(Generic[T]):
    """An object that we may or may not have written: the answer was lost. ``by`` whom: a pass."""

    object: T
    by: Hashable = None


class OwnWrites(Generic[T]):
    """The notes about one resource, each settled when the cache shows its effect."""

    def __init__(self, cache: Cache[T]) -> None:
        self._cache = cache
        self._notes: dict[ObjectKey, Written[T] | Deleted[T] | Doubtful[T]] = {}

    def __len__(self) -> int:
        return len(self._notes)

    def note(self, note: Written[T] | Deleted[T] | Doubtful[T]) -> None:
        """Remember the last write to an object; what came before it is seen when it is seen."""
        self._notes[note.object.metadata.key] = note

    def settle(self, revision: str) -> list[T]:
        """Forget what the cache, being as of ``revision``, shows; return the objects concerned."""
        seen = [key for key, note in self._notes.items() if self._is_seen(note, revision)]
        return [self._notes.pop(key).object for key in seen]

    def unseen(self) -> Iterator[T]:
        """Yield the objects whose last write the cache does not show yet."""
        return (note.object for note in tuple(self._notes.values()))

    def doubtful(self) -> list[Doubtful[T]]:
        """Return the notes about objects that must be looked up before anybody plans with them."""
        return [note for note in self._notes.values() if isinstance(note, Doubtful)]

    def resolve(self, doubt: Doubtful[T], found: T | None) -> None:
        """Turn a doubtful note into what a look-up found: a version, or the end of the one we knew.

        A newer note about the object stays: the look-up may have been too early for it.
        """
        key = doubt.object.metadata.key
        if self._notes.get(key) is doubt:
            self._notes[key] = Deleted(doubt.object) if found is None else Written(found)

    def known(self, key: ObjectKey, uid: str = "") -> T | None:
        """Return an object (of that UID, if given) as we know it: as written, or else as cached."""
        note = self._notes.get(key)
        written = note.object if isinstance(note, Written) else None
        candidates = (written, self._cache.peek(key))
        return next((it for it in candidates if it and uid in {"", it.metadata.uid}), None)

    def _is_seen(self, note: Written[T] | Deleted[T] | Doubtful[T], revision: str) -> bool:
        match note:
            case Written(object=item):
                return not is_newer(item.metadata.resource_version, than=revision)
            case Deleted(object=item):
                if (version := item.metadata.resource_version) and is_newer(version, than=revision):
                    return False  # the cache does not even show yet that it was there
                cached = self._cache.peek(item.metadata.key)
                return (
                    cached is None
                    or cached.metadata.uid != item.metadata.uid
                    or cached.metadata.deleting
                )
            case Doubtful():
                return False
