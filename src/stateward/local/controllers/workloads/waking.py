"""Whom a change wakes among workloads: owners of owners, and whoever may adopt an orphan."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource
from stateward.local.controllers.desk import Workplace
from stateward.local.controllers.workloads.pods import selector_of
from stateward.local.documents import Document
from stateward.runtime import triggers
from stateward.runtime.triggers import Trigger


def owner_or_adopter(desk: Workplace, resource: Resource[Any]) -> Trigger:
    """Wake the controlling owner; of an orphan, everybody who selects it."""
    cache = desk.cache(resource)
    wake_owner = triggers.owner(resource)

    def wake(item: Object) -> Iterable[ObjectKey]:
        yield from wake_owner(item)
        if item.metadata.controller is None:
            yield from (it.metadata.key for it in cache if _selects(it, item))

    return wake


def owner_of_owner(desk: Workplace, between: Resource[Any], resource: Resource[Any]) -> Trigger:
    """Wake the owner of the controlling owner, as last seen."""
    cache = desk.cache(between)
    wake_between, wake_owner = triggers.owner(between), triggers.owner(resource)

    def wake(item: Object) -> Iterable[ObjectKey]:
        for key in wake_between(item):
            if (owner := cache.peek(key)) is not None:
                yield from wake_owner(owner)

    return wake


def _selects(candidate: Document, item: Object) -> bool:
    if candidate.metadata.namespace != item.metadata.namespace:
        return False
    with suppress(Exception):  # what cannot be read selects nobody, and hides nobody else
        return selector_of(candidate.spec).matches(item.metadata.labels)
    return False
