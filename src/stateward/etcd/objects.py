"""Kubernetes' objects as this operator reads them: whole, where it compares them with its own."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.workloads import StatefulSetStatus
from stateward.kube.resources import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)

T = TypeVar("T", bound=Object)


class Getter(Protocol):
    """The one call that is needed to look past a cache."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now."""


class Whole(Object):
    """An object with all of its spec and data."""

    spec: dict[str, Any] = {}
    data: dict[str, Any] = {}


class Workload(Object):
    """A StatefulSet with all of its spec."""

    spec: dict[str, Any] = {}
    status: StatefulSetStatus = StatefulSetStatus()


def _whole(resource: Resource[Any]) -> Resource[Whole]:
    return Resource(
        resource.group,
        resource.version,
        resource.kind,
        resource.plural,
        Whole,
        has_status=resource.has_status,
    )


WHOLE_CONFIG_MAPS = _whole(CONFIG_MAPS)
WHOLE_SERVICES = _whole(SERVICES)
WHOLE_BUDGETS = _whole(DISRUPTION_BUDGETS)
WORKLOADS: Resource[Workload] = Resource(
    STATEFUL_SETS.group,
    STATEFUL_SETS.version,
    STATEFUL_SETS.kind,
    STATEFUL_SETS.plural,
    Workload,
    has_status=True,
)
