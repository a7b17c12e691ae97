"""Which objects a change wakes up: functions from an object to the keys that want a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource

#: From an object to the keys of whoever cares.
Trigger: TypeAlias = Callable[[Any], Iterable[ObjectKey]]


def itself(item: Object) -> Iterable[ObjectKey]:
    """Wake the object itself."""
    yield item.metadata.key


def owner(resource: Resource[Any]) -> Trigger:
    """Wake the controlling owner, if it is of the given kind (in whatever version of its group)."""

    def wake_owner(item: Object) -> Iterable[ObjectKey]:
        controller = item.metadata.controller
        if (
            controller is not None
            and controller.kind == resource.kind
            and _group(controller.api_version) == resource.group
        ):
            namespace = item.metadata.namespace if resource.namespaced else ""
            yield ObjectKey(namespace, controller.name)

    return wake_owner


def label(name: str) -> Trigger:
    """Wake the object that a label names, in the same namespace."""

    def wake_labelled(item: Object) -> Iterable[ObjectKey]:
        if value := item.metadata.labels.get(name):
            yield ObjectKey(item.metadata.namespace, value)

    return wake_labelled


def _group(api_version: str) -> str:
    group, _, _ = api_version.rpartition("/")
    return group
