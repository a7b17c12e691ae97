"""The registry: which kind is served at which path and read as which type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from stateward.core.errors import HouseError, UsageError
from stateward.kube import codec
from stateward.kube.meta import Object
from stateward.kube.objects import configs, network, pods, policies, storage, workloads

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One kind of object: its names, its place in the API and the type we read it as."""

    group: str
    version: str
    kind: str
    plural: str
    type: type[T]
    namespaced: bool = True
    #: True when the main endpoint ignores ``status`` and the status endpoint ignores the rest.
    has_status: bool = False

    @property
    def api_version(self) -> str:
        """The ``apiVersion`` of its objects: ``v1`` or ``apps/v1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def name(self) -> str:
        """The resource as access rules and messages name it: ``pods`` or ``statefulsets.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the URL path of a collection, an object or a subresource, safely quoted.

        >>> PODS.path("shop", "orders-0", "eviction")
        '/api/v1/namespaces/shop/pods/orders-0/eviction'
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        place = f"/namespaces/{quote(namespace, safe='')}" if namespace and self.namespaced else ""
        tail = "".join(f"/{quote(part, safe='')}" for part in (name, subresource) if part)
        return f"{root}{place}/{self.plural}{tail}"

    def read(self, text: bytes) -> T:
        """Return a document of this kind as its type."""
        return codec.decode(text, self.type)

    def __str__(self) -> str:
        return self.name


class Registry:
    """All the resources somebody knows, found by kind, by place or by type."""

    def __init__(self, resources: Iterable[Resource[Any]]) -> None:
        self._by_kind: dict[tuple[str, str], Resource[Any]] = {}
        self._by_place: dict[tuple[str, str, str], Resource[Any]] = {}
        for resource in resources:
            self._by_kind[resource.api_version, resource.kind] = resource
            self._by_place[resource.group, resource.version, resource.plural] = resource

    def __iter__(self) -> Iterator[Resource[Any]]:
        return iter(self._by_kind.values())

    def find(self, api_version: str, kind: str) -> Resource[Any] | None:
        """Return the resource of a kind, or None."""
        return self._by_kind.get((api_version, kind))

    def at(self, group: str, version: str, plural: str) -> Resource[Any] | None:
        """Return the resource that is served at a place, or None."""
        return self._by_place.get((group, version, plural))

    def of_type(self, kind: type[T]) -> Resource[T]:
        """Return the resource whose objects are read as a type."""
        found = next((resource for resource in self if resource.type is kind), None)
        if found is None:
            raise HouseError(f"no resource is read as {kind.__name__}")
        return found

    def of_kind(self, api_version: str, kind: str) -> Resource[Any]:
        """Return the resource of a kind.

        Raise UsageError, with a suggestion, when we do not know it.
        """
        if (found := self.find(api_version, kind)) is not None:
            return found
        known = {f"{r.api_version} {r.kind}": r for r in self}
        close = get_close_matches(f"{api_version} {kind}", known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known kinds: {', '.join(sorted(known))}"
        raise UsageError(f"apiVersion {api_version!r} kind {kind!r} is not known here", hint=hint)


PODS = Resource("", "v1", "Pod", "pods", pods.Pod, has_status=True)
NODES = Resource("", "v1", "Node", "nodes", pods.Node, namespaced=False, has_status=True)
NAMESPACES = Resource(
    "", "v1", "Namespace", "namespaces", configs.Namespace, namespaced=False, has_status=True
)
CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps", configs.ConfigMap)
SECRETS = Resource("", "v1", "Secret", "secrets", configs.Secret)
SERVICES = Resource("", "v1", "Service", "services", network.Service, has_status=True)
EVENTS = Resource("", "v1", "Event", "events", policies.Event)
VOLUME_CLAIMS = Resource(
    "",
    "v1",
    "PersistentVolumeClaim",
    "persistentvolumeclaims",
    storage.PersistentVolumeClaim,
    has_status=True,
)
STATEFUL_SETS = Resource(
    "apps", "v1", "StatefulSet", "statefulsets", workloads.StatefulSet, has_status=True
)
DEPLOYMENTS = Resource(
    "apps", "v1", "Deployment", "deployments", workloads.Deployment, has_status=True
)
JOBS = Resource("batch", "v1", "Job", "jobs", workloads.Job, has_status=True)
CRON_JOBS = Resource("batch", "v1", "CronJob", "cronjobs", workloads.CronJob, has_status=True)
DISRUPTION_BUDGETS = Resource(
    "policy",
    "v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    policies.PodDisruptionBudget,
    has_status=True,
)
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases", policies.Lease)
CUSTOM_RESOURCES = Resource(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    configs.CustomResourceDefinition,
    namespaced=False,
    has_status=True,
)

BUILT_IN = Registry(
    (
        PODS,
        NODES,
        NAMESPACES,
        CONFIG_MAPS,
        SECRETS,
        SERVICES,
        EVENTS,
        VOLUME_CLAIMS,
        STATEFUL_SETS,
        DEPLOYMENTS,
        JOBS,
        CRON_JOBS,
        DISRUPTION_BUDGETS,
        LEASES,
        CUSTOM_RESOURCES,
    )
)
