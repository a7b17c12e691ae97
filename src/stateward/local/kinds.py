"""What the server knows about a kind beyond its name: how it is created, counted, deleted and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stateward.kube.codec import Json
from stateward.kube.resources import Resource
from stateward.kube.structure import Structure, structure_of_kind


@dataclass(frozen=True, slots=True)
class Kind:
    """The habits of one kind of object."""

    resource: Resource[Any]
    #: Whether ``metadata.generation`` counts the changes of what is asked for.
    counts_generation: bool = True
    #: Whether an update without a resourceVersion is taken.
    unconditional_update: bool = False
    #: What a new object's status is, whatever its creator wrote; None keeps what was written.
    first_status: Json | None = field(default_factory=dict)
    #: Whether deletion waits for a node to end the thing first.
    graceful: bool = False
    #: How its fields merge; None when nothing is known, so that lists are replaced whole.
    structure: Callable[[], Structure | None] = lambda: None


#: Built-in kinds that differ from the defaults above (a resource that counts, in conditional updates).
_UNCOUNTED = {"nodes", "namespaces", "configmaps", "secrets", "services", "events"} | {
    "persistentvolumeclaims",
    "leases.coordination.k8s.io",
}
_CONDITIONAL = {
    "leases.coordination.k8s.io",
    "poddisruptionbudgets.policy",
    "customresourcedefinitions.apiextensions.k8s.io",
}
_FIRST_STATUS: dict[str, Json | None] = {
    "pods": {"phase": "Pending"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "namespaces": {"phase": "Active"},
    "nodes": None,
}


def built_in(resource: Resource[Any]) -> Kind:
    """Return the habits of a kind that Kubernetes itself defines."""
    return Kind(
        resource,
        counts_generation=resource.name not in _UNCOUNTED,
        unconditional_update=resource.name not in _CONDITIONAL,
        first_status=_FIRST_STATUS.get(resource.name, {}),
        graceful=resource.name == "pods",
        structure=lambda: structure_of_kind(resource.group, resource.version, resource.kind),
    )


def custom(resource: Resource[Any], structure: Structure | None = None) -> Kind:
    """Return the habits of a kind that somebody added."""
    return Kind(resource, structure=lambda: structure)


class Kinds:
    """All kinds that a server serves, by the name of their resource."""

    def __init__(self, *kinds: Kind) -> None:
        self._kinds = {kind.resource.name: kind for kind in kinds}

    def of(self, resource: Resource[Any]) -> Kind:
        """Return what is known of a resource; one that was not announced counts as somebody's own."""
        if resource.name not in self._kinds:
            is_ours = "." in resource.group and not resource.group.endswith(".k8s.io")
            self._kinds[resource.name] = custom(resource) if is_ours else built_in(resource)
        return self._kinds[resource.name]

    def add(self, kind: Kind) -> None:
        """Serve one more kind, or the same one with other habits."""
        self._kinds[kind.resource.name] = kind
