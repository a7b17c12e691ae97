"""Words to write truths with: minimal objects of kinds that exist everywhere, and what a watcher was told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from types import FunctionType
from typing import Any

from contract.backends import PATIENCE, Kube
from contract.widgets import WIDGETS
from stateward.kube.client import Change, Selection, WatchEvent
from stateward.kube.codec import Json
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    LEASES,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)


# ------------------------------------------------------------------ objects
class WholeMeta(ObjectMeta):
    generate_name: str = ""
    deletion_grace_period_seconds: int | None = None
    managed_fields: tuple[dict[str, Any], ...] = ()


class Whole(Object):
    """An object with everything that a truth may want to look at."""

    metadata: WholeMeta = WholeMeta()
    data: dict[str, Any] = {}
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


def whole(resource: Resource[Any]) -> Resource[Whole]:
    """Return the same resource, read whole."""
    return replace(resource, type=Whole)


def config_map(kube: Kube, name: str, data: Json | None = None, **metadata: Any) -> Json:
    return _document(kube, name, metadata, data=data)


def secret(kube: Kube, name: str, **metadata: Any) -> Json:
    return _document(kube, name, metadata, data={"password": "c2VzYW1l"})


def lease(kube: Kube, name: str, holder: str = "a", **metadata: Any) -> Json:
    return _document(kube, name, metadata, spec={"holderIdentity": holder})


def service(kube: Kube, name: str, *ports: Json, **metadata: Any) -> Json:
    some = list(ports) or [{"port": 80}]
    return _document(kube, name, metadata, spec={"clusterIP": "None", "ports": some})


def pod(kube: Kube, name: str, *, node: str = "", **metadata: Any) -> Json:
    """Return a pod that nobody schedules, or one that is on a node which does not exist."""
    spec: Json = {
        "schedulerName": "nobody",
        "automountServiceAccountToken": False,  # else a cluster adds volumes of its own
        "containers": [{"name": "main", "image": "none"}],
    }
    return _document(kube, name, metadata, spec=spec | ({"nodeName": node} if node else {}))


def stateful_set(kube: Kube, name: str, *containers: Json, **metadata: Any) -> Json:
    return _document(kube, name, metadata, spec=_team(name, containers) | {"serviceName": name})


def deployment(kube: Kube, name: str, *containers: Json, **metadata: Any) -> Json:
    return _document(kube, name, metadata, spec=_team(name, containers))


def budget(kube: Kube, name: str, labels: Json, least: int = 1, **metadata: Any) -> Json:
    spec = {"minAvailable": least, "selector": {"matchLabels": labels}}
    return _document(kube, name, metadata, spec=spec)


def volume_claim(kube: Kube, name: str, **metadata: Any) -> Json:
    """Return a claim that nobody provides for."""
    spec = {
        "storageClassName": "nobody",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return _document(kube, name, metadata, spec=spec)


def job(kube: Kube, name: str, **metadata: Any) -> Json:
    """Return a job that does not begin."""
    work = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
    return _document(kube, name, metadata, spec={"suspend": True, "template": {"spec": work}})


def widget(kube: Kube, name: str, spec: Json | None = None, **metadata: Any) -> Json:
    return _document(kube, name, metadata, spec=spec)


def _document(kube: Kube, name: str, metadata: Json, **parts: Json | None) -> Json:
    where = {"namespace": kube.namespace, "name": name}
    return {"metadata": where | metadata, **{k: v for k, v in parts.items() if v is not None}}


def _team(name: str, containers: tuple[Json, ...]) -> Json:
    """Return what is the same in all kinds that look after pods; there are none, so nobody changes its status."""
    some = list(containers) or [{"name": "main", "image": "none"}]
    labels = {"app": name}
    return {
        "replicas": 0,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": some}},
    }


#: How to write one of each kind.
KINDS: dict[str, tuple[Resource[Any], Callable[[Kube, str], Json]]] = {
    "ConfigMap": (CONFIG_MAPS, config_map),
    "Secret": (SECRETS, secret),
    "Service": (SERVICES, service),
    "Lease": (LEASES, lease),
    "Pod": (PODS, pod),
    "StatefulSet": (STATEFUL_SETS, stateful_set),
    "Deployment": (DEPLOYMENTS, deployment),
    "PodDisruptionBudget": (DISRUPTION_BUDGETS, lambda kube, name: budget(kube, name, {"a": "b"})),
    "Widget": (WIDGETS, lambda kube, name: widget(kube, name, {"size": 1})),
}


def shown(value: object) -> str:
    """Write a case of a table the same way in every process."""
    return value.__name__ if isinstance(value, type | FunctionType) else str(value)


def key(kube: Kube, name: str) -> ObjectKey:
    return ObjectKey(kube.namespace, name)


def owner(of: Object, resource: Resource[Any], **more: bool) -> Json:
    """Return the reference that makes an object somebody's."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": of.metadata.name,
        "uid": of.metadata.uid,
        **more,
    }


async def names(kube: Kube, resource: Resource[Any] = CONFIG_MAPS, **selectors: str) -> list[str]:
    """Return the names of what is selected, in the order of the list; the cluster's own objects left out."""
    found = await kube.client.list(resource, Selection(kube.namespace, **selectors))
    return [o.metadata.name for o in found.items if o.metadata.name != "kube-root-ca.crt"]


# ------------------------------------------------------------------ watches
async def revision(kube: Kube, resource: Resource[Any] = CONFIG_MAPS) -> str:
    """Return a revision from which a watch sees all that comes."""
    return (await kube.client.list(resource, Selection(kube.namespace))).revision


async def told(
    kube: Kube,
    since: str,
    *,
    last: str,
    resource: Resource[Any] = CONFIG_MAPS,
    **selectors: str,
) -> list[WatchEvent[Any]]:
    """Return what a watcher is told since a revision, up to the end of the object ``last``, which is not told."""
    chosen = Selection(kube.namespace, **selectors)
    events: list[WatchEvent[Any]] = []
    async with (
        asyncio.timeout(PATIENCE),
        aclosing(kube.client.watch(resource, chosen, since=since)) as stream,
    ):
        async for event in stream:
            name = event.object.metadata.name
            if name == last and event.change is Change.DELETED:
                break
            if name != last and event.change is not Change.BOOKMARK:
                events.append(event)
    return events


def picture(events: list[WatchEvent[Any]]) -> list[str]:
    """Write events as a picture: ``ADDED a``."""
    return [f"{event.change.value} {event.object.metadata.name}" for event in events]
