"""The same steps, asked of Kubernetes: a local cluster and a real operator process on it.

Ready is not believed: a step ends when the status says Ready for the spec as it is now *and* every
wanted member, asked directly, has a vote and answers after asking a majority.
"""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from stateward.app.kinds import definitions
from stateward.core.errors import PeerError
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Endpoint
from stateward.etcd.model.names import CLIENT_PORT
from stateward.kube import conditions
from stateward.kube.client import Client, MergePatch, Selection
from stateward.kube.errors import NotFound
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import CUSTOM_RESOURCES, LEASES, PODS, VOLUME_CLAIMS
from tools.bench.etcd.raw import dying_with_us, fill
from tools.bench.kubernetes import Server
from tools.bench.ports import free_ports

NAMESPACE = "default"
_STATEWARD = str(Path(sys.executable).parent / "stateward")
_LOOK, _PATIENCE = 0.02, 240.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A cluster of Kubernetes with an operator, as a user of kubectl has it."""

    client: Client
    dialer: Connections
    operator: Server
    session: aiohttp.ClientSession

    async def create(self, name: str, version: str, replicas: int) -> None:
        """Ask for an etcd; wait until it is ready."""
        metadata = {"namespace": NAMESPACE, "name": name}
        spec = {"replicas": replicas, "version": version}
        await self.client.create(ETCD_CLUSTERS, {"metadata": metadata, "spec": spec})
        await self.ready(name)

    async def delete(self, name: str) -> None:
        """Delete a cluster; wait until its pods are gone."""
        uid = (await self.get(name)).metadata.uid
        await self.client.delete(ETCD_CLUSTERS, _key(name), uid=uid)
        async with asyncio.timeout(_PATIENCE):
            while True:
                if not await self._pods(name):
                    return
                await asyncio.sleep(_LOOK)

    async def fill(self, name: str) -> None:
        """Write a few keys."""
        pod = (await self._pods(name))[0]
        await fill(self.dialer.dial(Endpoint(pod.status.pod_ip, CLIENT_PORT)))

    async def edit(self, name: str, **spec: Any) -> None:
        """Change what is asked for; wait until it is so."""
        await self.client.patch(ETCD_CLUSTERS, _key(name), MergePatch({"spec": spec}))
        await self.ready(name)

    async def roll(self, name: str, **spec: Any) -> None:
        """Change what makes every member restart; wait until each has."""
        before = {it.metadata.uid for it in await self._pods(name)}
        await self.edit(name, **spec)
        kept = before & {it.metadata.uid for it in await self._pods(name)}
        if kept:
            raise RuntimeError(f"{name} was ready with {len(kept)} members from before the change")

    async def delete_pod(self, name: str, number: int) -> None:
        """Delete a pod; wait until another one in its place is well."""
        key = _key(f"{name}-{number}")
        uid = (await self.client.get(PODS, key)).metadata.uid
        await self.client.delete(PODS, key, uid=uid)
        await self.ready(name, after=uid)

    async def lose_disk(self, name: str, number: int) -> None:
        """Delete a member's volume claim and its pod; wait until a new member took its place."""
        pod = await self.client.get(PODS, _key(f"{name}-{number}"))
        claim = await self.client.get(VOLUME_CLAIMS, _key(f"data-{name}-{number}"))
        former = {it.id for it in (await self.get(name)).status.members}
        await self.client.delete(VOLUME_CLAIMS, claim.metadata.key, uid=claim.metadata.uid)
        await self.client.delete(PODS, pod.metadata.key, uid=pod.metadata.uid)
        await self.ready(name, holds=lambda it: {m.id for m in it.status.members} != former)

    async def get(self, name: str) -> EtcdCluster:
        """Return a cluster as it is."""
        return await self.client.get(ETCD_CLUSTERS, _key(name))

    async def leader(self, name: str) -> int:
        """Return the number of the member that leads."""
        return int((await self.get(name)).status.leader.rpartition("-")[2])

    async def ready(
        self, name: str, *, after: str = "", holds: Callable[[EtcdCluster], bool] = lambda _: True
    ) -> None:
        """Wait until Ready is said, and true: by the members' own words."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                found = await self.get(name)
                if _is_ready(found) and holds(found) and await self._is_well(found, after):
                    return
                await asyncio.sleep(_LOOK)

    async def _is_well(self, cluster: EtcdCluster, after: str) -> bool:
        pods = await self._pods(cluster.metadata.name)
        if len(pods) != cluster.spec.replicas or any(it.metadata.uid == after for it in pods):
            return False
        return all(await asyncio.gather(*(self._votes(it, len(pods)) for it in pods)))

    async def _votes(self, pod: Pod, wanted: int) -> bool:
        with suppress(PeerError):
            roster = await self.dialer.dial(Endpoint(pod.status.pod_ip, CLIENT_PORT)).members()
            voters = [it for it in roster.members if it.started and not it.learner]
            return len(voters) == len(roster.members) == wanted
        return False

    async def _pods(self, name: str) -> list[Pod]:
        chosen = Selection(NAMESPACE, labels=f"app.kubernetes.io/instance={name}")
        return list((await self.client.list(PODS, chosen)).items)

    async def requests(self) -> float:
        """Return how many requests the operator has sent to the API server, by its metrics."""
        url = f"http://127.0.0.1:{self.operator.port}/metrics"
        async with self.session.get(url) as answer:
            text = await answer.text()
        counts = re.findall(r"^rest_client_requests_total{.*} (.*)$", text, re.MULTILINE)
        return sum(map(float, counts))


@asynccontextmanager
async def kept(folder: Path) -> AsyncGenerator[Kept, None]:
    """Run a local cluster and an operator, each a process of its own, for the length of a block."""
    async with AsyncExitStack() as stack:
        ground = _process(stack, "local", "up", "--data", str(folder))
        kubeconfig = folder / "kubeconfig"
        await _until_there(ground, kubeconfig)
        ports = Ports.of_this_machine()
        access = from_kubeconfig([kubeconfig], {})
        client = await stack.enter_async_context(HttpClient(access, ports.clock, ports.chance))
        for definition in definitions().values():
            await client.create(CUSTOM_RESOURCES, definition)
        # As an installation has it: a lease that nobody ever held can be taken at once.
        lease = {"namespace": NAMESPACE, "name": "stateward-etcd"}
        await client.create(LEASES, {"metadata": lease, "spec": {}})
        (port,) = free_ports(1)
        words = ["operator", "--kubeconfig", str(kubeconfig), "--addresses", str(folder)]
        words += ["--metrics-address", f"127.0.0.1:{port}", "--probe-address", "0"]
        process = _process(stack, *words, "--log-level", "warning")
        dialer = Connections()
        stack.push_async_callback(dialer.close)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        it = Kept(client, dialer, Server(port, process.pid), session)
        await _until_leads(it)
        yield it


def _process(stack: AsyncExitStack, *words: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*dying_with_us("TERM"), _STATEWARD, *words], stdout=subprocess.DEVNULL
    )

    async def end() -> None:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, 30)

    stack.push_async_callback(end)
    return process


async def _until_there(process: subprocess.Popen[bytes], kubeconfig: Path) -> None:
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(kubeconfig.exists):
            if process.poll() is not None:
                raise RuntimeError("the local cluster ended")
            await asyncio.sleep(_LOOK)
    await asyncio.sleep(1)  # until its nodes are ready


async def _until_leads(it: Kept) -> None:
    async with asyncio.timeout(40):
        while True:
            with suppress(aiohttp.ClientError, NotFound):
                await it.requests()
                lease = await it.client.get(LEASES, _key("stateward-etcd"))
                if lease.spec.holder_identity:
                    return
            await asyncio.sleep(_LOOK)


def _is_ready(cluster: EtcdCluster) -> bool:
    found = conditions.find(cluster.status.conditions, "Ready")
    return (
        found is not None
        and found.status == "True"
        and found.observed_generation == cluster.metadata.generation
    )


def _key(name: str) -> ObjectKey:
    return ObjectKey(NAMESPACE, name)
