"""The kinds that we add to Kubernetes, and what can be known about a kind from its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stateward.etcd.api.kind import ETCD_CLUSTER_KIND
from stateward.example.api import TEAM_KIND
from stateward.fdb.api.backups.kinds import BACKUP_KIND, RESTORE_KIND
from stateward.fdb.api.kind import CLUSTER_KIND, PROCESS_GROUP_KIND
from stateward.kube.codec import Json
from stateward.kube.crd.kind import CustomKind, crd
from stateward.kube.resources import BUILT_IN, Registry, Resource
from stateward.kube.structure import Structure, structure_of_kind, structure_of_schema

#: What users run.
PRODUCTS: tuple[CustomKind, ...] = (
    ETCD_CLUSTER_KIND, CLUSTER_KIND, PROCESS_GROUP_KIND, BACKUP_KIND, RESTORE_KIND,
)  # fmt: skip
#: What those who write an operator begin with.
EXAMPLES: tuple[CustomKind, ...] = (TEAM_KIND,)
KINDS = PRODUCTS + EXAMPLES

REGISTRY = Registry((*BUILT_IN, *(v.resource for kind in KINDS for v in kind.versions)))


def definitions(kinds: Iterable[CustomKind] = KINDS) -> dict[str, Json]:
    """Return the CustomResourceDefinition of every kind, by the name of its file."""
    return {f"{kind.resource.name}.yaml": crd(kind) for kind in kinds}


def schema_of(resource: Resource[Any]) -> Json:
    """Return our own schema of a resource; empty when it is none of ours."""
    for kind in KINDS:
        for version in crd(kind)["spec"]["versions"]:
            theirs = (kind.resource.group, version["name"], kind.resource.kind)
            if theirs == (resource.group, resource.version, resource.kind):
                found: Json = version["schema"]["openAPIV3Schema"]
                return found
    return {}


def structure_of(resource: Resource[Any]) -> Structure | None:
    """Return how objects of a resource are built, from our own schema or from Kubernetes'."""
    if schema := schema_of(resource):
        return structure_of_schema(schema)
    return structure_of_kind(resource.group, resource.version, resource.kind)
