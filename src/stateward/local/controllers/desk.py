"""What the controllers of one cluster share: a client, one informer per resource, one recorder.

A controller is a reconciler and the resources whose changes wake it; the desk plugs it together
with the same parts that our operators run on. Everything goes through the client port, so the same
controllers run in memory under virtual time and over HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Protocol

from stateward.core.ports import Ports
from stateward.kube.client import Client
from stateward.kube.interception import InterceptedClient
from stateward.kube.resources import (
    CRON_JOBS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    JOBS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.local.catalog import (
    CONTROLLER_REVISIONS,
    ENDPOINT_SLICES,
    REPLICA_SETS,
    SERVICE_ACCOUNTS,
    STORAGE_CLASSES,
    VOLUMES,
)
from stateward.local.documents import Document, loosely
from stateward.runtime.cache import Cache, Index, by_owner
from stateward.runtime.controller import Controller, Habits, Reconciler, Source
from stateward.runtime.informer import Informer
from stateward.runtime.queue import WorkQueue
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import EventType, ObjectReference, Recorder
from stateward.runtime.tracking import Tracking
from stateward.runtime.triggers import Trigger

#: What the controllers of a cluster look at.
WATCHED: tuple[Resource[Any], ...] = (
    *(PODS, NODES, NAMESPACES, SERVICES, VOLUME_CLAIMS, VOLUMES, STORAGE_CLASSES),
    *(STATEFUL_SETS, DEPLOYMENTS, REPLICA_SETS, CONTROLLER_REVISIONS, JOBS, CRON_JOBS),
    *(DISRUPTION_BUDGETS, LEASES, ENDPOINT_SLICES, SERVICE_ACCOUNTS),
)


def _by_node() -> Index[Document]:
    return Index("node", lambda it: (node,) if (node := it.spec.get("nodeName")) else ())


def _by_lack_of_a_controller() -> Index[Document]:
    """File what nobody controls under its namespace: who selects it may adopt it."""
    return Index(
        "orphans",
        lambda it: (it.metadata.namespace,) if it.metadata.controller is None else (),
        by_metadata=True,
    )


def indexes_of(resource: Resource[Any]) -> tuple[Index[Document], ...]:
    """Return how the controllers find objects of a resource."""
    if resource is PODS:
        return by_owner(), _by_lack_of_a_controller(), _by_node()
    return by_owner(), _by_lack_of_a_controller()


class Told(Protocol):
    """Who hears what controllers have to say."""

    async def tell(
        self, about: ObjectReference, kind: EventType, reason: str, message: str
    ) -> None:
        """Tell an event."""


class Workplace(Protocol):
    """What a controller needs of the desk that it works at."""

    ports: Ports
    client: Client

    @property
    def recorder(self) -> Told:
        """Who hears what it has to say."""

    def cache(self, resource: Resource[Any]) -> Cache[Document]:
        """Return the objects of a resource as last seen."""

    def add(
        self,
        name: str,
        reconciler: Reconciler,
        sources: Iterable[tuple[Resource[Any], Trigger]],
        habits: Habits | None = None,
    ) -> None:
        """Employ a controller."""


class Desk:
    """The parts that all controllers of a cluster use."""

    def __init__(
        self,
        client: Client,
        ports: Ports,
        metrics: Metrics,
        watched: Iterable[Resource[Any]] = WATCHED,
    ) -> None:
        self.ports = ports
        self._metrics = metrics
        self._informers: dict[str, Informer[Document]] = {
            it.name: Informer(
                client,
                loosely(it),
                ports=ports.stream(it.name),
                meter=metrics.informer(it.name),
                indexes=indexes_of(it),
            )
            for it in watched
        }
        #: Writes through it are noted: nobody plans before the caches show them.
        self.client: Client = InterceptedClient(client, Tracking(self._informers.values()))
        self.recorder = Recorder(client, ports.clock, "stateward-local", metrics.events())
        self._controllers: list[Controller] = []

    def informer(self, resource: Resource[Any]) -> Informer[Document]:
        """Return the informer of a resource that the controllers look at."""
        return self._informers[resource.name]

    def cache(self, resource: Resource[Any]) -> Cache[Document]:
        """Return the objects of a resource as last seen."""
        return self._informers[resource.name].cache

    def add(
        self,
        name: str,
        reconciler: Reconciler,
        sources: Iterable[tuple[Resource[Any], Trigger]],
        habits: Habits | None = None,
    ) -> None:
        """Employ a controller."""
        self._controllers.append(
            Controller(
                name,
                reconciler,
                queue=WorkQueue(self.ports.stream(f"queue {name}"), self._metrics.queue(name)),
                sources=tuple(Source(self.informer(it), trigger) for it, trigger in sources),
                client=self.client,
                ports=self.ports.stream(name),
                meter=self._metrics.controller(name),
                habits=habits,
            )
        )

    @property
    def idle(self) -> bool:
        """True when no controller has anything in line or in work."""
        return all(controller.idle for controller in self._controllers)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self._informers.values():
                group.create_task(informer.run())
            for controller in self._controllers:
                group.create_task(controller.run())
