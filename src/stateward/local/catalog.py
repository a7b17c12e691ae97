"""The kinds that the embedded Kubernetes serves from the start, and what people call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from stateward.kube.meta import Object
from stateward.kube.resources import BUILT_IN, Registry, Resource

_RBAC: Final = "rbac.authorization.k8s.io"

SERVICE_ACCOUNTS: Final = Resource("", "v1", "ServiceAccount", "serviceaccounts", Object)
VOLUMES: Final = Resource(
    "", "v1", "PersistentVolume", "persistentvolumes", Object, namespaced=False, has_status=True
)
STORAGE_CLASSES: Final = Resource(
    "storage.k8s.io", "v1", "StorageClass", "storageclasses", Object, namespaced=False
)
REPLICA_SETS: Final = Resource("apps", "v1", "ReplicaSet", "replicasets", Object, has_status=True)
CONTROLLER_REVISIONS: Final = Resource(
    "apps", "v1", "ControllerRevision", "controllerrevisions", Object
)
ENDPOINT_SLICES: Final = Resource(
    "discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", Object
)
ROLES: Final = Resource(_RBAC, "v1", "Role", "roles", Object)
ROLE_BINDINGS: Final = Resource(_RBAC, "v1", "RoleBinding", "rolebindings", Object)
CLUSTER_ROLES: Final = Resource(
    _RBAC, "v1", "ClusterRole", "clusterroles", Object, namespaced=False
)
CLUSTER_ROLE_BINDINGS: Final = Resource(
    _RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", Object, namespaced=False
)

SERVED: Final = Registry(
    (
        *BUILT_IN,
        SERVICE_ACCOUNTS,
        VOLUMES,
        STORAGE_CLASSES,
        REPLICA_SETS,
        CONTROLLER_REVISIONS,
        ENDPOINT_SLICES,
        ROLES,
        ROLE_BINDINGS,
        CLUSTER_ROLES,
        CLUSTER_ROLE_BINDINGS,
    )
)


@dataclass(frozen=True, slots=True)
class Names:
    """What people call a kind when they type."""

    singular: str = ""
    list_kind: str = ""
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


_SHORT: Final = {
    "pods": ("po",),
    "nodes": ("no",),
    "namespaces": ("ns",),
    "configmaps": ("cm",),
    "services": ("svc",),
    "events": ("ev",),
    "persistentvolumeclaims": ("pvc",),
    "persistentvolumes": ("pv",),
    "serviceaccounts": ("sa",),
    "statefulsets.apps": ("sts",),
    "deployments.apps": ("deploy",),
    "replicasets.apps": ("rs",),
    "cronjobs.batch": ("cj",),
    "poddisruptionbudgets.policy": ("pdb",),
    "storageclasses.storage.k8s.io": ("sc",),
    "customresourcedefinitions.apiextensions.k8s.io": ("crd", "crds"),
}
#: What ``kubectl get all`` shows.
_ALL: Final = (
    *("pods", "services", "statefulsets.apps", "deployments.apps", "replicasets.apps"),
    *("jobs.batch", "cronjobs.batch"),
)
_CATEGORIES: Final = dict.fromkeys(_ALL, ("all",)) | {
    "customresourcedefinitions.apiextensions.k8s.io": ("api-extensions",)
}


def names_of(resource: Resource[Any]) -> Names:
    """Return what people call a kind that is served from the start."""
    return Names(
        singular=resource.kind.lower(),
        list_kind=f"{resource.kind}List",
        short=_SHORT.get(resource.name, ()),
        categories=_CATEGORIES.get(resource.name, ()),
    )
