"""The kinds that we add to Kubernetes, and what can be known about a kind from its name."""

from __future__ import annotations

from stateward.etcd.api.kind import ETCD_CLUSTER_KIND
from stateward.example.api import TEAM_KIND
from stateward.kube.codec import Json
from stateward.kube.crd.kind import CustomKind, crd
from stateward.kube.resources import BUILT_IN, Registry, Resource
from stateward.kube.structure import Structure, structure_of_kind, structure_of_schema

KINDS: tuple[CustomKind, ...] = (ETCD_CLUSTER_KIND, TEAM_KIND)

REGISTRY = Registry((*BUILT_IN, *(v.resource for kind in KINDS for v in kind.versions)))


def definitions() -> dict[str, Json]:
    """Return the CustomResourceDefinition of every kind, by the name of its file."""
    return {f"{kind.resource.name}.yaml": crd(kind) for kind in KINDS}


def structure_of(resource: Resource[object]) -> Structure | None:  # type: ignore[type-var]
    """Return how objects of a resource are built, from our own schema or from Kubernetes'."""
    for kind in KINDS:
        for version in crd(kind)["spec"]["versions"]:
            if kind.resource.group == resource.group and version["name"] == resource.version:
                return structure_of_schema(version["schema"]["openAPIV3Schema"])
    return structure_of_kind(resource.group, resource.version, resource.kind)
