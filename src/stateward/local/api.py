"""The verbs of the embedded Kubernetes, whoever asks: a client, the HTTP server, a controller."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from stateward.core.ports import Ports
from stateward.kube.client import EVERYTHING, Selection
from stateward.kube.codec import Json, encode
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.kinds import Kinds
from stateward.local.rules.admission import Admission
from stateward.local.rules.binding import Binding, Target
from stateward.local.rules.deletion import DeleteOptions, Deletion, Ended
from stateward.local.rules.eviction import Eviction
from stateward.local.rules.scale import Scaling
from stateward.local.rules.writes import AnyPatch, Author, Writes
from stateward.local.store import Store, Stored
from stateward.local.watching import Filter, Pace, Sighting, follow


@dataclass(frozen=True, slots=True)
class Selected:
    """What a list found, as of one revision."""

    items: tuple[Stored, ...]
    revision: int


class Api:
    """One store and the rules around it. Without an admission it takes any object."""

    def __init__(
        self,
        ports: Ports,
        *,
        store: Store | None = None,
        kinds: Kinds | None = None,
        admission: Admission | None = None,
    ) -> None:
        self.store = Store() if store is None else store
        self.kinds = Kinds() if kinds is None else kinds
        self._clock = ports.clock
        now, chance = ports.clock.now, ports.chance.stream("api")
        self._writes = Writes(self.store, self.kinds, now=now, chance=chance, admission=admission)
        self._deletion = Deletion(
            self.store, self.kinds, self._writes, now=now, admission=admission
        )
        self._eviction = Eviction(self.store, self._writes, self._deletion, now=now)
        self._binding = Binding(self._writes, now=now)
        self._scaling = Scaling(self.kinds, self._writes, admission=admission)

    def now(self) -> float:
        """Return the moment that it writes into objects."""
        return self._clock.now()

    def get(self, resource: Resource[Any], key: ObjectKey, *, subresource: str = "") -> Stored:
        """Return an object, or the scale of it; raise NotFound when there is none."""
        if subresource == "scale":
            return self._scaling.get(resource, key)
        has_status = self.kinds.of(resource).resource.has_status
        if subresource and not (subresource == "status" and has_status):
            raise NotFound(
                f"the server could not find the requested resource: {resource}/{subresource}"
            )
        return self._as_asked(resource, self._writes.existing(resource, key))

    def list(self, resource: Resource[Any], selection: Selection = EVERYTHING) -> Selected:
        """Return the selected objects, ordered by ``namespace/name``."""
        found = self._selected(resource, selection)
        if self._is_several(resource):
            found = tuple(self._as_asked(resource, stored) for stored in found)
        return Selected(found, self.store.revision)

    def watch(
        self, resource: Resource[Any], selection: Selection, since: int, pace: Pace | None = None
    ) -> AsyncGenerator[Sighting | int, None]:
        """Yield what changes after a revision (see :func:`stateward.local.watching.follow`)."""
        wanted = self._filter(resource, selection)
        stream = follow(self.store, resource, wanted, since, pace or Pace(self._clock))
        return self._watch_as_asked(resource, stream) if self._is_several(resource) else stream

    def create(
        self, resource: Resource[Any], namespace: str, document: Json, author: Author
    ) -> Stored:
        """Keep a new object."""
        made = self._writes.create(resource, namespace, document, author)
        return self._as_asked(resource, made)

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
        if subresource == "scale":
            return self._scaling.update(resource, key, document, author)
        made = self._writes.update(resource, key, document, author, subresource=subresource)
        return self._as_asked(resource, made)

    def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: AnyPatch,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Change part of an object."""
        if subresource == "scale":
            return self._scaling.patch(resource, key, patch, author)
        made = self._writes.patch(resource, key, patch, author, subresource=subresource)
        return self._as_asked(resource, made)

    def delete(self, resource: Resource[Any], key: ObjectKey, options: DeleteOptions) -> Ended:
        """Ask for the end of an object."""
        ended = self._deletion.delete(resource, key, options)
        return replace(ended, stored=self._as_asked(resource, ended.stored))

    def evict(self, key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of a pod, if its disruption budget has room."""
        self._eviction.evict(key, options)

    def bind(self, key: ObjectKey, target: Target) -> Stored:
        """Give a pod its node."""
        return self._binding.bind(key, target)

    def _selected(self, resource: Resource[Any], selection: Selection) -> tuple[Stored, ...]:
        wanted = self._filter(resource, selection)
        items = self.store.all(resource.name, selection.namespace)
        return tuple(stored for stored in items if wanted.matches(stored))

    def _filter(self, resource: Resource[Any], selection: Selection) -> Filter:
        return Filter.of(selection, self.kinds.of(resource))

    def _is_several(self, resource: Resource[Any]) -> bool:
        return bool(self.kinds.of(resource).stored_as)

    def _as_asked(self, resource: Resource[Any], stored: Stored) -> Stored:
        """Return an object in the version that was asked for, where a kind has several."""
        if not self._is_several(resource):
            return stored
        document = stored.document() | {"apiVersion": resource.api_version}
        return replace(stored, text=encode(document))

    async def _watch_as_asked(
        self, resource: Resource[Any], stream: AsyncGenerator[Sighting | int, None]
    ) -> AsyncGenerator[Sighting | int, None]:
        async with aclosing(stream) as sightings:
            async for seen in sightings:
                if isinstance(seen, int):
                    yield seen
                else:
                    yield replace(seen, stored=self._as_asked(resource, seen.stored))
