"""A whole cluster in this process, an operator in it that can be crashed, and real etcd.

    async with world("embedded", etcd="3.6") as it:
        async with it.operating():
            await it.create("shop", replicas=3)
            await it.ready("shop")

Control planes: ``embedded`` always, ``real`` with --real. A story takes ``plane`` (see conftest).
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stateward.app.etcd import available
from stateward.app.etcd.addresses import Loopback
from stateward.app.etcd.programs import images_with_etcd
from stateward.app.etcd.writer import Writer
from stateward.app.kinds import definitions
from stateward.app.local import ControlPlane, running
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Dialer, Endpoint, MemberApi, Trust
from stateward.etcd.model.names import CLIENT_PORT
from stateward.etcd.operator import LEASE, EtcdOptions, assemble
from stateward.kube import conditions
from stateward.kube.client import Client, MergePatch, Selection
from stateward.kube.errors import ApiError
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.kube.resources import CUSTOM_RESOURCES, NAMESPACES, PODS, VOLUME_CLAIMS
from stateward.local.cluster import Cluster, Plan
from stateward.runtime.election import Terms
from stateward.runtime.telling.metrics import Metrics

#: Seconds after which a story gives up. Long, because a machine may be busy with others' work: what
#: comes late is no failure, and what never comes is one also then.
PATIENCE = 300.0
#: How long a story waits for etcd's own word, for the same reason.
UNHURRIED = Deadlines(connect=20.0, reads=20.0, changes=20.0, keys=20.0)


def version_of(minor: str) -> str:
    """Return the newest etcd of a minor release that this machine has, preferring a real one."""
    found = available.available()
    fitting = [it.version for it in found if f"{it.version.major}.{it.version.minor}" == minor]
    if not fitting:
        best = available.best(found)
        assert best is not None, "no etcd at all is on this machine"
        return str(best.version)
    return str(max(fitting))


@dataclass(slots=True)
class World:
    """A cluster, a client of the user's own, and a namespace of the story's own."""

    cluster: Cluster
    client: Client
    ports: Ports
    namespace: str
    version: str
    folder: Path
    #: As the operator asks etcd.
    dialer: Connections
    #: As the story asks it where an answer must come.
    unhurried: Connections
    operators: int = 0
    _metrics: list[Metrics] = field(default_factory=list)

    def key(self, name: str) -> ObjectKey:
        """Return where something of the story is."""
        return ObjectKey(self.namespace, name)

    async def room(self, namespace: str) -> World:
        """Return the same world, seen from another namespace, which is made."""
        await self.client.create(NAMESPACES, {"metadata": {"name": namespace}})
        return replace(self, namespace=namespace, operators=0)

    # ------------------------------------------------------------------ the operator

    @asynccontextmanager
    async def operating(
        self,
        *,
        wrap: Callable[[Client], Client] = lambda it: it,
        dialer: Dialer | None = None,
        terms: Terms | None = None,
    ) -> AsyncGenerator[asyncio.Task[None], None]:
        """Run an operator for the namespace; leaving the block kills it where it stands.

        It acts alone, without a lease, unless the story is about that and gives its terms.
        """
        self.operators += 1
        name = f"operator-{self.operators}"
        access = from_kubeconfig([self.cluster.kubeconfig], {})
        ports = self.ports.stream(name)
        metrics = Metrics(ports.clock)
        self._metrics.append(metrics)
        options = EtcdOptions(
            dialer=dialer or self.dialer,
            book=Loopback(self.cluster.agent),
            namespaces=(self.namespace,),
            rescue=self.folder / "rescue",
            lease=ObjectKey(LEASE.namespace, f"etcd-{self.namespace}") if terms else None,
        )
        async with HttpClient(access, ports.clock, ports.chance, field_manager=name) as wire:
            operator = assemble(wrap(wire), ports, name, metrics, terms, options=options)
            task = asyncio.create_task(operator.run(asyncio.Event()))
            try:
                yield task
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    # ------------------------------------------------------------------ the user

    async def create(self, name: str, **spec: Any) -> None:
        """Ask for a cluster; small and patient enough for a test unless told otherwise."""
        usual = {"version": self.version, "unhealthyMemberGracePeriod": "20s"}
        body = {
            "apiVersion": ETCD_CLUSTERS.api_version,
            "kind": ETCD_CLUSTERS.kind,
            "metadata": {"namespace": self.namespace, "name": name},
            "spec": usual | spec,
        }
        await self.client.create(ETCD_CLUSTERS, body)

    async def edit(self, name: str, **spec: Any) -> None:
        """Change a cluster's spec."""
        await self.client.patch(ETCD_CLUSTERS, self.key(name), MergePatch({"spec": spec}))

    async def delete(self, name: str) -> None:
        """Delete a cluster."""
        found = await self.get(name)
        await self.client.delete(ETCD_CLUSTERS, self.key(name), uid=found.metadata.uid)

    # ------------------------------------------------------------------ what there is

    async def get(self, name: str) -> EtcdCluster:
        """Return a cluster as it is."""
        return await self.client.get(ETCD_CLUSTERS, self.key(name))

    async def pods(self, name: str) -> list[Pod]:
        """Return the pods of a cluster, by name."""
        return await self._of(PODS, name)

    async def claims(self, name: str) -> list[PersistentVolumeClaim]:
        """Return the claims of a cluster, by name."""
        return await self._of(VOLUME_CLAIMS, name)

    async def _of(self, resource: Any, name: str) -> list[Any]:
        chosen = Selection(self.namespace, labels=f"app.kubernetes.io/instance={name}")
        found = (await self.client.list(resource, chosen)).items
        return sorted(found, key=lambda it: it.metadata.name)

    async def until(
        self, name: str, holds: Callable[[EtcdCluster], bool], *, within: float = PATIENCE
    ) -> EtcdCluster:
        """Wait until something is true of a cluster; say how it stands when it does not come."""
        last = None
        try:
            async with asyncio.timeout(within):
                while True:
                    last = await self.get(name)
                    if holds(last):
                        return last
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"not within {within} s: {told(last)}") from None

    async def ready(self, name: str, *, within: float = PATIENCE) -> EtcdCluster:
        """Wait until a cluster is Ready, by the word of the spec that it has now."""
        return await self.until(name, is_ready, within=within)

    # ------------------------------------------------------------------ etcd itself

    def door(self, pod: Pod, trust: Trust | None = None) -> MemberApi:
        """Return how a client asks the etcd of a pod that will answer."""
        return self.unhurried.dial(_client_port(pod, trust))

    def glance(self, pod: Pod, trust: Trust | None = None) -> MemberApi:
        """Return how a client asks the etcd of a pod that may well not answer."""
        return self.dialer.dial(_client_port(pod, trust))

    @asynccontextmanager
    async def writing(self, name: str, trust: Trust | None = None) -> AsyncGenerator[Writer, None]:
        """Write to a cluster all the while."""
        doors: list[MemberApi] = []

        async def look() -> None:
            doors[:] = [self.glance(it, trust) for it in await self.pods(name) if it.status.pod_ip]

        async def keep_looking() -> None:
            while True:
                await asyncio.sleep(0.2)
                await look()

        await look()
        writer = Writer(lambda: tuple(doors), self.ports.clock)
        tasks = [asyncio.create_task(keep_looking()), asyncio.create_task(writer.run())]
        try:
            yield writer
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _client_port(pod: Pod, trust: Trust | None) -> Endpoint:
    return Endpoint(pod.status.pod_ip, CLIENT_PORT, trust, pod.status.pod_ip)


def is_ready(cluster: EtcdCluster) -> bool:
    """Tell whether a cluster is Ready, by the word of the spec that it has now."""
    found = conditions.find(cluster.status.conditions, "Ready")
    return (
        found is not None
        and found.status == "True"
        and found.observed_generation == cluster.metadata.generation
    )


def said(cluster: EtcdCluster, type_: str) -> tuple[str, str]:
    """Return what a condition says: its status and its reason."""
    found = conditions.find(cluster.status.conditions, type_)
    return (found.status, found.reason) if found else ("", "")


@asynccontextmanager
async def world(
    plane: str, *, etcd: str = "3.6", namespace: str = "story"
) -> AsyncGenerator[World, None]:
    """Run a cluster with our kinds for the length of a block."""
    ports = Ports.of_this_machine()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="etcd-story-")))
        plan = Plan(folder / "cluster", images=images_with_etcd(available.available()))
        kind = ControlPlane(plane)
        cluster = await stack.enter_async_context(
            running(kind, plan, ports, tick=lambda _: None, say=lambda _: None)
        )
        access = from_kubeconfig([cluster.kubeconfig], {})
        wire = HttpClient(access, ports.clock, ports.chance.stream("you"), field_manager="you")
        client = await stack.enter_async_context(wire)
        for definition in definitions().values():
            await client.create(CUSTOM_RESOURCES, definition)
        await _until_served(client)
        for name in (namespace, LEASE.namespace):
            await client.create(NAMESPACES, {"metadata": {"name": name}})
        dialers = (Connections(), Connections(UNHURRIED))
        for dialer in dialers:
            stack.push_async_callback(dialer.close)
        yield World(cluster, client, ports, namespace, version_of(etcd), folder, *dialers)


async def _until_served(client: Client) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(ApiError):  # a kind that is new is a page not found, for a moment
                await client.list(ETCD_CLUSTERS)
                return
            await asyncio.sleep(0.1)


def told(cluster: EtcdCluster | None) -> str:
    """Return how a cluster stands, in the operator's words."""
    if cluster is None:
        return "there is no such cluster"
    status = cluster.status
    rows = [f"{it.name} {it.role} {it.message}" for it in status.members]
    said = [f"{it.type}={it.status} {it.reason}" for it in status.conditions]
    words = [status.doing, *rows, *said, *(it.message for it in status.blockers)]
    return "\n  ".join([f"{cluster.metadata.name} wants {cluster.spec.replicas}", *words])
