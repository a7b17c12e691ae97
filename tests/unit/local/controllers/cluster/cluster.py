"""A small cluster in virtual time: real controllers, nodes that a test can lose, pods that pretend to run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fakes.bench import Bench, running
from stateward.core.moments import to_rfc3339_micro
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES, NAMESPACES, NODES, PODS, Resource
from stateward.local.catalog import SERVED
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.local.controllers.cluster.staff import Terms, employ
from stateward.local.controllers.desk import Desk
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.scheduler import scheduler
from stateward.local.schema.served import served_api
from stateward.runtime.telling.metrics import Metrics

AGENT = Author("agent")


class Cluster(Bench):
    """Make it inside a test marked ``virtual``. ``lost`` nodes fall silent."""

    def __init__(self, *, terms: Terms | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.api = served_api(self.ports)
        self.user = MemoryClient(self.api)
        self.api.create(NAMESPACES, "", {"metadata": {"name": "shop"}}, AGENT)
        self.terms = terms or Terms()
        self.lost: set[str] = set()
        self.client = InterceptedClient(self.user, self.wire)
        self.desk = self.new_desk()
        self.collector = Collector(self.api, SERVED)

    def new_desk(self) -> Desk:
        """Return controllers that know nothing yet, as after a restart."""
        desk = Desk(self.client, self.ports, Metrics(self.clock))
        scheduler.employ(desk)
        employ(desk, lambda: SERVED, self.terms)
        return desk

    # -------------------------------------------------------------- what a test puts there
    async def node(self, name: str, zone: str = "", **spec: Any) -> None:
        labels = {"kubernetes.io/hostname": name} | (
            {"topology.kubernetes.io/zone": zone} if zone else {}
        )
        await self.user.create(
            NODES,
            {
                "metadata": {"name": name, "labels": labels},
                "spec": spec,
                "status": {
                    "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "110"},
                    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                },
            },
        )
        lease = {
            "metadata": {"namespace": "kube-node-lease", "name": name},
            "spec": {"holderIdentity": name},
        }
        await self.user.create(LEASES, lease)

    async def pod(self, name: str, **parts: Any) -> None:
        """Create a pod; ``labels``, ``cpu`` and ``owner`` are short for what they say, the rest is its spec."""
        await self.user.create(PODS, pod(name, **parts))

    async def patch(
        self, resource: Resource[Any], name: str, body: Json, namespace: str = "shop"
    ) -> None:
        key = ObjectKey(namespace if resource.namespaced else "", name)
        await self.user.patch(resource, key, MergePatch(body))

    async def say(
        self, resource: Resource[Any], name: str, body: Json, namespace: str = "shop"
    ) -> None:
        """Write the status of an object."""
        key = ObjectKey(namespace if resource.namespaced else "", name)
        await self.user.patch(resource, key, MergePatch(body), subresource="status")

    async def delete(self, resource: Resource[Any], name: str, namespace: str = "shop") -> None:
        key = ObjectKey(namespace if resource.namespaced else "", name)
        uid = (await self.user.get(resource, key)).metadata.uid
        await self.user.delete(resource, key, uid=uid)

    # -------------------------------------------------------------- what a test sees
    def see(self, resource: Resource[Any], name: str, namespace: str = "shop") -> Json:
        """Return an object; an empty one if there is none."""
        key = ObjectKey(namespace if resource.namespaced else "", name)
        stored = self.api.store.get(resource.name, key)
        return stored.document() if stored else {}

    def names(self, resource: Resource[Any], namespace: str = "") -> str:
        return " ".join(it.key.name for it in self.api.store.all(resource.name, namespace))

    def placed(self) -> str:
        """Show pods and where they are: ``a:n1 b:-``."""
        pods = [it.document() for it in self.api.store.all(PODS.name)]
        return " ".join(
            f"{it['metadata']['name']}:{it['spec'].get('nodeName', '-')}" for it in pods
        )

    def condition(self, resource: Resource[Any], name: str, type_: str) -> Json:
        conditions = self.see(resource, name).get("status", {}).get("conditions") or ()
        return next((it for it in conditions if it["type"] == type_), {})

    # -------------------------------------------------------------- what runs beside it
    @asynccontextmanager
    async def works(self) -> AsyncGenerator[None, None]:
        """Let the controllers, the nodes and the collector work."""
        async with running(self.desk.run(), self.nodes(), self.collector.run(self.ports)):
            yield

    async def nodes(self) -> None:
        """Be all the nodes: renew leases, say that pods run, end those that are to end."""
        while True:
            for stored in self.api.store.all(NODES.name):
                if stored.key.name not in self.lost:
                    self._renew(stored.key.name)
            for stored in self.api.store.all(PODS.name):
                document = stored.document()
                node = document["spec"].get("nodeName")
                if node and node not in self.lost and self.see(NODES, node):
                    self._run(document, stored.key)
            await asyncio.sleep(0.5)

    def _renew(self, name: str) -> None:
        key = ObjectKey("kube-node-lease", name)
        patch = MergePatch({"spec": {"renewTime": to_rfc3339_micro(self.clock.now())}})
        self.api.patch(LEASES, key, patch, AGENT)

    def _run(self, pod: Json, key: ObjectKey) -> None:
        if "deletionTimestamp" in pod["metadata"]:
            with suppress(NotFound):
                self.api.delete(PODS, key, DeleteOptions(grace_seconds=0))
        elif pod["status"]["phase"] == "Pending":
            conditions = [*pod["status"].get("conditions", ()), {"type": "Ready", "status": "True"}]
            address = f"127.0.0.{len(key.name) + ord(key.name[-1]) % 100}"
            status = {"phase": "Running", "podIP": address, "conditions": conditions}
            self.api.patch(PODS, key, MergePatch({"status": status}), AGENT, subresource="status")


def pod(
    name: str, *, labels: Json | None = None, cpu: str = "", owner: Json | None = None, **spec: Any
) -> Json:
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    metadata: Json = {"namespace": "shop", "name": name, "labels": labels or {}}
    if owner:
        metadata["ownerReferences"] = [owner | {"controller": True}]
    container = {"name": "main", "image": "web", "resources": resources}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def controlled(resource: Resource[Any], document: Json) -> Json:
    """Return the reference to an owner."""
    meta = document["metadata"]
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": meta["name"],
        "uid": meta["uid"],
    }


async def settled(seconds: float = 2.0) -> None:
    """Let virtual time pass."""
    await asyncio.sleep(seconds)


async def stays(holds: Callable[[], bool], seconds: float) -> None:
    """Hold something to be true for a while."""
    for _ in range(int(seconds * 10)):
        assert holds()
        await asyncio.sleep(0.1)
