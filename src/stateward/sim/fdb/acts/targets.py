"""Whom something befalls: a pod, a node, a claim or a cluster, by the words of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.names import CLASS_LABEL, INSTANCE_LABEL
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.store import Stored
from stateward.sim.kube.lodgers import Lodger
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.fdb.world import FdbWorld


@dataclass(frozen=True, slots=True)
class At:
    """Where an act happens."""

    it: FdbWorld
    #: The operator at whose call it happens, if it does at a call.
    slot: Slot | None
    target: str = ""
    seconds: float = 0.0

    def for_a_while(self, undo: Callable[[], object], seconds: float | None = None) -> None:
        """Undo something after the seconds of the act; until then the world is in trouble."""
        over = self.it.world.weather.trouble()

        def end() -> None:
            undo()
            over()

        self.it.world.later(self.seconds if seconds is None else seconds, end)

    @property
    def api(self) -> Api:
        """Kubernetes."""
        return self.it.world.api

    @property
    def cluster(self) -> Stored | None:
        """The first cluster."""
        return next(iter(self.api.store.all(CLUSTERS.name)), None)

    @property
    def pod(self) -> Stored | None:
        """The pod that is meant."""
        cluster = self.cluster
        name = cluster.key.name if cluster is not None else ""
        every = [
            it for it in self.api.store.all(PODS.name) if it.labels.get(INSTANCE_LABEL) == name
        ]
        every.sort(key=lambda it: it.key)
        if self.target.isdecimal():
            return every[int(self.target)] if int(self.target) < len(every) else None
        if self.target == "coordinator":
            every = [it for it in every if coordinates(self.it, it.key)]
        elif self.target.startswith(f"{name}-"):
            every = [it for it in every if it.key.name == self.target]
        else:
            every = [it for it in every if it.labels.get(CLASS_LABEL) == self.target]
        return every[0] if every else None

    @property
    def lodger(self) -> Lodger | None:
        """The pod that is meant, if it has a node."""
        pod = self.pod
        return self.it.nodes.lodger(pod.key) if pod is not None else None

    @property
    def claim(self) -> Stored | None:
        """The claim of the pod that is meant."""
        pod = self.pod
        if pod is None:
            return None
        key = ObjectKey(pod.key.namespace, f"{pod.key.name}-data")
        return self.api.store.get(VOLUME_CLAIMS.name, key)


def coordinates(it: FdbWorld, pod: ObjectKey) -> bool:
    """Tell whether a database is found by the first process of a pod."""
    process = it.process(pod)
    database = process.database if process is not None else None
    if process is None or database is None:
        return False
    return any(map(process.server.listens_at, database.string.coordinators))


@dataclass(frozen=True, slots=True)
class Act:
    """Something that can befall: whether it has a target, and how long it takes by itself."""

    do: Callable[[At], None]
    targeted: bool = True
    seconds: float = 0.0
