"""Custom kinds come and go with their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import structlog

from stateward.kube.codec import Json
from stateward.kube.errors import Forbidden
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, Resource
from stateward.local.kinds import Kind, Kinds
from stateward.local.rules.deletion import DeleteOptions, Deletion, check_preconditions
from stateward.local.rules.writes import Author, Writes
from stateward.local.schema.custom.definitions import (
    CLEANUP,
    is_established,
    kinds_of,
    leaving_status,
    settled_status,
)
from stateward.local.store import Store

_log = structlog.get_logger(__name__)

_SELF: Final = Author("kube-apiserver")


class Definitions:
    """Keeps the kinds that are served in step with the definitions in the store."""

    def __init__(
        self,
        store: Store,
        kinds: Kinds,
        writes: Writes,
        deletion: Deletion,
        *,
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._writes = writes
        self._deletion = deletion
        self._now = now
        self._leaving: set[str] = set()

    def settle_all(self) -> None:
        """Serve what the store knows."""
        for stored in self._store.all(CUSTOM_RESOURCES.name):
            self._settle_if_possible(stored.key)

    def settle_after(self, resource: Resource[Any], key: ObjectKey) -> None:
        """Do what a write means for the kinds that are served."""
        if resource.name == CUSTOM_RESOURCES.name:
            self._settle_if_possible(key)
        elif self._leaving:
            kind = self._kinds.at(resource.group, resource.version, resource.plural)
            if kind is not None and kind.definition in self._leaving:
                self._settle_if_possible(ObjectKey("", kind.definition))

    def check_creation(self, resource: Resource[Any]) -> None:
        """Raise Forbidden when the definition of a kind is on its way out."""
        if self._leaving and self._kinds.of(resource).definition in self._leaving:
            raise Forbidden(
                f"{resource} is forbidden: create not allowed while custom resource definition is"
                " terminating"
            )

    def begin_to_end(self, key: ObjectKey, options: DeleteOptions) -> None:
        """Hold a definition that is about to be deleted until its objects are gone."""
        stored = self._writes.existing(CUSTOM_RESOURCES, key)
        old, new = stored.document(), stored.document()
        check_preconditions(CUSTOM_RESOURCES, old, options)
        finalizers = new["metadata"].setdefault("finalizers", [])
        if "deletionTimestamp" not in new["metadata"] and CLEANUP not in finalizers:
            finalizers.append(CLEANUP)
            new["status"] = leaving_status(new, self._now())
            self._writes.finish(CUSTOM_RESOURCES, old, new, dry_run=False)

    def _settle_if_possible(self, key: ObjectKey) -> None:
        """Settle a definition; one that makes no sense is not served, and disturbs nothing else.

        It is stored already, by this write or by one of an older release, so nobody can be told.
        """
        try:
            self._settle(key)
        except Exception:  # noqa: BLE001 - whatever it is, the others must be served
            _log.exception("a definition cannot be served", definition=key.name)

    def _settle(self, key: ObjectKey) -> None:
        stored = self._store.get(CUSTOM_RESOURCES.name, key)
        if stored is None:
            self._forget(key.name)
            return
        document = stored.document()
        if "deletionTimestamp" in document["metadata"]:
            self._leaving.add(key.name)
            self._serve(key.name, kinds_of(document) if is_established(document) else ())
            self._empty(key, document)
            return
        all_of_them = self._store.all(CUSTOM_RESOURCES.name)
        others = (one.document() for one in all_of_them if one.key != key)
        status = settled_status(document, others, self._now())
        if status != document.get("status"):
            document["status"] = status
            self._writes.update(CUSTOM_RESOURCES, key, document, _SELF, subresource="status")
        self._serve(key.name, kinds_of(document) if is_established(document) else ())

    def _serve(self, definition: str, kinds: tuple[Kind, ...]) -> None:
        served = {kind.resource.version for kind in kinds}
        for kind in self._kinds:
            if kind.definition == definition and kind.resource.version not in served:
                self._kinds.remove(kind)
        for kind in kinds:
            mine = kind.resource
            there = self._kinds.at(mine.group, mine.version, mine.plural)
            if there is None or not there.built_in:
                self._kinds.add(kind)

    def _empty(self, key: ObjectKey, document: Json) -> None:
        """Delete what is left of a kind; let its definition go when nothing is."""
        mine = next((kind for kind in self._kinds if kind.definition == key.name), None)
        if mine is not None:
            for stored in self._store.all(mine.resource.name):
                if b'"deletionTimestamp"' not in stored.text:
                    self._deletion.delete(mine.resource, stored.key, DeleteOptions())
            if self._store.all(mine.resource.name):
                return
        left = [name for name in document["metadata"].get("finalizers") or () if name != CLEANUP]
        new = {**document, "metadata": {**document["metadata"], "finalizers": left}}
        if not left:
            del new["metadata"]["finalizers"]
        self._writes.finish(CUSTOM_RESOURCES, document, new, dry_run=False)
        if self._store.get(CUSTOM_RESOURCES.name, key) is None:
            self._forget(key.name)

    def _forget(self, definition: str) -> None:
        """Serve a kind no more; somebody may have waited for its names."""
        self._serve(definition, ())
        self._leaving.discard(definition)
        for stored in self._store.all(CUSTOM_RESOURCES.name):
            if not is_established(stored.document()):
                self._settle_if_possible(stored.key)
