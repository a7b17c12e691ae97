"""Read your own writes: what we wrote and have not yet seen come back.

A cache lags behind the server. Planning on a cache that does not show our own last write would do
the work twice, or undo it. So every write is noted here, and a pass over an object waits until the
informer has seen the notes that concern it. A write whose outcome is unknown is noted too, and has
to be looked up first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from stateward.kube.meta import Object, ObjectKey, is_newer
from stateward.runtime.cache import Cache

T = TypeVar("T", bound=Object)

#: The pass on whose behalf we write: whoever wrote looks up what became of it.
PASS: ContextVar[Hashable] = ContextVar("pass", default=None)


@dataclass(frozen=True, slots=True)
class Note(Generic[T]):
    """A write: the object, which pass wrote it, and what the object was before, if we know."""

    object: T
    by: Hashable = field(default=None, compare=False)
    before: T | None = field(default=None, compare=False)


class Written(Note[T]):
    """The object is as the server returned it from our write."""


class Deleted(Note[T]):
    """The server accepted the deletion of the object."""


class Vanished(Note[T]):
    """Somebody looked the object up, and it is gone."""


class Doubtful(Note[T]):
    """We may or may not have written the object: the answer was lost."""


class OwnWrites(Generic[T]):
    """The notes about one resource, each settled when the cache shows its effect."""

    def __init__(self, cache: Cache[T]) -> None:
        self._cache = cache
        self._notes: dict[ObjectKey, Note[T]] = {}

    def __len__(self) -> int:
        return len(self._notes)

    def note(self, note: Note[T]) -> None:
        """Remember the last write to an object; what came before it is seen when it is seen."""
        self._notes[note.object.metadata.key] = note

    def settle(self, revision: str) -> list[Note[T]]:
        """Forget what the cache, being as of ``revision``, shows; return the notes about it."""
        seen = [key for key, note in self._notes.items() if self._is_seen(note, revision)]
        return [self._notes.pop(key) for key in seen]

    def unseen(self) -> Iterator[Note[T]]:
        """Yield the notes about writes that the cache does not show yet."""
        return iter(tuple(self._notes.values()))

    def doubt_everything(self) -> None:
        """Have every note looked up: the server's history is not the one that we wrote into."""
        for key, note in self._notes.items():
            self._notes[key] = Doubtful(note.object, note.by, note.before)

    def doubtful(self) -> list[Doubtful[T]]:
        """Return the notes about objects that must be looked up before anybody plans with them."""
        return [note for note in self._notes.values() if isinstance(note, Doubtful)]

    def resolve(self, doubt: Doubtful[T], found: T | None) -> None:
        """Turn a doubtful note into what a look-up found: a version, or the end of the one we knew.

        A newer note about the object stays: the look-up may have been too early for it.
        """
        key = doubt.object.metadata.key
        if self._notes.get(key) is doubt:
            before = doubt.before or doubt.object
            if found is None:
                self._notes[key] = Vanished(doubt.object, doubt.by, before)
            else:
                self._notes[key] = Written(found, doubt.by, before)

    def known(self, key: ObjectKey, uid: str = "") -> T | None:
        """Return an object (of that UID, if given) as we know it: as written, or else as cached."""
        note = self._notes.get(key)
        written = note.object if isinstance(note, Written) else None
        candidates = (written, self._cache.peek(key))
        return next((it for it in candidates if it and uid in {"", it.metadata.uid}), None)

    def _is_seen(self, note: Note[T], revision: str) -> bool:
        match note:
            case Written(object=item):
                return not is_newer(item.metadata.resource_version, than=revision)
            case Deleted(object=item):
                if (version := item.metadata.resource_version) and is_newer(version, than=revision):
                    return False  # the cache does not even show yet that it was there
                return self._shows_the_end_of(item)
            case Vanished(object=item):
                return self._shows_the_end_of(item)
            case _:
                return False  # in doubt until somebody looks it up

    def _shows_the_end_of(self, item: T) -> bool:
        cached = self._cache.peek(item.metadata.key)
        return (
            cached is None or cached.metadata.uid != item.metadata.uid or cached.metadata.deleting
        )
