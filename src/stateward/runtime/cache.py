"""Objects as last seen, found by key or by index.

A cache is filled by one informer and read by everybody; its objects are immutable. An object that
exists but cannot be read is never taken for absent: asking for it, or for a group that it belongs
to, is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from stateward.core.errors import SpecInvalid
from stateward.kube.client import Listing, Malformed
from stateward.kube.meta import Object, ObjectKey, ObjectMeta, is_newer
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import Resource

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)


@dataclass(frozen=True, slots=True)
class Index(Generic[T_contra]):
    """A way to find objects: which values each one is filed under."""

    name: str
    values: Callable[[T_contra], Iterable[str]]
    #: True when the values depend on metadata alone, known even of what cannot be read otherwise.
    by_metadata: bool = False


def by_owner() -> Index[Object]:
    """File objects under the UIDs of their owners."""
    return Index(
        "owner",
        lambda it: (owner.uid for owner in it.metadata.owner_references),
        by_metadata=True,
    )


def by_label(label: str) -> Index[Object]:
    """File objects under the value of one label; those without it under nothing."""
    return Index(
        f"label:{label}",
        lambda it: (it.metadata.labels[label],) if label in it.metadata.labels else (),
        by_metadata=True,
    )


def by_node() -> Index[Pod]:
    """File pods under the node they run on."""
    return Index("node", lambda pod: (pod.spec.node_name,) if pod.spec.node_name else ())


@dataclass(frozen=True, slots=True)
class Delta(Generic[T]):
    """What changed: ``before`` None means new, ``now`` None means gone."""

    before: T | None
    now: T | None

    @property
    def key(self) -> ObjectKey:
        """The object it is about."""
        return (self.now or self.before).metadata.key  # type: ignore[union-attr]  # one of the two is there


class Cache(Generic[T]):
    """The last seen version of each object of one resource."""

    def __init__(self, resource: Resource[T], indexes: Iterable[Index[T]] = ()) -> None:
        self.resource = resource
        self._objects: dict[ObjectKey, T] = {}
        self._malformed: dict[ObjectKey, Malformed] = {}
        self._indexes = {index.name: index for index in indexes}
        # A dict serves as an ordered set: iteration must not depend on hashes.
        self._filed: dict[str, dict[str, dict[ObjectKey, None]]] = {n: {} for n in self._indexes}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._objects.values()))

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self._objects or key in self._malformed

    @property
    def malformed(self) -> tuple[Malformed, ...]:
        """The objects that exist but cannot be read."""
        return tuple(self._malformed.values())

    def get(self, key: ObjectKey) -> T | None:
        """Return the object as last seen, or None when it was not there."""
        if key in self._malformed:
            raise self._unreadable(self._malformed[key])
        return self._objects.get(key)

    def peek(self, key: ObjectKey) -> T | None:
        """Return the object as last read well, or None: for its name and owners only."""
        return self._objects.get(key)

    def find(self, index: str, value: str) -> list[T]:
        """Return the objects filed under a value, ordered by namespace and name."""
        for malformed in self._malformed.values():
            if self._may_be_filed(malformed, self._indexes[index], value):
                raise self._unreadable(malformed)
        return [self._objects[key] for key in sorted(self._filed[index].get(value, ()))]

    def put(self, item: T) -> Delta[T] | None:
        """Take in a version of an object; return what changed, or None if we knew better."""
        before = self._objects.get(item.metadata.key)
        if before is not None and not is_newer(
            item.metadata.resource_version, than=before.metadata.resource_version
        ):
            return None
        return self._keep(before, item)

    def put_malformed(self, malformed: Malformed) -> Delta[T]:
        """Take in that an object exists and cannot be read; return whom that concerns."""
        key = malformed.metadata.key
        before = self._objects.pop(key, None)
        self._file(key, before, ())
        self._malformed[key] = malformed
        shadow = before or _shadow(malformed.metadata)
        return Delta(shadow, shadow)

    def remove(self, key: ObjectKey, last: T | None = None) -> Delta[T] | None:
        """Take in that an object is gone; return what changed, or None if it was not there."""
        before = self._objects.get(key)
        if last is not None and before is not None and _is_successor(before, last):
            return None
        malformed = self._malformed.pop(key, None)
        self._objects.pop(key, None)
        self._file(key, before, ())
        known = last or before or (_shadow(malformed.metadata) if malformed else None)
        return Delta(known, None) if known is not None else None

    def replace(self, listing: Listing[T]) -> list[Delta[T]]:
        """Take in a whole list; return all that changed since, what disappeared unseen included.

        A list is believed whatever revisions it has: those of a server that was restored from a
        backup go back.
        """
        exist = {item.metadata.key for item in listing.items}
        exist |= {malformed.metadata.key for malformed in listing.malformed}
        vanished = [key for key in (*self._objects, *self._malformed) if key not in exist]
        deltas = [self.remove(key) for key in vanished]
        deltas.extend(self.put_malformed(malformed) for malformed in listing.malformed)
        for item in listing.items:
            before = self._objects.get(item.metadata.key)
            if before is None or not _is_same(before, item):
                deltas.append(self._keep(before, item))
        return [delta for delta in deltas if delta is not None]

    def _keep(self, before: T | None, item: T) -> Delta[T]:
        key = item.metadata.key
        try:
            filing = tuple(tuple(index.values(item)) for index in self._indexes.values())
        except Exception as error:  # noqa: BLE001 - one object's oddity must not hide the others
            return self.put_malformed(Malformed(item.metadata, f"it cannot be filed: {error!r}"))
        self._malformed.pop(key, None)
        self._file(key, before, filing)
        self._objects[key] = item
        return Delta(before, item)

    def _file(self, key: ObjectKey, before: T | None, filing: tuple[tuple[str, ...], ...]) -> None:
        """File an object anew; no filing at all takes it out everywhere."""
        for number, (name, index) in enumerate(self._indexes.items()):
            old = tuple(index.values(before)) if before is not None else ()
            new = filing[number] if filing else ()
            if old == new:
                continue
            drawer = self._filed[name]
            for value in dict.fromkeys(old):  # an object may name the same owner twice
                drawer[value].pop(key, None)
                if not drawer[value]:
                    del drawer[value]
            for value in new:
                drawer.setdefault(value, {})[key] = None

    def _may_be_filed(self, malformed: Malformed, index: Index[T], value: str) -> bool:
        """Tell whether an unreadable object may belong to a group, by what we know of it."""
        if not malformed.whole or not index.by_metadata:
            return True
        try:
            return value in index.values(_shadow(malformed.metadata))
        except Exception:  # noqa: BLE001 - whatever it is, it may belong there
            return True

    def _unreadable(self, malformed: Malformed) -> SpecInvalid:
        return SpecInvalid(
            f"{self.resource} {malformed.metadata.key}",
            f"must be readable: {malformed.problem}",
            hint="correct the object; until then nothing is done about it",
        )


def _is_same(one: Object, other: Object) -> bool:
    """Tell whether two objects are the same version of the same thing."""
    return (
        one.metadata.uid == other.metadata.uid
        and one.metadata.resource_version == other.metadata.resource_version
    )


def _is_successor(candidate: Object, of: Object) -> bool:
    """Tell whether an object is a later one that took the name of another."""
    return candidate.metadata.uid != of.metadata.uid and is_newer(
        candidate.metadata.resource_version, than=of.metadata.resource_version
    )


def _shadow(metadata: ObjectMeta) -> Any:
    """Return what stands for an object of which only the metadata is known."""
    return Object(metadata=metadata)
