"""All that a cluster is made of, ready to be applied: each document with the kind it is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings
from stateward.etcd.build import budget, config, services
from stateward.etcd.build import workload as workloads
from stateward.etcd.build.pod import Outside
from stateward.etcd.model.view import Config
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object as it should be; the document is sealed, so that drift is noticed."""

    resource: Resource[Any]
    document: Json

    @property
    def key(self) -> ObjectKey:
        """Where the object is."""
        metadata = self.document["metadata"]
        return ObjectKey(metadata["namespace"], metadata["name"])

    def differs(self, live: Json) -> bool:
        """Tell whether an object is not as it should be."""
        return drift.differs(live, self.document)


def around(cluster: EtcdCluster, *, voters: int, members: int) -> tuple[Wanted, ...]:
    """Return what stands around the members: both services, and a budget where there is one."""
    found = [
        Wanted(SERVICES, drift.sealed(services.headless_service(cluster))),
        Wanted(SERVICES, drift.sealed(services.client_service(cluster))),
    ]
    if (made := budget.budget(cluster, voters, members)) is not None:
        found.append(Wanted(DISRUPTION_BUDGETS, drift.sealed(made)))
    return tuple(found)


def variables(cluster: EtcdCluster, wanted: Config) -> Wanted:
    """Return the ConfigMap that members start with."""
    return Wanted(CONFIG_MAPS, drift.sealed(config.config_map(cluster, wanted)))


def members(
    cluster: EtcdCluster,
    settings: Settings,
    outside: Outside,
    *,
    replicas: int,
    start: int = 0,
) -> Wanted:
    """Return the StatefulSet of the members."""
    made = workloads.workload(cluster, settings, outside, replicas=replicas, start=start)
    return Wanted(STATEFUL_SETS, drift.sealed(made))
