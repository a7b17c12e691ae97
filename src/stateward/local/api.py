"""The verbs of the embedded Kubernetes, whoever asks: a client, the HTTP server, a controller."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from stateward.core.ports import Ports
from stateward.kube.client import EVERYTHING, Patch, Selection
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.kinds import Kinds
from stateward.local.rules.deletion import DeleteOptions, Deletion
from stateward.local.rules.eviction import Eviction
from stateward.local.rules.writes import Author, Writes
from stateward.local.store import Store, Stored
from stateward.local.watching import Filter, Pace, Sighting, follow


@dataclass(frozen=True, slots=True)
class Selected:
    """What a list found, as of one revision."""

    items: tuple[Stored, ...]
    revision: int


class Api:
    """One store and the rules around it."""

    def __init__(
        self, ports: Ports, *, store: Store | None = None, kinds: Kinds | None = None
    ) -> None:
        self.store = store or Store()
        self.kinds = kinds or Kinds()
        self._clock = ports.clock
        self._writes = Writes(
            self.store, self.kinds, now=ports.clock.now, chance=ports.chance.stream("api")
        )
        self._deletion = Deletion(self.store, self.kinds, self._writes, now=ports.clock.now)
        self._eviction = Eviction(self.store, self._writes, self._deletion, now=ports.clock.now)

    def get(self, resource: Resource[Any], key: ObjectKey) -> Stored:
        """Return an object as it is; raise NotFound when there is none."""
        return self._writes.existing(resource, key)

    def list(self, resource: Resource[Any], selection: Selection = EVERYTHING) -> Selected:
        """Return the selected objects, ordered by ``namespace/name``."""
        wanted = self._filter(resource, selection)
        items = self.store.all(resource.name, selection.namespace)
        return Selected(tuple(s for s in items if wanted.matches(s)), self.store.revision)

    def watch(
        self, resource: Resource[Any], selection: Selection, since: int, pace: Pace | None = None
    ) -> AsyncGenerator[Sighting | int, None]:
        """Yield what changes after a revision (see :func:`stateward.local.watching.follow`)."""
        wanted = self._filter(resource, selection)
        return follow(self.store, resource, wanted, since, pace or Pace(self._clock))

    def create(
        self, resource: Resource[Any], namespace: str, document: Json, author: Author
    ) -> Stored:
        """Keep a new object."""
        return self._writes.create(resource, namespace, document, author)

    def update(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        document: Json,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Replace an object or a part of it."""
        return self._writes.update(resource, key, document, author, subresource=subresource)

    def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: Patch,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Change part of an object."""
        return self._writes.patch(resource, key, patch, author, subresource=subresource)

    def delete(self, resource: Resource[Any], key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of an object."""
        self._deletion.delete(resource, key, options)

    def evict(self, key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of a pod, if its disruption budget has room."""
        self._eviction.evict(key, options)

    def _filter(self, resource: Resource[Any], selection: Selection) -> Filter:
        return Filter.of(selection, self.kinds.of(resource).selectable)
