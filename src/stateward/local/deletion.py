"""Deletion: preconditions, finalizers, grace, and what becomes of the objects that the deleted one owned.

Deleting an object is asking for its end. It ends when no finalizer holds it and, for a pod on a node, when the
node has reported that it stopped. The garbage collector (``collector.py``) does the rest, later, on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stateward.core.moments import to_rfc3339
from stateward.kube.client import Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.kinds import Kind, Kinds
from stateward.local.store import Store
from stateward.local.writes import Writes

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"

#: Seconds a pod gets to end when nobody says otherwise.
_GRACE = 30


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """What a deletion insists on."""

    uid: str = ""
    resource_version: str = ""
    propagation: Propagation = Propagation.BACKGROUND
    grace_seconds: int | None = None
    dry_run: bool = False


class Deletion:
    """The verb that ends objects."""

    def __init__(
        self, store: Store, kinds: Kinds, writes: Writes, *, now: Callable[[], float]
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._writes = writes
        self._now = now

    def delete(self, resource: Resource[Any], key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of exactly the object that the options mean."""
        stored = self._writes.existing(resource, key)
        old = stored.document()
        _check_preconditions(old, options)
        new = stored.document()
        meta = new["metadata"]
        _add_finalizers(meta, options.propagation)
        grace = self._grace(self._kinds.of(resource), new, options)
        if "deletionTimestamp" not in meta:
            meta["deletionTimestamp"] = to_rfc3339(self._now() + grace)
            if "generation" in meta:
                meta["generation"] += 1
            meta["deletionGracePeriodSeconds"] = grace
        elif grace < meta.get("deletionGracePeriodSeconds", 0):
            meta["deletionTimestamp"] = to_rfc3339(self._now() + grace)
            meta["deletionGracePeriodSeconds"] = grace
        if _ends_at_once(new) and not options.dry_run:
            self._store.remove(resource.name, key)
            return
        self._writes.finish(resource, old, new, dry_run=options.dry_run)

    def _grace(self, kind: Kind, document: Json, options: DeleteOptions) -> int:
        if not kind.graceful or not document.get("spec", {}).get("nodeName"):
            return 0  # nothing runs anywhere, so nobody has to be waited for
        if document.get("status", {}).get("phase") in {"Succeeded", "Failed"}:
            return 0
        if options.grace_seconds is not None:
            return max(0, options.grace_seconds)
        grace: int = document["spec"].get("terminationGracePeriodSeconds", _GRACE)
        return grace


def _check_preconditions(document: Json, options: DeleteOptions) -> None:
    meta = document["metadata"]
    if options.uid and options.uid != meta["uid"]:
        raise Conflict(
            f"Precondition failed: UID in precondition: {options.uid}, UID in object meta: {meta['uid']}"
        )
    if options.resource_version and options.resource_version != meta["resourceVersion"]:
        raise Conflict(
            f"Precondition failed: ResourceVersion in precondition: {options.resource_version},"
            f" ResourceVersion in object meta: {meta['resourceVersion']}"
        )


def _add_finalizers(meta: Json, propagation: Propagation) -> None:
    others = [f for f in meta.get("finalizers") or [] if f not in {FOREGROUND, ORPHAN}]
    match propagation:
        case Propagation.FOREGROUND:
            others.append(FOREGROUND)
        case Propagation.ORPHAN:
            others.append(ORPHAN)
        case Propagation.BACKGROUND:
            pass
    if others:
        meta["finalizers"] = others
    else:
        meta.pop("finalizers", None)


def _ends_at_once(document: Json) -> bool:
    meta = document["metadata"]
    return not meta.get("finalizers") and not meta.get("deletionGracePeriodSeconds")
