"""Lines of everything else that Kubernetes itself defines. Pure."""

from __future__ import annotations

from typing import Any

from stateward.kube.codec import Json
from stateward.local.kinds import Column
from stateward.local.server.tables.ages import age
from stateward.local.server.tables.cells import (
    NONE,
    UNSET,
    Layout,
    access_modes,
    age_of,
    count,
    items,
    joined,
    layout,
    name_of,
    pairs,
    part,
)

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def _namespace(document: Json, now: float) -> list[Any]:
    return [name_of(document), part(document, "status", "phase") or "", age_of(document, now)]


def _service(document: Json, now: float) -> list[Any]:
    spec = part(document, "spec") or {}
    kind = spec.get("type") or "ClusterIP"
    return [
        name_of(document),
        kind,
        spec.get("clusterIP") or NONE,
        _external(document, spec, kind),
        joined(_port(it) for it in items(document, "spec", "ports")),
        age_of(document, now),
        pairs(spec.get("selector")),
    ]


def _external(document: Json, spec: Json, kind: str) -> str:
    outside = [str(it) for it in spec.get("externalIPs") or ()]
    if kind == "ExternalName":
        return str(spec.get("externalName") or NONE)
    if kind == "LoadBalancer":
        given = items(document, "status", "loadBalancer", "ingress")
        found = [str(it.get("ip") or it.get("hostname") or "") for it in given]
        return ",".join([*filter(None, found), *outside]) or "<pending>"
    return ",".join(outside) or NONE


def _port(it: Json) -> str:
    node = f":{it['nodePort']}" if it.get("nodePort") else ""
    return f"{it.get('port')}{node}/{it.get('protocol') or 'TCP'}"


def _endpoint_slice(document: Json, now: float) -> list[Any]:
    ports = [it.get("port", "*") for it in items(document, "ports")]
    addresses = [a for it in items(document, "endpoints") for a in it.get("addresses") or ()]
    return [
        name_of(document),
        document.get("addressType") or "",
        joined(ports, 3) if ports else UNSET,
        joined(addresses, 3) if addresses else UNSET,
        age_of(document, now),
    ]


def _claim(document: Json, now: float) -> list[Any]:
    phase = part(document, "status", "phase") or ""
    leaving = document["metadata"].get("deletionTimestamp")
    bound = bool(part(document, "spec", "volumeName"))
    return [
        name_of(document),
        "Terminating" if leaving else phase,
        part(document, "spec", "volumeName") or "",
        (part(document, "status", "capacity", "storage") or "") if bound else "",
        access_modes(part(document, "status", "accessModes")) if bound else "",
        part(document, "spec", "storageClassName") or "",
        part(document, "spec", "volumeAttributesClassName") or UNSET,
        age_of(document, now),
        part(document, "spec", "volumeMode") or UNSET,
    ]


def _volume(document: Json, now: float) -> list[Any]:
    claim = part(document, "spec", "claimRef") or {}
    phase = part(document, "status", "phase") or ""
    return [
        name_of(document),
        part(document, "spec", "capacity", "storage") or "",
        access_modes(part(document, "spec", "accessModes")),
        part(document, "spec", "persistentVolumeReclaimPolicy") or "",
        "Terminating" if document["metadata"].get("deletionTimestamp") else phase,
        f"{claim.get('namespace')}/{claim.get('name')}" if claim else "",
        part(document, "spec", "storageClassName") or "",
        part(document, "spec", "volumeAttributesClassName") or UNSET,
        part(document, "status", "reason") or "",
        age_of(document, now),
        part(document, "spec", "volumeMode") or UNSET,
    ]


def _storage_class(document: Json, now: float) -> list[Any]:
    default = (document["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    return [
        f"{name_of(document)} (default)" if default else name_of(document),
        document.get("provisioner") or "",
        document.get("reclaimPolicy") or "Delete",
        document.get("volumeBindingMode") or "Immediate",
        bool(document.get("allowVolumeExpansion")),
        age_of(document, now),
    ]


def _budget(document: Json, now: float) -> list[Any]:
    spec = part(document, "spec") or {}
    return [
        name_of(document),
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        count(document, "status", "disruptionsAllowed"),
        age_of(document, now),
    ]


def _event(document: Json, now: float) -> list[Any]:
    about = part(document, "involvedObject") or {}
    series = part(document, "series") or {}
    first = document.get("firstTimestamp") or document.get("eventTime")
    last = series.get("lastObservedTime") or document.get("lastTimestamp") or first
    return [
        age(last, now),
        document.get("type") or "",
        document.get("reason") or "",
        f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}",
        about.get("fieldPath") or "",
        _source(document),
        str(document.get("message") or "").strip(),
        age(first, now),
        count(series, "count") or count(document, "count", default=1),
        name_of(document),
    ]


def _source(event: Json) -> str:
    component = part(event, "source", "component") or event.get("reportingComponent") or ""
    host = part(event, "source", "host") or event.get("reportingInstance") or ""
    return f"{component}, {host}" if host else str(component)


def _config_map(document: Json, now: float) -> list[Any]:
    held = len(document.get("data") or {}) + len(document.get("binaryData") or {})
    return [name_of(document), held, age_of(document, now)]


def _secret(document: Json, now: float) -> list[Any]:
    kind = document.get("type") or "Opaque"
    return [name_of(document), kind, len(document.get("data") or {}), age_of(document, now)]


def _lease(document: Json, now: float) -> list[Any]:
    return [
        name_of(document),
        part(document, "spec", "holderIdentity") or "",
        age_of(document, now),
    ]


def _created(document: Json, now: float) -> list[Any]:  # noqa: ARG001 - it is a moment, no age
    return [name_of(document), document["metadata"].get("creationTimestamp")]


def _binding(document: Json, now: float) -> list[Any]:
    subjects = items(document, "subjects")

    def named(kind: str) -> str:
        return ", ".join(_subject(it) for it in subjects if it.get("kind") == kind)

    return [
        name_of(document),
        f"{part(document, 'roleRef', 'kind')}/{part(document, 'roleRef', 'name')}",
        age_of(document, now),
        named("User"),
        named("Group"),
        named("ServiceAccount"),
    ]


def _subject(it: Json) -> str:
    name = str(it.get("name", ""))
    return (
        f"{it['namespace']}/{name}"
        if it.get("kind") == "ServiceAccount" and it.get("namespace")
        else name
    )


_BINDING = layout(_binding, "Name|Role|Age", "Users|Groups|ServiceAccounts")
_CREATED = layout(_created, "Name|Created At@")
_EVENT_COLUMNS = "Last Seen|Type|Reason|Object|Subobject|Source|Message|First Seen|Count|Name"
_EVENT_WIDE = frozenset({"Subobject", "Source", "First Seen", "Count", "Name"})
_RBAC = "rbac.authorization.k8s.io"

LAYOUTS = {
    "namespaces": layout(_namespace, "Name|Status|Age"),
    "services": layout(_service, "Name|Type|Cluster-IP|External-IP|Port(s)|Age", "Selector"),
    "endpointslices.discovery.k8s.io": layout(
        _endpoint_slice, "Name|AddressType|Ports|Endpoints|Age"
    ),
    "persistentvolumeclaims": layout(
        _claim,
        "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age",
        "VolumeMode",
    ),
    "persistentvolumes": layout(
        _volume,
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass"
        "|VolumeAttributesClass|Reason|Age",
        "VolumeMode",
    ),
    "storageclasses.storage.k8s.io": layout(
        _storage_class,
        "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
    ),
    "poddisruptionbudgets.policy": layout(
        _budget, "Name|Min Available|Max Unavailable|Allowed Disruptions*|Age"
    ),
    "events": Layout(
        tuple(
            Column(
                name,
                "string",
                "",
                format="name" if name == "Name" else "",
                priority=int(name in _EVENT_WIDE),
            )
            for name in _EVENT_COLUMNS.split("|")
        ),
        _event,
    ),
    "configmaps": layout(_config_map, "Name|Data|Age"),
    "secrets": layout(_secret, "Name|Type|Data|Age"),
    "leases.coordination.k8s.io": layout(_lease, "Name|Holder|Age"),
    "customresourcedefinitions.apiextensions.k8s.io": _CREATED,
    f"roles.{_RBAC}": _CREATED,
    f"clusterroles.{_RBAC}": _CREATED,
    f"rolebindings.{_RBAC}": _BINDING,
    f"clusterrolebindings.{_RBAC}": _BINDING,
}
