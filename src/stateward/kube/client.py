"""The client port: all that anybody may ask of Kubernetes.

Two implementations fit it: the one over HTTP (``http/client.py``) and the one over the embedded
store (``local/client.py``); one contract suite runs over both. Whoever needs less declares a
smaller Protocol.

What every implementation promises:

- every call ends, in success or in one of the errors of ``core.errors`` and ``kube.errors``;
- :class:`~stateward.core.errors.PeerUnreachable` and a 4xx refusal mean that nothing was done;
  :class:`~stateward.core.errors.OutcomeUnknown` means that a write may have been carried out;
- ``get`` and ``list`` with :attr:`Read.QUORUM` see every write that ended before they began;
- a deletion names the UID it is about, so that a newer object of the same name is never hit.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from stateward.kube.codec import Body, Json
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import Resource

T = TypeVar("T", bound=Object)


class Read(Enum):
    """How fresh a list must be."""

    QUORUM = ""  #: as of now
    CACHE = "0"  #: whatever the server has in memory: cheap, and possibly old


class Change(Enum):
    """What a watch event tells."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


class Propagation(Enum):
    """What becomes of the objects that the deleted one owns."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"


@dataclass(frozen=True, slots=True)
class Malformed:
    """An object whose type is not what ours says: it exists, and nothing else may be assumed."""

    metadata: ObjectMeta
    problem: str
    #: False when even the metadata could be read only in part: it may have any label or owner.
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Objects as of one revision, from which a watch may go on."""

    items: tuple[T, ...]
    revision: str
    malformed: tuple[Malformed, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """One change, in the order they happened. A bookmark carries a revision and no object."""

    change: Change
    object: T | Malformed
    revision: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a resource: a namespace (empty: all of them) and selectors in kubectl's
    notation.
    """

    namespace: str = ""
    labels: str = ""
    fields: str = ""


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class MergePatch:
    """RFC 7386: what is named is set, what is null is removed, lists are replaced."""

    body: Json


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """RFC 6902: operations in order, all or none; a failing ``test`` makes it none."""

    operations: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """Server-side apply: the fields named are ours.

    Those we named last time and no longer do are removed.
    """

    body: Json
    manager: str
    force: bool = False


Patch: TypeAlias = MergePatch | JsonPatch | Apply


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Which part of a container's log."""

    container: str = ""
    tail_lines: int | None = None
    since_seconds: int | None = None
    previous: bool = False
    follow: bool = False
    timestamps: bool = False


class Reader(Protocol):
    """The calls that change nothing."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now; raise NotFound when there is none."""

    async def list(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        read: Read = Read.QUORUM,
    ) -> Listing[T]:
        """Return all selected objects; large lists travel in pages."""

    def watch(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        since: str,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what changes after the revision ``since``, until the server ends the stream.

        An ended or cut stream may be resumed from the last revision heard; Gone means: list again.
        """

    def log(self, key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the log of one container of a pod."""


class Writer(Protocol):
    """The calls that change something. With ``dry_run`` all is checked and nothing is kept."""

    async def create(self, resource: Resource[T], body: Body, *, dry_run: bool = False) -> T:
        """Create the object; raise AlreadyExists when one of that name is there."""

    async def update(
        self, resource: Resource[T], body: Body, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        """Replace the object; with a resourceVersion in the body, only if it is still that one."""

    async def patch(
        self,
        resource: Resource[T],
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Change part of the object."""

    async def delete(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation = Propagation.BACKGROUND,
        grace_seconds: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Ask for deletion of exactly the object with this UID (and, if given, this
        resourceVersion).
        """

    async def evict(self, key: ObjectKey, *, uid: str, grace_seconds: int | None = None) -> None:
        """Ask for a pod to leave; raise EvictionRefused when its budget does not allow it."""

    async def bind(self, key: ObjectKey, node: str, *, uid: str) -> None:
        """Put exactly the pod with this UID on a node, for good; raise Conflict when it is on
        one.
        """


class Client(Reader, Writer, Protocol):
    """All of it."""
