"""The garbage collector: who has lost all owners goes too, and owners wait for who must go first.

An actor of its own, slower than the writers and allowed to be late, exactly as in a real cluster.
Each call of :meth:`Collector.step` performs one act, so a simulation can put anything between two
of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from stateward.kube.client import Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Registry, Resource
from stateward.local.api import Api
from stateward.local.rules.deletion import FOREGROUND, ORPHAN, DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored

_SELF = Author("garbage-collector")


class Owner(Enum):
    """What an owner is to the object that names it."""

    SOLID = "it is there, or we cannot tell"
    WAITING = "it is leaving, and lets those that it owns go first"
    GONE = "it is not there, or another one of its name is"


class Collector:
    """Looks at the whole store and does the first thing that is due."""

    def __init__(self, api: Api, registry: Registry) -> None:
        self._api = api
        self._registry = registry
        self._resources = {resource.name: resource for resource in registry}

    def step(self) -> bool:
        """Do one thing; return False when nothing is due."""
        for name, stored in self._api.store:
            resource = self._resources.get(name)
            if resource is not None and self._act_on(resource, stored):
                return True
        return False

    def _act_on(self, resource: Resource[Any], stored: Stored) -> bool:
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
                return self._collect(resource, stored, document)
        except (Conflict, NotFound):
            return True  # it changed under our eyes; look again
        return False

    def _collect(self, resource: Resource[Any], stored: Stored, document: Json) -> bool:
        """Delete an object whose owners are all gone, or on their way and waiting for it."""
        owners = document["metadata"]["ownerReferences"]
        seen = [self._look_at(owner, stored) for owner in owners]
        if Owner.SOLID in seen:
            solid = [o for o, it in zip(owners, seen, strict=True) if it is Owner.SOLID]
            return len(solid) < len(owners) and self._set_owners(resource, stored, document, solid)
        how = _by_finalizers(document)
        if Owner.WAITING in seen and any(self._dependents(stored.uid)):
            if self._goes_round(stored) and self._unblock(resource, stored, document):
                return True
            how = Propagation.FOREGROUND
        self._api.delete(resource, stored.key, DeleteOptions(uid=stored.uid, propagation=how))
        return True

    def _look_at(self, owner: Json, of: Stored) -> Owner:
        """Find an owner by kind, name and UID, beside the object or in no namespace at all."""
        resource = self._registry.find(owner["apiVersion"], owner["kind"])
        if resource is None or (resource.namespaced and not of.key.namespace):
            return Owner.SOLID  # nobody can tell; what might be owned is not deleted
        where = ObjectKey(of.key.namespace if resource.namespaced else "", owner["name"])
        found = self._api.store.get(resource.name, where)
        if found is None or found.uid != owner["uid"]:
            return Owner.GONE
        return Owner.WAITING if _waits(found) else Owner.SOLID

    def _goes_round(self, stored: Stored) -> bool:
        """Tell whether what this object owns waits already: it may be for this very one."""
        return any(_waits(it) for _, it in self._dependents(stored.uid))

    def _unblock(self, resource: Resource[Any], stored: Stored, document: Json) -> bool:
        """Make an object hold up none of its owners; return False when it holds up none."""
        owners = document["metadata"]["ownerReferences"]
        if not any(owner.get("blockOwnerDeletion") for owner in owners):
            return False
        free = [owner | {"blockOwnerDeletion": False} for owner in owners]
        return self._set_owners(resource, stored, document, free)

    def _finish_foreground(self, resource: Resource[Any], stored: Stored, document: Json) -> bool:
        """Let an owner go once nothing is left that it must wait for."""
        if any(_blocks(it.document(), stored.uid) for _, it in self._dependents(stored.uid)):
            return False
        return self._drop_finalizer(resource, stored, document, FOREGROUND)

    def _finish_orphaning(self, resource: Resource[Any], stored: Stored, document: Json) -> bool:
        """Take the owner out of everything it owned, then let it go."""
        for other, dependent in self._dependents(stored.uid):
            theirs = dependent.document()
            rest = [o for o in theirs["metadata"]["ownerReferences"] if o["uid"] != stored.uid]
            return self._set_owners(other, dependent, theirs, rest)
        return self._drop_finalizer(resource, stored, document, ORPHAN)

    def _dependents(self, uid: str) -> Iterator[tuple[Resource[Any], Stored]]:
        for name, stored in tuple(self._api.store):
            if uid in stored.owners and name in self._resources:
                yield self._resources[name], stored

    def _set_owners(
        self, resource: Resource[Any], stored: Stored, document: Json, owners: list[Json]
    ) -> bool:
        document["metadata"]["ownerReferences"] = owners
        self._api.update(resource, stored.key, document, _SELF)
        return True

    def _drop_finalizer(
        self, resource: Resource[Any], stored: Stored, document: Json, finalizer: str
    ) -> bool:
        rest = [f for f in document["metadata"]["finalizers"] if f != finalizer]
        document["metadata"]["finalizers"] = rest
        self._api.update(resource, stored.key, document, _SELF)
        return True


def _by_finalizers(document: Json) -> Propagation:
    """Return how an object wants those that it owns to go, if it says so."""
    finalizers = document["metadata"].get("finalizers") or ()
    if ORPHAN in finalizers:
        return Propagation.ORPHAN
    return Propagation.FOREGROUND if FOREGROUND in finalizers else Propagation.BACKGROUND


def _waits(stored: Stored) -> bool:
    """Tell whether an object is on its way out and lets those that it owns go first."""
    if b"deletionTimestamp" not in stored.text:
        return False
    metadata = stored.document()["metadata"]
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())


def _blocks(document: Json, uid: str) -> bool:
    owners = document["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == uid and owner.get("blockOwnerDeletion") for owner in owners)
