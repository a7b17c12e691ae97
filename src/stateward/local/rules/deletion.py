"""Deletion: preconditions, finalizers, grace, and what becomes of what the deleted one owned.

Deleting an object is asking for its end. It ends when no finalizer holds it and, for a pod on a
node, when the node has reported that it stopped. The garbage collector (``collector.py``) does the
rest, later, on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stateward.core.moments import from_rfc3339, to_rfc3339
from stateward.kube.client import Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES, Resource
from stateward.local.kinds import Kinds
from stateward.local.rules import metadata
from stateward.local.rules.admission import Admission, Anything
from stateward.local.rules.writes import Writes, held
from stateward.local.store import Store, Stored, rehearsed

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"

#: Seconds a pod gets to end when nobody says otherwise.
_GRACE = 30
_GRACE_FIELD = "terminationGracePeriodSeconds"
_FINISHED = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """What a deletion insists on."""

    uid: str = ""
    resource_version: str = ""
    #: None: as the object's own finalizers say.
    propagation: Propagation | None = Propagation.BACKGROUND
    grace_seconds: int | None = None
    dry_run: bool = False

    @property
    def seconds(self) -> int | None:
        """The grace to give, if somebody said so; a negative one counts as a second."""
        if self.grace_seconds is None:
            return None
        return min(self.grace_seconds, metadata.LONGEST_GRACE) if self.grace_seconds >= 0 else 1


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of an object whose end was asked for: as it is, or as it was at last."""

    stored: Stored
    gone: bool


class Deletion:
    """The verb that ends objects."""

    def __init__(
        self,
        store: Store,
        kinds: Kinds,
        writes: Writes,
        *,
        now: Callable[[], float],
        admission: Admission | None = None,
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._admission = admission or Anything()
        self._writes = writes
        self._now = now

    def delete(self, resource: Resource[Any], key: ObjectKey, options: DeleteOptions) -> Ended:
        """Ask for the end of exactly the object that the options mean."""
        stored = self._writes.existing(resource, key)
        old, new = stored.document(), stored.document()
        check_preconditions(resource, old, options)
        kind = self._kinds.of(resource)
        self._admission.check_deletion(kind, old)
        meta = new["metadata"]
        if kind.graceful and meta.get("deletionGracePeriodSeconds") and not _shorten(meta, options):
            return Ended(stored, gone=False)  # its end is near, and nobody asked for a nearer one
        _set_finalizers(meta, options.propagation)
        if kind.graceful:
            self._begin_to_end(meta, _grace_of(new, options))
        elif held(resource, new):
            self._begin_to_end(meta, 0)
        if resource.name == NAMESPACES.name and "deletionTimestamp" in meta:
            new.setdefault("status", {})["phase"] = "Terminating"
            meta.pop("deletionGracePeriodSeconds", None)  # only time is said of a namespace
        return self._end(resource, old, new, dry_run=options.dry_run)

    def _end(self, resource: Resource[Any], old: Json, new: Json, *, dry_run: bool) -> Ended:
        meta = new["metadata"]
        stays = held(resource, new) or bool(meta.get("deletionGracePeriodSeconds"))
        if dry_run:
            return Ended(rehearsed(new), gone=not stays)
        if not metadata.says_the_same(old, new):
            self._store.put(resource.name, new)
        key = ObjectKey(meta.get("namespace", ""), meta["name"])
        last = self._writes.existing(resource, key)
        if not stays:
            self._store.remove(resource.name, key)
        return Ended(last, gone=not stays)

    def _begin_to_end(self, meta: Json, grace: int) -> None:
        if "deletionTimestamp" in meta:
            return
        meta["deletionTimestamp"] = to_rfc3339(self._now() + grace)
        meta["deletionGracePeriodSeconds"] = grace
        if "generation" in meta:
            meta["generation"] += 1


def check_preconditions(resource: Resource[Any], document: Json, options: DeleteOptions) -> None:
    """Raise Conflict when the object is not the one, or not the version, that was meant."""
    meta = document["metadata"]
    for name, meant, found, perhaps in (
        ("UID", options.uid, meta["uid"], "deleted and then recreated"),
        ("ResourceVersion", options.resource_version, meta["resourceVersion"], "modified"),
    ):
        if meant and meant != found:
            kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
            raise Conflict(
                f'Operation cannot be fulfilled on {kind} "{meta["name"]}": the {name} in the'
                f" precondition ({meant}) does not match the {name} in record ({found})."
                f" The object might have been {perhaps}"
            )


def _grace_of(pod: Json, options: DeleteOptions) -> int:
    spec = pod.get("spec") or {}
    if not spec.get("nodeName") or (pod.get("status") or {}).get("phase") in _FINISHED:
        return 0  # nothing runs anywhere, so nobody has to be waited for
    if options.seconds is not None:
        return options.seconds
    wanted: int = _GRACE if (said := spec.get(_GRACE_FIELD)) is None else said
    return max(wanted, 1) if wanted < 0 else wanted


def _shorten(meta: Json, options: DeleteOptions) -> bool:
    """Bring the end of a leaving object nearer, counted from when it began, if asked to."""
    granted = meta["deletionGracePeriodSeconds"]
    if options.seconds is None or options.seconds >= granted:
        return False
    began = from_rfc3339(meta["deletionTimestamp"]) - granted
    meta["deletionTimestamp"] = to_rfc3339(began + options.seconds)
    meta["deletionGracePeriodSeconds"] = options.seconds
    return True


def _set_finalizers(meta: Json, propagation: Propagation | None) -> None:
    if propagation is None:
        return
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
