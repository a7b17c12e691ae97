"""The custom objects of a world: which there are, which went, and what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.kube.client import Change
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.store import Stored, StoreEvent
from stateward.sim.laws.watchman import Watchman, leaves


@dataclass(frozen=True, slots=True)
class Custom:
    """The kind that operators look after, and the labels by which its parts are known."""

    resource: Resource[Any]
    #: Says of which object (its UID) a part is.
    uid_label: str
    #: Says what that object is called.
    name_label: str


class Family:
    """Who belongs to whom, as Kubernetes has it now."""

    def __init__(self, watchman: Watchman, custom: Custom) -> None:
        self.custom = custom
        self._watchman = watchman
        self._store = watchman.world.api.store
        #: The UIDs that an object of a name had, in their order.
        self._uids: dict[ObjectKey, list[str]] = {}
        #: Since when objects are going or gone, by their UIDs.
        self._leaving: dict[str, float] = {}
        self._owners: dict[str, tuple[str, ...]] = {}
        #: The last version of each custom object, by its UID.
        self.last: dict[str, Stored] = {}
        self._store.listen(self._changed)

    def uids(self, key: ObjectKey) -> tuple[str, ...]:
        """Return the UIDs that an object of a name had, the newest last."""
        return tuple(self._uids.get(key, ()))

    def live(self, key: ObjectKey) -> Stored | None:
        """Return a custom object as it is."""
        return self._store.get(self.custom.resource.name, key)

    def is_live(self, uid: str) -> bool:
        """Tell whether a custom object is there and stays."""
        return uid not in self._leaving and any(uid in it for it in self._uids.values())

    def leaving_since(self, uid: str) -> float | None:
        """Return when a custom object was asked to go."""
        return self._leaving.get(uid)

    def roots(self, stored: Stored) -> set[str]:
        """Return the custom objects that something belongs to: by its owners, and theirs."""
        customs = {uid for uids in self._uids.values() for uid in uids}
        found, unseen = set(), [stored.uid]
        while unseen:
            uid = unseen.pop()
            if uid in customs:
                found.add(uid)
            elif uid in self._owners:
                unseen += self._owners[uid]
        label = stored.labels.get(self.custom.uid_label, "")
        return found | {label} if label in customs else found

    def _changed(self, event: StoreEvent) -> None:
        uid = event.now.uid
        if event.now.owners:
            self._owners[uid] = event.now.owners
        else:
            self._owners.pop(uid, None)
        if event.resource != self.custom.resource.name:
            return
        self.last[uid] = event.now
        if event.change is Change.ADDED:
            self._uids.setdefault(event.now.key, []).append(uid)
        elif event.change is Change.DELETED or leaves(event.now):
            self._leaving.setdefault(uid, self._watchman.world.loop.time())
