"""Discovery: which groups, versions and resources there are, in both shapes of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from stateward.kube.codec import Json
from stateward.local.kinds import Kind, Kinds
from stateward.local.server.reviews import REVIEWS

_LIST_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch")
_VERBS: Final = [*_LIST_VERBS, "update", "watch"]
_PART_VERBS: Final = ["get", "patch", "update"]
_STAGES: Final = {"": 3, "beta": 2, "alpha": 1}
_VERSION: Final = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
#: Parts whose kind is not that of the whole: group, version, kind, verbs.
_PARTS: Final[dict[str, tuple[str, str, str, list[str]]]] = {
    "scale": ("autoscaling", "v1", "Scale", _PART_VERBS),
    "log": ("", "", "", ["get"]),
    "eviction": ("policy", "v1", "Eviction", ["create"]),
    "binding": ("", "", "Binding", ["create"]),
}


class Version(NamedTuple):
    """The resources of one version of a group."""

    name: str
    resources: tuple[Json, ...]


def priority(version: str) -> tuple[int, int, int]:
    """Return how much a version is preferred: stable ones first, then the newest.

    >>> sorted(["v1beta1", "v2", "v1", "v1alpha1"], key=priority, reverse=True)
    ['v2', 'v1', 'v1beta1', 'v1alpha1']
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (0, 0, 0)
    return (_STAGES[match[2] or ""], int(match[1]), int(match[3] or 0))


def groups(kinds: Kinds) -> dict[str, list[Version]]:
    """Return everything that is served: by group, the preferred version first."""
    found: dict[str, dict[str, list[Json]]] = {}
    for kind in kinds:
        versions = found.setdefault(kind.resource.group, {})
        versions.setdefault(kind.resource.version, []).append(_resource(kind))
    for (group, plural), (name, namespaced) in REVIEWS.items():
        versions = found.setdefault(group, {})
        versions.setdefault("v1", []).append(_review(group, plural, name, namespaced=namespaced))
    return {
        group: [
            Version(name, tuple(versions[name]))
            for name in sorted(versions, key=priority, reverse=True)
        ]
        for group, versions in sorted(found.items())
    }


def _resource(kind: Kind) -> Json:
    resource = kind.resource
    # Of Kubernetes' own kinds it goes without saying.
    place = ("", "") if kind.built_in else (resource.group, resource.version)
    answer = {"group": place[0], "version": place[1], "kind": resource.kind}
    found: Json = {
        "resource": resource.plural,
        "responseKind": answer,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": kind.names.singular or resource.kind.lower(),
        "verbs": _VERBS,
    }
    if kind.names.short:
        found["shortNames"] = list(kind.names.short)
    if kind.names.categories:
        found["categories"] = list(kind.names.categories)
    parts = [_part(name, answer) for name in _part_names(kind)]
    return found | ({"subresources": parts} if parts else {})


def _part_names(kind: Kind) -> Iterable[str]:
    named = set(kind.subresources)
    if kind.resource.has_status:
        named.add("status")
    if kind.scale is not None:
        named.add("scale")
    if kind.resource.name == "namespaces":
        named.add("finalize")
    return sorted(named)


def _part(name: str, whole: Json) -> Json:
    group, version, kind, verbs = _PARTS.get(name, ("", "", "", _PART_VERBS))
    answer = {"group": group, "version": version, "kind": kind} if kind else whole
    return {
        "subresource": name,
        "responseKind": answer,
        "verbs": ["update"] if name == "finalize" else verbs,
    }


def _review(group: str, plural: str, kind: str, *, namespaced: bool) -> Json:
    return {
        "resource": plural,
        "responseKind": {"group": group, "version": "v1", "kind": kind},
        "scope": "Namespaced" if namespaced else "Cluster",
        "singularResource": kind.lower(),
        "verbs": ["create"],
    }


def aggregated(kinds: Kinds, version: str, *, core: bool) -> Json:
    """Return all resources of all groups in one document."""
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {"version": it.name, "resources": list(it.resources), "freshness": "Current"}
                for it in versions
            ],
        }
        for group, versions in groups(kinds).items()
        if core == (not group)
    ]
    api = f"apidiscovery.k8s.io/{version}"
    return {"kind": "APIGroupDiscoveryList", "apiVersion": api, "metadata": {}, "items": items}


def core_versions(address: str) -> Json:
    """Return the versions of the group without a name."""
    where = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": where}


def group_list(kinds: Kinds) -> Json:
    """Return the groups that have names."""
    named = [_group(name, versions) for name, versions in groups(kinds).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": named}


def one_group(kinds: Kinds, name: str) -> Json | None:
    """Return one group, or None when there is none of that name."""
    versions = groups(kinds).get(name) if name else None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)} if versions else None


def _group(name: str, versions: list[Version]) -> Json:
    places = [{"groupVersion": f"{name}/{it.name}", "version": it.name} for it in versions]
    return {"name": name, "versions": places, "preferredVersion": places[0]}


def resource_list(kinds: Kinds, group: str, version: str) -> Json | None:
    """Return the resources of one version of a group, or None when there is none such."""
    for it in groups(kinds).get(group, ()):
        if it.name == version:
            listed = [entry for found in it.resources for entry in _entries(found)]
            place = f"{group}/{version}" if group else version
            head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": place}
            return head | {"resources": listed}
    return None


def _entries(found: Json) -> Iterable[Json]:
    namespaced = found["scope"] == "Namespaced"
    entry: Json = {
        "name": found["resource"],
        "singularName": found["singularResource"],
        "namespaced": namespaced,
        "kind": found["responseKind"]["kind"],
        "verbs": found["verbs"],
    }
    for name in ("shortNames", "categories"):
        if name in found:
            entry[name] = found[name]
    yield entry
    for it in found.get("subresources", ()):
        whole, part = found["responseKind"], it["responseKind"]
        elsewhere = {name: part[name] for name in ("group", "version") if part[name] != whole[name]}
        yield elsewhere | {
            "name": f"{found['resource']}/{it['subresource']}",
            "singularName": "",
            "namespaced": namespaced,
            "kind": part["kind"],
            "verbs": it["verbs"],
        }
