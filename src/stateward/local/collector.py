"""The garbage collector: objects whose owners are gone go too, and owners wait for those that must go first.

An actor of its own, slower than the writers and allowed to be late, exactly as in a real cluster. Each call of
:meth:`Collector.step` performs one act, so a simulation can put anything between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stateward.kube.client import Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.resources import Registry, Resource
from stateward.local.api import Api
from stateward.local.deletion import FOREGROUND, ORPHAN, DeleteOptions
from stateward.local.store import Stored
from stateward.local.writes import Author

_SELF = Author("garbage-collector")


class Collector:
    """Looks at the whole store and does the first thing that is due."""

    def __init__(self, api: Api, registry: Registry) -> None:
        self._api = api
        self._resources = {resource.name: resource for resource in registry}

    def step(self) -> bool:
        """Do one thing; return False when nothing is due."""
        alive = {stored.uid: stored for _, stored in self._api.store}
        for name, stored in self._api.store:
            resource = self._resources.get(name)
            if resource is not None and self._act_on(resource, stored, alive):
                return True
        return False

    def _act_on(self, resource: Resource[Any], stored: Stored, alive: dict[str, Stored]) -> bool:
        if not stored.owners and b"deletionTimestamp" not in stored.text:
            return False
        document = stored.document()
        finalizers = document["metadata"].get("finalizers") or ()
        leaving = "deletionTimestamp" in document["metadata"]
        try:
            if leaving and FOREGROUND in finalizers:
                return self._finish_foreground(resource, stored, document)
            if leaving and ORPHAN in finalizers:
                return self._finish_orphaning(resource, stored, document)
            if not leaving and stored.owners:
                return self._collect(resource, stored, document, alive)
        except (Conflict, NotFound):
            return True  # it changed under our eyes; look again
        return False

    def _collect(
        self, resource: Resource[Any], stored: Stored, document: Json, alive: dict[str, Stored]
    ) -> bool:
        """Delete an object whose owners are all gone, or on their way and waiting for it."""
        owners = document["metadata"]["ownerReferences"]
        solid = [o for o in owners if not _is_gone(o, stored, alive) and not _waits(o, alive)]
        waiting = [o for o in owners if not _is_gone(o, stored, alive) and _waits(o, alive)]
        if solid:
            if len(solid) == len(owners):
                return False
            self._set_owners(resource, stored, document, solid)
            return True
        how = Propagation.FOREGROUND if waiting else Propagation.BACKGROUND
        self._api.delete(resource, stored.key, DeleteOptions(uid=stored.uid, propagation=how))
        return True

    def _finish_foreground(self, resource: Resource[Any], stored: Stored, document: Json) -> bool:
        """Let an owner go once nothing is left that it must wait for."""
        if any(_blocks(it.document(), stored.uid) for _, it in self._dependents(stored.uid)):
            return False
        self._drop_finalizer(resource, stored, document, FOREGROUND)
        return True

    def _finish_orphaning(self, resource: Resource[Any], stored: Stored, document: Json) -> bool:
        """Take the owner out of everything it owned, then let it go."""
        for other, dependent in self._dependents(stored.uid):
            theirs = dependent.document()
            rest = [o for o in theirs["metadata"]["ownerReferences"] if o["uid"] != stored.uid]
            self._set_owners(other, dependent, theirs, rest)
            return True
        self._drop_finalizer(resource, stored, document, ORPHAN)
        return True

    def _dependents(self, uid: str) -> Iterator[tuple[Resource[Any], Stored]]:
        for name, stored in tuple(self._api.store):
            if uid in stored.owners and name in self._resources:
                yield self._resources[name], stored

    def _set_owners(
        self, resource: Resource[Any], stored: Stored, document: Json, owners: list[Json]
    ) -> None:
        document["metadata"]["ownerReferences"] = owners
        self._api.update(resource, stored.key, document, _SELF)

    def _drop_finalizer(
        self, resource: Resource[Any], stored: Stored, document: Json, finalizer: str
    ) -> None:
        rest = [f for f in document["metadata"]["finalizers"] if f != finalizer]
        document["metadata"]["finalizers"] = rest
        self._api.update(resource, stored.key, document, _SELF)


def _is_gone(owner: Json, of: Stored, alive: dict[str, Stored]) -> bool:
    """Tell whether an owner does not exist; one in another namespace cannot own anything here."""
    found = alive.get(owner["uid"])
    return (
        found is None
        or found.key.name != owner["name"]
        or found.key.namespace not in {"", of.key.namespace}
    )


def _waits(owner: Json, alive: dict[str, Stored]) -> bool:
    """Tell whether an owner is on its way out and lets its dependents go first."""
    metadata = alive[owner["uid"]].document()["metadata"]
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())


def _blocks(document: Json, uid: str) -> bool:
    owners = document["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == uid and owner.get("blockOwnerDeletion") for owner in owners)
