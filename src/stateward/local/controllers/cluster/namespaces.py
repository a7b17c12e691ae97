"""Namespaces: what is in a new one from the start, and how a leaving one is emptied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import structlog

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import MergePatch, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, MethodNotAllowed, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import CONFIG_MAPS, NAMESPACES, Resource
from stateward.local.catalog import SERVICE_ACCOUNTS
from stateward.local.conditions import condition, with_condition
from stateward.local.controllers.desk import Desk
from stateward.local.documents import Document, loosely
from stateward.runtime.triggers import itself

#: Says what is served now.
Resources = Callable[[], Iterable[Resource[Any]]]

#: What holds a namespace until it is empty.
HOLD: Final = "kubernetes"
ROOT_CA: Final = "kube-root-ca.crt"
#: Seconds between two looks at a namespace that is not empty yet: most of it sends no events here.
_AGAIN = 0.5

_NAMESPACES = loosely(NAMESPACES)
_ACCOUNTS = loosely(SERVICE_ACCOUNTS)


class _Left(NamedTuple):
    """What is in a leaving namespace: how many of each resource, and who holds how many."""

    instances: Counter[str]
    finalizers: Counter[str]


class Namespaces:
    """Furnishes namespaces and empties them."""

    def __init__(self, desk: Desk, resources: Resources, ca: str) -> None:
        self._desk = desk
        self._resources = resources
        self._ca = ca
        self._log = structlog.get_logger("namespaces")

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Bring one namespace closer to what it should hold: its furniture, or nothing."""
        namespace = self._desk.cache(NAMESPACES).get(key)
        if namespace is None:
            return DONE
        if not namespace.metadata.deleting:
            await self._furnish(key.name)
            return DONE
        held = namespace.spec.get("finalizers") or []
        if HOLD not in held:
            return DONE
        left = await self._empty(key.name)
        namespace = await self._tell(namespace, left)
        if left.instances:
            return Retry(_AGAIN, "NotEmpty", f"{left.instances.total()} objects are left")
        await self._finalize(namespace, [it for it in held if it != HOLD])
        return DONE

    async def _furnish(self, name: str) -> None:
        there = ObjectKey(name, "default") in self._desk.cache(SERVICE_ACCOUNTS)
        if not there:
            await self._create(_ACCOUNTS, {"metadata": {"namespace": name, "name": "default"}})
        if self._ca:
            meta = {"namespace": name, "name": ROOT_CA}
            body = {"metadata": meta, "data": {"ca.crt": self._ca}}
            try:
                await self._desk.client.get(CONFIG_MAPS, ObjectKey(name, ROOT_CA))
            except NotFound:
                await self._create(CONFIG_MAPS, body)

    async def _create(self, resource: Resource[Any], body: Json) -> None:
        try:
            await self._desk.client.create(resource, body)
        except AlreadyExists:
            return

    async def _empty(self, name: str) -> _Left:
        """Ask for the end of all that is in a namespace; return what is left then."""
        left = _Left(Counter(), Counter())
        for resource in self._resources():
            if resource.namespaced:
                await self._clear(loosely(resource), name, left)
        return left

    async def _clear(self, resource: Resource[Document], namespace: str, left: _Left) -> None:
        going = await self._found(resource, namespace)
        for meta in going:
            if meta.deleting:
                continue
            try:
                await self._desk.client.delete(resource, meta.key, uid=meta.uid)
            except PeerError as error:
                # Gone by itself, or held by somebody: the others go, and the next look tells.
                self._log.info("could not delete", object=str(meta.key), error=str(error))
        # Most are gone at once; who is told of them would wait for nothing.
        if held := await self._found(resource, namespace) if going else []:
            left.instances[f"{resource.plural}.{resource.group}"] = len(held)
            left.finalizers.update(name for meta in held for name in meta.finalizers)

    async def _found(self, resource: Resource[Document], namespace: str) -> list[ObjectMeta]:
        try:
            found = await self._desk.client.list(resource, Selection(namespace=namespace))
        except (NotFound, MethodNotAllowed):
            return []  # a kind that is served no more, or one that cannot be listed
        return [*(it.metadata for it in found.items), *(it.metadata for it in found.malformed)]

    async def _tell(self, namespace: Document, left: _Left) -> Document:
        """Say how far the emptying has come; return the namespace as it is then."""
        old = namespace.status
        conditions = old.get("conditions") or []
        for said in _conditions(left):
            conditions = with_condition(conditions, said, self._desk.ports.clock.now())
        status = {"phase": "Terminating", "conditions": conditions}
        if {name: old.get(name) for name in status} == status:
            return namespace
        patch = MergePatch({"status": status})
        key = namespace.metadata.key
        return await self._desk.client.patch(_NAMESPACES, key, patch, subresource="status")

    async def _finalize(self, namespace: Document, finalizers: list[str]) -> None:
        meta = namespace.metadata
        body = {
            "metadata": {"name": meta.name, "resourceVersion": meta.resource_version},
            "spec": {"finalizers": finalizers},
        }
        await self._desk.client.update(_NAMESPACES, body, subresource="finalize")


def employ(desk: Desk, resources: Resources, *, ca: str = "") -> None:
    """Have new namespaces furnished and leaving ones emptied."""
    namespaces = Namespaces(desk, resources, ca)
    desk.add(
        "namespaces",
        namespaces,
        ((NAMESPACES, itself), (SERVICE_ACCOUNTS, _its_namespace)),
    )


def _conditions(left: _Left) -> Iterator[Json]:
    """Yield how far the emptying has come, in the words of Kubernetes."""
    prefix = "NamespaceDeletion"
    found = "All resources successfully discovered"
    yield condition(f"{prefix}DiscoveryFailure", "False", "ResourcesDiscovered", found)
    read = "All legacy kube types successfully parsed"
    yield condition(f"{prefix}GroupVersionParsingFailure", "False", "ParsedGroupVersions", read)
    asked = "All content successfully deleted, may be waiting on finalization"
    yield condition(f"{prefix}ContentFailure", "False", "ContentDeleted", asked)
    yield _remaining(
        "NamespaceContentRemaining",
        left.instances,
        ("SomeResourcesRemain", "Some resources are remaining", "has"),
        ("ContentRemoved", "All content successfully removed"),
    )
    yield _remaining(
        "NamespaceFinalizersRemaining",
        left.finalizers,
        ("SomeFinalizersRemain", "Some content in the namespace has finalizers remaining", "in"),
        ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    )


def _remaining(
    kind: str, left: Counter[str], some: tuple[str, str, str], none: tuple[str, str]
) -> Json:
    if not left:
        return condition(kind, "False", *none)
    reason, text, word = some
    shown = ", ".join(
        f"{it} {word} {count} resource instances" for it, count in sorted(left.items())
    )
    return condition(kind, "True", reason, f"{text}: {shown}")


def _its_namespace(account: Any) -> Iterable[ObjectKey]:
    yield ObjectKey("", account.metadata.namespace)
