"""All that a cluster is made of, ready to be applied: each document with the kind it is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build import budget, config, services
from stateward.etcd.model.view import Config
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    SERVICES,
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
