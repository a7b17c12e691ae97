"""A cluster with claims in an API server in memory, and a client that may be refused things."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTER_KIND, ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build.metadata import owner
from stateward.etcd.caches import indexes
from stateward.etcd.model.names import CLUSTER_UID_LABEL, labels
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError, NotFound
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.kube.resources import CUSTOM_RESOURCES, VOLUME_CLAIMS
from stateward.local.client import MemoryClient
from stateward.local.rules.admission import Author
from stateward.local.schema.served import served_api
from stateward.runtime.cache import Cache
from stateward.sim.loop import SimClock

R = TypeVar("R")
SHOP = ObjectKey("default", "shop")


@dataclass(slots=True)
class Doorman(PassThrough):
    """Notes every write, and refuses those that begin so."""

    refusals: dict[str, ApiError] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        words = str(call)
        for beginning, error in self.refusals.items():
            if words.startswith(beginning):
                raise error
        if call.writes:
            self.writes.append(words)
        return await perform()


class Place:
    """Kubernetes in memory, as a user and as the operator see it."""

    def __init__(self) -> None:
        self.clock = SimClock(asyncio.get_running_loop())
        api = self.api = served_api(Ports(self.clock, Chance(1)))
        api.create(CUSTOM_RESOURCES, "", plain(crd(ETCD_CLUSTER_KIND)), Author("user"))
        self.user = MemoryClient(api)
        self.doorman = Doorman()
        self.client = InterceptedClient(self.user, self.doorman)
        self.claims: Cache[PersistentVolumeClaim] = Cache(VOLUME_CLAIMS, indexes())

    async def cluster(self, **spec: Any) -> EtcdCluster:
        """Make the cluster."""
        metadata = {"namespace": SHOP.namespace, "name": SHOP.name}
        return await self.user.create(ETCD_CLUSTERS, {"metadata": metadata, "spec": spec})

    async def claim(self, cluster: EtcdCluster, ordinal: int, *, tied: bool = True) -> None:
        """Make the claim of a member."""
        uid = cluster.metadata.uid
        metadata: dict[str, Any] = {
            "namespace": SHOP.namespace,
            "name": f"data-shop-{ordinal}",
            "labels": labels(SHOP.name) | {CLUSTER_UID_LABEL: uid},
        }
        if tied:
            metadata["ownerReferences"] = [owner(cluster)]
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        await self.user.create(VOLUME_CLAIMS, {"metadata": metadata, "spec": spec})

    async def edit(self, **spec: Any) -> EtcdCluster:
        """Change the spec, as a user."""
        return await self.user.patch(ETCD_CLUSTERS, SHOP, MergePatch({"spec": spec}))

    async def now(self) -> EtcdCluster | None:
        """Return the cluster as it is, and let the cache show the claims as they are."""
        self.claims.replace(await self.user.list(VOLUME_CLAIMS))
        try:
            return await self.user.get(ETCD_CLUSTERS, SHOP)
        except NotFound:
            return None

    async def tied(self) -> list[str]:
        """Return the claims that have an owner."""
        found = (await self.user.list(VOLUME_CLAIMS)).items
        return sorted(it.metadata.name for it in found if it.metadata.owner_references)
