"""Objects, one revision counter, and the history that watches read.

The heart of the embedded Kubernetes is synchronous and knows no rule of any kind: it keeps texts.
Every write takes the next revision; a version of an object is an immutable text, so handing it out
is safe and free. What may be written is decided in ``writes.py``; who is told, and when, in
``watching.py``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias

from stateward.kube.client import Change
from stateward.kube.codec import Json, decode_json, encode
from stateward.kube.errors import Gone, TooLarge
from stateward.kube.meta import ObjectKey

#: How many events of one resource, and how many bytes of them, are kept for watches that come back.
HISTORY = 10_000
HISTORY_BYTES = 32 * 1024 * 1024
#: Bytes of one object: what etcd takes.
LARGEST = 1_572_864

_revision_of = attrgetter("revision")

#: Told of every change before it is one; what it raises, the writer gets, and nothing happened.
Keep: TypeAlias = Callable[["StoreEvent"], None]


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of one object."""

    key: ObjectKey
    uid: str
    revision: int
    text: bytes
    labels: dict[str, str]
    #: UIDs of the owners, for the garbage collector.
    owners: tuple[str, ...]

    def document(self) -> Json:
        """Return the object as plain values, fresh: changing them changes nothing else."""
        document: Json = decode_json(self.text)
        return document


@dataclass(frozen=True, slots=True)
class StoreEvent:
    """One change. By what it replaced, selectors can tell who came and who went."""

    revision: int
    change: Change
    resource: str
    now: Stored
    before: Stored | None


@dataclass(slots=True)
class _Shelf:
    """All that is known of one resource."""

    objects: dict[ObjectKey, Stored] = field(default_factory=dict)
    events: list[StoreEvent] = field(default_factory=list)
    #: How long the texts of these events are together.
    bytes: int = 0
    #: A watch from before this revision has missed something.
    floor: int = 0


class Store:
    """Every write takes the next revision; history is the only thing that watches read."""

    def __init__(self, *, history: int = HISTORY, keep: Keep | None = None) -> None:
        self._history = history
        self._keep = keep
        self._shelves: dict[str, _Shelf] = {}
        #: By resource, because most listen to one; by number, because all may leave. "": to all.
        self._listeners: dict[str, dict[int, Callable[[StoreEvent], None]]] = {}
        self._listeners_ever = 0
        #: What happened before this revision nobody here remembers.
        self._dawn = 0
        self.revision = 1

    def get(self, resource: str, key: ObjectKey) -> Stored | None:
        """Return the newest version of an object, or None."""
        return self._shelf(resource).objects.get(key)

    def all(self, resource: str, namespace: str = "") -> list[Stored]:
        """Return the newest versions of all objects, ordered by ``namespace/name``."""
        objects = self._shelf(resource).objects
        chosen = [key for key in objects if not namespace or key.namespace == namespace]
        return [objects[key] for key in sorted(chosen, key=str)]

    def all_at(self, resource: str, revision: int, namespace: str = "") -> list[Stored]:
        """Return what :meth:`all` returned at a revision; raise Gone when that is not known."""
        objects = dict(self._shelf(resource).objects)
        for event in reversed(self.events_since(resource, revision)):
            if event.before is None:
                del objects[event.now.key]
            else:
                objects[event.before.key] = event.before
        chosen = [key for key in objects if not namespace or key.namespace == namespace]
        return [objects[key] for key in sorted(chosen, key=str)]

    def resources(self) -> tuple[str, ...]:
        """Return the names of all resources that ever had an object."""
        return tuple(self._shelves)

    def put(self, resource: str, document: Json) -> Stored:
        """Keep a new version of an object and tell everybody."""
        shelf = self._shelf(resource)
        stored = stamped(document, self.revision + 1)
        if len(stored.text) > LARGEST:
            raise TooLarge(
                f"{resource} {stored.key} must be at most {LARGEST} bytes to be kept,"
                f" and has {len(stored.text)}"
            )
        before = shelf.objects.get(stored.key)
        change = Change.MODIFIED if before else Change.ADDED
        self._tell(shelf, StoreEvent(stored.revision, change, resource, stored, before))
        return stored

    def remove(self, resource: str, key: ObjectKey) -> Stored:
        """Forget an object and tell everybody; return its last version, as of its end."""
        shelf = self._shelf(resource)
        before = shelf.objects[key]
        last = stamped(before.document(), self.revision + 1)
        self._tell(shelf, StoreEvent(last.revision, Change.DELETED, resource, last, before))
        return last

    def restore(self, objects: Iterable[tuple[str, Stored]], revision: int) -> None:
        """Begin with objects that were kept elsewhere, as of a revision; their past is not known.

        A watch from before it gets Gone, whether or not its resource has any objects now.
        """
        self._dawn = self.revision = max(self.revision, revision)
        self._shelves.clear()
        for resource, stored in objects:
            self._shelf(resource).objects[stored.key] = stored

    def events_since(self, resource: str, revision: int) -> list[StoreEvent]:
        """Return what happened after a revision; raise Gone when not all of it is known."""
        shelf = self._shelf(resource)
        if revision < shelf.floor:
            raise Gone(f"too old resource version: {revision} ({shelf.floor}); list again")
        return shelf.events[bisect_right(shelf.events, revision, key=_revision_of) :]

    def compact(self, resource: str | None = None) -> None:
        """Forget the history of one resource, or of all, as a busy server does sooner or later."""
        for name in (resource,) if resource is not None else tuple(self._shelves):
            shelf = self._shelf(name)
            shelf.events.clear()
            shelf.bytes = 0
            shelf.floor = self.revision

    def listen(
        self, listener: Callable[[StoreEvent], None], resource: str = ""
    ) -> Callable[[], None]:
        """Have every event (of one resource) told, at once and in order; call the result to end it.

        A write costs those nothing who listen to another resource.
        """
        self._listeners_ever += 1
        number = self._listeners_ever
        self._listeners.setdefault(resource, {})[number] = listener
        return lambda: self._leave(resource, number)

    def __iter__(self) -> Iterator[tuple[str, Stored]]:
        for resource, shelf in self._shelves.items():
            for key in sorted(shelf.objects, key=str):
                yield resource, shelf.objects[key]

    def _leave(self, resource: str, number: int) -> None:
        listeners = self._listeners.get(resource, {})
        listeners.pop(number, None)
        if not listeners:
            self._listeners.pop(resource, None)

    def _shelf(self, resource: str) -> _Shelf:
        if resource not in self._shelves:
            self._shelves[resource] = _Shelf(floor=self._dawn)
        return self._shelves[resource]

    def _tell(self, shelf: _Shelf, event: StoreEvent) -> None:
        if self._keep is not None:
            self._keep(event)
        self.revision = event.revision
        if event.change is Change.DELETED:
            del shelf.objects[event.now.key]
        else:
            shelf.objects[event.now.key] = event.now
        shelf.events.append(event)
        shelf.bytes += len(event.now.text)
        while len(shelf.events) > self._history or shelf.bytes > HISTORY_BYTES:
            _forget_half(shelf)
        for name in (event.resource, ""):
            for listener in tuple(self._listeners.get(name, {}).values()):
                listener(event)


def _forget_half(shelf: _Shelf) -> None:
    """Forget the older half at once, so that the cost of forgetting is spread over many writes."""
    half = max(len(shelf.events) // 2, 1)
    shelf.floor = shelf.events[half - 1].revision
    shelf.events = shelf.events[half:]
    shelf.bytes = sum(len(event.now.text) for event in shelf.events)


def stamped(document: Json, revision: int) -> Stored:
    """Return a document as a version of an object, with its revision written into it."""
    document["metadata"]["resourceVersion"] = str(revision)
    return rehearsed(document, revision)


def rehearsed(document: Json, revision: int = 0) -> Stored:
    """Return a document as it is as if it were a version of an object."""
    metadata: dict[str, Any] = document["metadata"]
    return Stored(
        key=ObjectKey(metadata.get("namespace", ""), metadata["name"]),
        uid=metadata.get("uid", ""),
        revision=revision,
        text=encode(document),
        labels=dict(metadata.get("labels") or {}),
        owners=tuple(owner["uid"] for owner in metadata.get("ownerReferences") or ()),
    )
