"""The garbage collector: who has lost all owners goes too, and owners wait for who must go first.

An actor of its own, slower than the writers and allowed to be late, exactly as in a real cluster.
Each call of :meth:`Collector.step` performs one act, so a simulation can put anything between two
of them. It listens to the store and looks only at what a change may concern: the object itself,
those that own it and those that it owns. Where nothing happens, nothing is looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import structlog

from stateward.core.moments import to_rfc3339
from stateward.core.ports import Ports
from stateward.kube.client import Change, Propagation
from stateward.kube.codec import Json, decode
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.meta import Object, ObjectKey, ObjectMeta, OwnerReference
from stateward.kube.resources import EVENTS, Registry, Resource
from stateward.local.api import Api
from stateward.local.rules.deletion import FOREGROUND, ORPHAN, DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Store, Stored, StoreEvent

_SELF = Author("garbage-collector")
#: Looks in a row before others get to run.
_SLICE = 50

#: What is served: all of it, or how to ask for what is served now.
Served: TypeAlias = Registry | Callable[[], Iterable[Resource[Any]]]


class Owner(Enum):
    """What an owner is to the object that names it."""

    SOLID = "it is there, or we cannot tell"
    WAITING = "it is leaving, and lets those that it owns go first"
    GONE = "it is not there, or another one of its name is"


class Place(NamedTuple):
    """Where an object is kept."""

    resource: str
    key: ObjectKey


class Families:
    """Who owns whom, and whom somebody should look at, kept up to date by the store's events."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owned: dict[str, dict[Place, None]] = {}
        self._places: dict[str, Place] = {}
        self._due: dict[Place, None] = {}
        self._awake: Callable[[], None] = lambda: None
        for name, stored in store:
            self._file(Place(name, stored.key), stored)
        self.look_at_all()
        store.listen(self._take_in)

    def look_at_all(self) -> None:
        """Have everybody looked at who has owners or is on its way out."""
        for name, stored in self._store:
            if stored.owners or _may_leave(stored):
                self.look_at(Place(name, stored.key))

    def look_at(self, place: Place) -> None:
        """Have somebody looked at, after those who wait already."""
        self._due[place] = None
        self._awake()

    def next(self) -> Place | None:
        """Return whom to look at, or None when nothing has happened."""
        if not self._due:
            return None
        place = next(iter(self._due))
        del self._due[place]
        return place

    def dependents(self, uid: str) -> list[Place]:
        """Return the places of all that an object owns, in the order in which it got them."""
        return list(self._owned.get(uid, ()))

    def knows(self, uid: str) -> bool:
        """Tell whether there is an object of that UID, wherever it is."""
        return uid in self._places

    def on_work(self, awake: Callable[[], None]) -> None:
        """Call back whenever there is somebody to look at."""
        self._awake = awake

    def _take_in(self, event: StoreEvent) -> None:
        place = Place(event.resource, event.now.key)
        if event.before is not None:
            self._unfile(place, event.before)
        gone = event.change is Change.DELETED
        if not gone:
            self._file(place, event.now)
            if event.now.owners or _may_leave(event.now):
                self.look_at(place)
        if gone or _may_leave(event.now):
            for dependent in self.dependents(event.now.uid):
                self.look_at(dependent)
        self._look_at_owners(event)

    def _look_at_owners(self, event: StoreEvent) -> None:
        """Have the owners looked at that may wait for this one, or that it may wait for."""
        before = event.before.owners if event.before is not None else ()
        for uid in dict.fromkeys((*before, *event.now.owners)):
            place = self._places.get(uid)
            owner = self._store.get(*place) if place is not None else None
            if place is not None and owner is not None and (owner.owners or _may_leave(owner)):
                self.look_at(place)

    def _file(self, place: Place, stored: Stored) -> None:
        self._places[stored.uid] = place
        for uid in stored.owners:
            self._owned.setdefault(uid, {})[place] = None

    def _unfile(self, place: Place, stored: Stored) -> None:
        self._places.pop(stored.uid, None)
        for uid in stored.owners:
            owned = self._owned.get(uid, {})
            owned.pop(place, None)
            if not owned:
                self._owned.pop(uid, None)


class Collector:
    """Looks at whom a change may concern and does the first thing that is due."""

    def __init__(self, api: Api, served: Served) -> None:
        self._api = api
        self._served = served
        self._registry = served if isinstance(served, Registry) else Registry(served())
        self._resources = {resource.name: resource for resource in self._registry}
        self._families = Families(api.store)
        self._log = structlog.get_logger("garbage-collector")

    def step(self) -> bool:
        """Do one thing; return False when nothing is due."""
        while (acted := self._look()) is False:
            pass
        return bool(acted)

    async def run(self, ports: Ports) -> None:
        """Collect as soon as there is something to collect, until cancelled."""
        awake = asyncio.Event()
        self._families.on_work(awake.set)
        while True:
            awake.clear()
            if self._some_looks():
                await ports.clock.sleep(0)
            else:
                await awake.wait()

    def _some_looks(self) -> bool:
        """Look at a few; return False when there is nobody left to look at."""
        try:
            return all(self._look() is not None for _ in range(_SLICE))
        except ApiError as error:  # an object that nobody can write waits for its next change
            self._log.warning("could not collect", error=str(error))
            return True

    def _look(self) -> bool | None:
        """Look at one object; return whether something was done, or None when there is none."""
        if (place := self._families.next()) is None:
            return None
        stored, resource = self._api.store.get(*place), self._resource(place.resource)
        if stored is None or resource is None or not self._act_on(resource, stored):
            return False
        self._families.look_at(place)  # there may be more to do about it
        return True

    def _resource(self, name: str) -> Resource[Any] | None:
        if name not in self._resources:
            self._ask_again()
        return self._resources.get(name)

    def _ask_again(self) -> None:
        """Learn what is served now; what nobody could judge before is looked at again."""
        if isinstance(self._served, Registry):
            return
        registry = Registry(self._served())
        names = {resource.name: resource for resource in registry}
        if names.keys() != self._resources.keys():
            self._families.look_at_all()
        self._registry, self._resources = registry, names

    def _act_on(self, resource: Resource[Any], stored: Stored) -> bool:
        if not stored.owners and not _may_leave(stored):
            return False
        meta = _metadata(stored)
        try:
            if meta.deleting and FOREGROUND in meta.finalizers:
                return self._finish_foreground(resource, stored)
            if meta.deleting and ORPHAN in meta.finalizers:
                return self._finish_orphaning(resource, stored)
            if not meta.deleting and stored.owners:
                return self._collect(resource, stored, meta)
        except (Conflict, NotFound):
            return True  # it changed under our eyes; look again
        return False

    def _collect(self, resource: Resource[Any], stored: Stored, meta: ObjectMeta) -> bool:
        """Delete an object whose owners are all gone, or on their way and waiting for it."""
        seen = {owner.uid: self._judge(owner, stored) for owner in meta.owner_references}
        for owner in meta.owner_references:
            if seen[owner.uid] is Owner.GONE and self._families.knows(owner.uid):
                self._tell_misplaced(resource, stored, owner)
        if Owner.SOLID in seen.values():
            lost = {uid for uid, it in seen.items() if it is not Owner.SOLID}
            return bool(lost) and self._forget_owners(resource, stored, lost)
        how = _by_finalizers(meta)
        if Owner.WAITING in seen.values() and any(self._dependents(stored.uid)):
            if self._goes_round(stored) and self._unblock(resource, stored, meta):
                return True
            how = Propagation.FOREGROUND
        self._api.delete(resource, stored.key, DeleteOptions(uid=stored.uid, propagation=how))
        return True

    def _tell_misplaced(self, of: Resource[Any], stored: Stored, owner: OwnerReference) -> None:
        """Say that the owner is there, and not where the object says: it cannot be owned so."""
        where, now = stored.key.namespace, to_rfc3339(self._api.now())
        kind = f"{owner.api_version}/{owner.kind}"
        there = f"namespace: {where}, name: {owner.name}, uid: {owner.uid}"
        event = {
            "metadata": {"name": f"{stored.key.name}.{stored.uid}"},
            "involvedObject": {
                "apiVersion": of.api_version,
                "kind": of.kind,
                "namespace": where,
                "name": stored.key.name,
                "uid": stored.uid,
            },
            "type": "Warning",
            "reason": "OwnerRefInvalidNamespace",
            "message": f'ownerRef [{kind}, {there}] does not exist in namespace "{where}"',
            "source": {"component": _SELF.manager},
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
        }
        with suppress(ApiError):  # an event is no reason to keep what must go
            self._api.create(EVENTS, where or "default", event, _SELF)

    def _judge(self, owner: OwnerReference, of: Stored) -> Owner:
        """Find an owner by kind, name and UID, beside the object or in no namespace at all."""
        resource = self._registry.find(owner.api_version, owner.kind)
        if resource is None:
            self._ask_again()
            resource = self._registry.find(owner.api_version, owner.kind)
        if resource is None or (resource.namespaced and not of.key.namespace):
            return Owner.SOLID  # nobody can tell; what might be owned is not deleted
        where = ObjectKey(of.key.namespace if resource.namespaced else "", owner.name)
        found = self._api.store.get(resource.name, where)
        if found is None or found.uid != owner.uid:
            return Owner.GONE
        return Owner.WAITING if _waits(found) else Owner.SOLID

    def _goes_round(self, stored: Stored) -> bool:
        """Tell whether what this object owns waits already: it may be for this very one."""
        return any(_waits(it) for _, it in self._dependents(stored.uid))

    def _unblock(self, resource: Resource[Any], stored: Stored, meta: ObjectMeta) -> bool:
        """Make an object hold up none of its owners; return False when it holds up none."""
        if not any(owner.block_owner_deletion for owner in meta.owner_references):
            return False
        document = stored.document()
        for owner in document["metadata"]["ownerReferences"]:
            owner["blockOwnerDeletion"] = False
        self._write(resource, stored, document)
        return True

    def _finish_foreground(self, resource: Resource[Any], stored: Stored) -> bool:
        """Let an owner go once nothing is left that it must wait for."""
        if any(_blocks(_metadata(it), stored.uid) for _, it in self._dependents(stored.uid)):
            return False
        return self._drop_finalizer(resource, stored, FOREGROUND)

    def _finish_orphaning(self, resource: Resource[Any], stored: Stored) -> bool:
        """Take the owner out of everything it owned, then let it go."""
        for other, dependent in self._dependents(stored.uid):
            return self._forget_owners(other, dependent, {stored.uid})
        return self._drop_finalizer(resource, stored, ORPHAN)

    def _dependents(self, uid: str) -> Iterator[tuple[Resource[Any], Stored]]:
        for place in self._families.dependents(uid):
            resource = self._resource(place.resource)
            stored = self._api.store.get(*place)
            if resource is not None and stored is not None:
                yield resource, stored

    def _forget_owners(self, resource: Resource[Any], stored: Stored, lost: set[str]) -> bool:
        document = stored.document()
        owners = document["metadata"]["ownerReferences"]
        rest = [owner for owner in owners if owner["uid"] not in lost]
        document["metadata"]["ownerReferences"] = rest
        self._write(resource, stored, document)
        return True

    def _write(self, resource: Resource[Any], stored: Stored, document: Json) -> None:
        """Write an object in the version in which it is kept, which may not be the only one."""
        kept = self._registry.find(document["apiVersion"], document["kind"]) or resource
        self._api.update(kept, stored.key, document, _SELF)

    def _drop_finalizer(self, resource: Resource[Any], stored: Stored, finalizer: str) -> bool:
        document: Json = stored.document()
        rest = [f for f in document["metadata"]["finalizers"] if f != finalizer]
        document["metadata"]["finalizers"] = rest
        self._write(resource, stored, document)
        return True


def _metadata(stored: Stored) -> ObjectMeta:
    return decode(stored.text, Object).metadata


def _may_leave(stored: Stored) -> bool:
    """Tell whether an object may be on its way out: a look at the text, which is cheap."""
    return b"deletionTimestamp" in stored.text


def _by_finalizers(meta: ObjectMeta) -> Propagation:
    """Return how an object wants those that it owns to go, if it says so."""
    if ORPHAN in meta.finalizers:
        return Propagation.ORPHAN
    return Propagation.FOREGROUND if FOREGROUND in meta.finalizers else Propagation.BACKGROUND


def _waits(stored: Stored) -> bool:
    """Tell whether an object is on its way out and lets those that it owns go first."""
    if not _may_leave(stored):
        return False
    meta = _metadata(stored)
    return meta.deleting and FOREGROUND in meta.finalizers


def _blocks(meta: ObjectMeta, uid: str) -> bool:
    return any(owner.uid == uid and owner.block_owner_deletion for owner in meta.owner_references)
