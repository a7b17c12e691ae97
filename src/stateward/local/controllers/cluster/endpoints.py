"""Endpoint slices: which pods stand behind a service, and whether they can be asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

import msgspec

from stateward.core.outcome import DONE, Outcome
from stateward.kube.codec import Json
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import NODES, PODS, SERVICES
from stateward.local.catalog import ENDPOINT_SLICES
from stateward.local.controllers.desk import Desk
from stateward.local.documents import Document, EndpointSlice, loosely
from stateward.runtime.triggers import itself, owner

SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
MANAGER: Final = "endpointslice-controller.k8s.io"
#: Endpoints that one slice holds.
LIMIT: Final = 100

_ZONE = "topology.kubernetes.io/zone"
_FINISHED = {"Succeeded", "Failed"}
_SLICES = loosely(ENDPOINT_SLICES)


def slices_of(
    service: Document, pods: Iterable[Document], zones: Mapping[str, str]
) -> dict[str, Json]:
    """Return the slices that a service should have, by name.

    Pods whose ports have other numbers are in slices of their own.
    """
    groups: dict[str, tuple[list[Json], list[Json]]] = {}
    for pod in pods:
        spec, status = pod.spec, pod.status
        if not status.get("podIP") or status.get("phase") in _FINISHED:
            continue
        ports = list(_ports(service.spec, spec))
        shown = msgspec.json.encode(ports).decode()
        endpoint = _endpoint(service, pod, spec, status, zones)
        groups.setdefault(shown, (ports, []))[1].append(endpoint)
    if not groups:
        groups[""] = ([], [])
    return {
        slice_["metadata"]["name"]: slice_
        for shown, (ports, endpoints) in sorted(groups.items())
        for slice_ in _cut(service, shown, ports, endpoints)
    }


def _cut(service: Document, shown: str, ports: list[Json], all_: list[Json]) -> Iterator[Json]:
    for start in range(0, max(len(all_), 1), LIMIT):
        some = all_[start : start + LIMIT]
        family = "IPv6" if some and ":" in some[0]["addresses"][0] else "IPv4"
        digest = hashlib.sha256(f"{shown}|{start}".encode()).hexdigest()[:5]
        yield {
            "metadata": _slice_metadata(service, f"{service.metadata.name}-{digest}"),
            "addressType": family,
            "endpoints": some,
            "ports": ports,
        }


def _slice_metadata(service: Document, name: str) -> Json:
    meta = service.metadata
    labels = {**meta.labels, SERVICE_NAME: meta.name, MANAGED_BY: MANAGER}
    if service.spec.get("clusterIP") == "None":
        labels["service.kubernetes.io/headless"] = ""
    reference = {
        "apiVersion": "v1",
        "kind": "Service",
        "name": meta.name,
        "uid": meta.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "namespace": meta.namespace,
        "name": name,
        "labels": labels,
        "ownerReferences": [reference],
    }


def _endpoint(
    service: Document, pod: Document, spec: Json, status: Json, zones: Mapping[str, str]
) -> Json:
    conditions = status.get("conditions") or ()
    leaving = pod.metadata.deleting
    wanted = bool(service.spec.get("publishNotReadyAddresses"))
    serves = wanted or any(it["type"] == "Ready" and it["status"] == "True" for it in conditions)
    node = spec.get("nodeName") or ""
    found: Json = {
        "addresses": [status["podIP"]],
        "conditions": {
            "ready": serves and (wanted or not leaving),
            "serving": serves,
            "terminating": leaving,
        },
        "targetRef": {
            "kind": "Pod",
            "namespace": pod.metadata.namespace,
            "name": pod.metadata.name,
            "uid": pod.metadata.uid,
        },
    }
    named = spec.get("hostname") if spec.get("subdomain") == service.metadata.name else None
    optional = {"nodeName": node, "zone": zones.get(node), "hostname": named}
    return found | {name: value for name, value in optional.items() if value}


def _ports(service: Json, pod: Json) -> Iterator[Json]:
    """Yield the ports of a service with the numbers that they have in a pod."""
    for port in service.get("ports") or ():
        protocol = port.get("protocol") or "TCP"
        number = _number(port.get("targetPort") or port["port"], protocol, pod)
        if number is not None:
            more = {"appProtocol": port["appProtocol"]} if port.get("appProtocol") else {}
            yield {"name": port.get("name") or "", "port": number, "protocol": protocol, **more}


def _number(target: int | str, protocol: str, pod: Json) -> int | None:
    if isinstance(target, int):
        return target
    declared = (
        port for container in pod.get("containers") or () for port in container.get("ports") or ()
    )
    for port in declared:
        if port.get("name") == target and (port.get("protocol") or "TCP") == protocol:
            number: int = port["containerPort"]
            return number
    return None


class Endpoints:
    """Keeps the slices of services."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def behind(self, pod: Object) -> Iterable[ObjectKey]:
        """Wake the services that select a pod."""
        for service in self._desk.cache(SERVICES):
            meta = service.metadata
            if meta.namespace == pod.metadata.namespace and _selects(service, pod):
                yield meta.key

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Make the slices of a service say who stands behind it now."""
        service = self._desk.cache(SERVICES).get(key)
        if service is None or service.metadata.deleting or not _has_selector(service):
            return DONE  # the garbage collector takes the slices away with the service
        there = self._there(service)
        wanted = slices_of(service, self._pods(service), self._zones())
        for name, body in wanted.items():
            await self._write(there.pop(name, None), body)
        for surplus in there.values():
            meta = surplus.metadata
            await self._desk.client.delete(_SLICES, meta.key, uid=meta.uid)
        return DONE

    def _there(self, service: Document) -> dict[str, EndpointSlice]:
        found = self._desk.cache(ENDPOINT_SLICES).find("owner", service.metadata.uid)
        mine = (it for it in found if it.metadata.labels.get(MANAGED_BY) == MANAGER)
        return {it.metadata.name: cast("EndpointSlice", it) for it in mine}

    def _pods(self, service: Document) -> list[Document]:
        namespace = service.metadata.namespace
        pods = (it for it in self._desk.cache(PODS) if it.metadata.namespace == namespace)
        return sorted((it for it in pods if _selects(service, it)), key=lambda it: it.metadata.key)

    def _zones(self) -> dict[str, str]:
        labels = {it.metadata.name: it.metadata.labels for it in self._desk.cache(NODES)}
        return {name: its[_ZONE] for name, its in labels.items() if _ZONE in its}

    async def _write(self, there: EndpointSlice | None, body: Json) -> None:
        if there is None:
            await self._desk.client.create(_SLICES, body)
        elif not _says(there, body):
            body["metadata"]["resourceVersion"] = there.metadata.resource_version
            await self._desk.client.update(_SLICES, body)


def _selects(service: Document, pod: Object) -> bool:
    wanted = service.spec.get("selector") or {}
    labels = pod.metadata.labels
    return bool(wanted) and all(labels.get(key) == value for key, value in wanted.items())


def _has_selector(service: Document) -> bool:
    spec = service.spec
    return bool(spec.get("selector")) and spec.get("type") != "ExternalName"


def _says(there: EndpointSlice, body: Json) -> bool:
    """Tell whether a slice already says what it should."""
    told = [_read(text) for text in (there.endpoints_text, there.ports_text)]
    labels: dict[str, str] = body["metadata"]["labels"]
    return told == [body["endpoints"], body["ports"]] and there.metadata.labels == labels


def _read(text: msgspec.Raw) -> list[Json]:
    return msgspec.json.decode(text, type=list[Json] | None) or []


def employ(desk: Desk) -> None:
    """Have the pods behind services be found."""
    endpoints = Endpoints(desk)
    desk.add(
        "endpoint-slices",
        endpoints,
        (
            (SERVICES, itself),
            (PODS, endpoints.behind),
            (ENDPOINT_SLICES, owner(SERVICES)),
            (NODES, lambda _: ()),
        ),
    )
