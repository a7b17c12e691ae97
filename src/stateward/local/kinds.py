"""What the server knows about a kind: how it is created, counted, selected, deleted and merged.

The tables say what kube-apiserver's strategies of the built-in kinds do; what they do not name is
the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.resources import Resource
from stateward.kube.structure import Structure, structure_of_kind, structure_of_schema
from stateward.local.catalog import Names, names_of
from stateward.local.frozen import Rule, anything_goes, rule_of

#: Where no schema is known, only metadata merges as Kubernetes says; all else merges freely.
FREE_OBJECT = structure_of_schema({"type": "object", "x-kubernetes-preserve-unknown-fields": True})

#: What lists of every kind can be selected by.
SELECTABLE = frozenset({"metadata.name", "metadata.namespace"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of ``kubectl get`` that a custom kind asks for."""

    name: str
    type: str
    path: str
    description: str = ""
    format: str = ""
    #: Above 0 it is shown with ``-o wide`` only.
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where an object says how many it wants and has, as dotted paths."""

    spec: str = ".spec.replicas"
    status: str = ".status.replicas"
    selector: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """The habits of one kind of object."""

    resource: Resource[Any]
    #: Whether Kubernetes itself defines it: then its finalizers must have a domain.
    built_in: bool = False
    #: Whether ``metadata.generation`` counts the changes of what is asked for.
    counts_generation: bool = True
    #: The part of the metadata whose changes are some of those; empty: none.
    counted_metadata: str = ""
    #: Whether an update without a resourceVersion is taken.
    unconditional_update: bool = False
    #: Whether an update of what is not there creates it.
    created_by_update: bool = False
    #: What a new object's status is, whatever its creator wrote; None keeps what was written.
    first_status: Json | None = field(default_factory=dict)
    #: Whether deletion waits for a node to end the thing first.
    graceful: bool = False
    #: The fields by which a list can be selected.
    selectable: frozenset[str] = SELECTABLE
    #: Metadata that the status endpoint does not change; None: all of it.
    kept_by_status: frozenset[str] | None = None
    #: What is wrong with a name, or None.
    name_problem: Callable[[str], str | None] = naming.dns_subdomain_problem
    #: What may not be changed, given an object before and after.
    frozen: Rule = anything_goes
    #: How its fields merge.
    structure: Callable[[], Structure] = lambda: FREE_OBJECT
    #: What people call it.
    names: Names = field(default_factory=Names)
    #: Which subresources are served beside ``status``: scale, log, eviction, binding.
    subresources: frozenset[str] = frozenset()
    #: Where the replicas of its scale subresource are.
    scale: ScalePaths | None = None
    #: The schema of a custom kind; None: that of Kubernetes itself, or none at all.
    schema: Json | None = None
    #: The columns that a custom kind asks for.
    columns: tuple[Column, ...] = ()
    #: Whether objects are stored in this version.
    storage: bool = True
    #: The ``apiVersion`` they are stored as, where there are several versions; else empty.
    stored_as: str = ""
    #: The definition that a custom kind comes from, by its name; empty for others.
    definition: str = ""


_COUNTED = {
    *(
        "pods",
        "podtemplates",
        "replicationcontrollers",
        "customresourcedefinitions.apiextensions.k8s.io",
    ),
    *(f"{name}.apps" for name in ("daemonsets", "deployments", "replicasets", "statefulsets")),
    *("jobs.batch", "cronjobs.batch", "poddisruptionbudgets.policy"),
    *("endpointslices.discovery.k8s.io", "priorityclasses.scheduling.k8s.io"),
    *(f"{name}.networking.k8s.io" for name in ("ingresses", "ingressclasses", "networkpolicies")),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
}
_COUNTED_METADATA = {
    "deployments.apps": "annotations",
    "endpointslices.discovery.k8s.io": "labels",
}
_CONDITIONAL = {
    *("leases.coordination.k8s.io", "poddisruptionbudgets.policy", "runtimeclasses.node.k8s.io"),
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    *(f"{name}.storage.k8s.io" for name in ("csidrivers", "csinodes", "volumeattachments")),
}
#: Characters that a CronJob adds to its name: a dash and the minutes since the epoch.
_MOMENT = 11
_CREATED_BY_UPDATE = {
    *("services", "endpoints", "events", "limitranges", "leases.coordination.k8s.io"),
    *(f"{name}.rbac.authorization.k8s.io" for name in ("roles", "rolebindings")),
    *(f"{name}.rbac.authorization.k8s.io" for name in ("clusterroles", "clusterrolebindings")),
    "runtimeclasses.node.k8s.io",
}
_FIRST_STATUS: dict[str, Json | None] = {
    "pods": {"phase": "Pending"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "namespaces": {"phase": "Active"},
    "nodes": None,
}
_SELECTED_BY = {
    "pods": {
        *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
        *("spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"),
    },
    "events": {
        *(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion")),
        *("involvedObject.resourceVersion", "involvedObject.fieldPath"),
        *("reason", "reportingComponent", "type"),
    },
    "secrets": {"type"},
    "services": {"spec.clusterIP", "spec.type"},
    "nodes": {"spec.unschedulable"},
    "namespaces": {"status.phase"},
    "jobs.batch": {"status.successful"},
}
_NOT_SELECTED_BY = {name: {"metadata.namespace"} for name in ("namespaces", "nodes")}
_SUBRESOURCES = {
    "pods": {"log", "eviction", "binding"},
    **{f"{name}.apps": {"scale"} for name in ("deployments", "replicasets", "statefulsets")},
}
_SCALED = {
    f"{name}.apps": ScalePaths(selector=".spec.selector")
    for name in ("deployments", "replicasets", "statefulsets")
}
_KEPT_BY_STATUS = {"deployments.apps": {"labels"}, "pods": {"ownerReferences"}}


def built_in(resource: Resource[Any]) -> Kind:
    """Return the habits of a kind that Kubernetes itself defines."""
    name = resource.name
    return Kind(
        resource,
        built_in=True,
        counts_generation=name in _COUNTED,
        counted_metadata=_COUNTED_METADATA.get(name, ""),
        unconditional_update=name not in _CONDITIONAL,
        created_by_update=name in _CREATED_BY_UPDATE,
        first_status=_FIRST_STATUS.get(name, {}),
        graceful=name == "pods",
        selectable=(SELECTABLE | _SELECTED_BY.get(name, set())) - _NOT_SELECTED_BY.get(name, set()),
        kept_by_status=frozenset(_KEPT_BY_STATUS.get(name, ())),
        name_problem=_name_rule(resource),
        frozen=rule_of(name),
        structure=lambda: _built_in_structure(resource),
        names=names_of(resource),
        subresources=frozenset(_SUBRESOURCES.get(name, ())),
        scale=_SCALED.get(name),
    )


def custom(resource: Resource[Any], structure: Structure | None = None) -> Kind:
    """Return the habits of a kind that somebody added."""
    return Kind(resource, structure=lambda: structure or FREE_OBJECT)


def _name_rule(resource: Resource[Any]) -> Callable[[str], str | None]:
    if resource.group == "rbac.authorization.k8s.io":
        return _path_segment_problem
    rules = {
        "services": _service_name_problem,
        "namespaces": naming.dns_label_problem,
        "statefulsets.apps": naming.dns_label_problem,  # it begins the names of pods
        "cronjobs.batch": _cron_name_problem,
    }
    return rules.get(resource.name, naming.dns_subdomain_problem)


def _cron_name_problem(name: str) -> str | None:
    """Leave room for the moment that is added to the name of each job."""
    if len(name) > naming.LABEL_LIMIT - _MOMENT:
        return f"must be no more than {naming.LABEL_LIMIT - _MOMENT} characters"
    return naming.dns_subdomain_problem(name)


def _service_name_problem(name: str) -> str | None:
    if name[:1].isdigit():
        return f"must begin with a letter, got {name!r}"
    return naming.dns_label_problem(name)


def _path_segment_problem(name: str) -> str | None:
    if name in {".", ".."} or "/" in name or "%" in name:
        return f"must be one part of a path, got {name!r}"
    return None


def _built_in_structure(resource: Resource[Any]) -> Structure:
    return structure_of_kind(resource.group, resource.version, resource.kind) or FREE_OBJECT


class Kinds:
    """All kinds that a server serves, by the name of their resource and their version."""

    def __init__(self, *kinds: Kind, closed: bool = False) -> None:
        self._closed = closed
        self._kinds: dict[tuple[str, str], Kind] = {}
        for kind in kinds:
            self.add(kind)

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._kinds.values()))

    def of(self, resource: Resource[Any]) -> Kind:
        """Return what is known of a resource.

        One that nobody announced counts as custom; where only announced ones are served, it raises
        NotFound.
        """
        place = resource.name, resource.version
        if place not in self._kinds:
            if self._closed:
                raise NotFound("the server could not find the requested resource")
            is_ours = "." in resource.group and not resource.group.endswith(".k8s.io")
            self._kinds[place] = custom(resource) if is_ours else built_in(resource)
        return self._kinds[place]

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind that is served at a place, or None."""
        return self._kinds.get((f"{plural}.{group}" if group else plural, version))

    def add(self, kind: Kind) -> None:
        """Serve one more kind, or the same one with other habits."""
        self._kinds[kind.resource.name, kind.resource.version] = kind

    def remove(self, kind: Kind) -> None:
        """Serve a kind no more."""
        self._kinds.pop((kind.resource.name, kind.resource.version), None)
