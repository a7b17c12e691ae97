"""The virtual nodes: their objects, their leases, and whether they can be reached."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import structlog

from stateward.core.clock import Clock
from stateward.core.errors import StatewardError
from stateward.core.moments import to_rfc3339, to_rfc3339_micro
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES, NAMESPACES, NODES, Resource
from stateward.kube.schemas import vendored

LEASE_NAMESPACE = "kube-node-lease"
VERSION = f"v{vendored().kubernetes}-stateward"

#: Seconds between two renewals of a lease, for which a lease is good, and between status writes.
RENEW = 5.0
LEASE = 40
REPORT = 60.0

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
#: What a node is asked about, and what it says as long as all is well.
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "there is enough memory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "there is enough room on disk"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "there are enough process numbers"),
)


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A virtual node as asked for; amounts are quantities as Kubernetes writes them."""

    name: str
    zone: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Json] = ()
    cpu: str = "8"
    memory: str = "16Gi"
    pods: str = "110"
    storage: str = "100Gi"


class Node:
    """A virtual node as it is."""

    def __init__(self, spec: NodeSpec, address: str) -> None:
        self.spec = spec
        self.address = address
        #: Where it answers the API server; 0: nowhere.
        self.port = 0
        #: Cleared while the node is lost: it then hears nothing and tells nothing.
        self.reachable = asyncio.Event()
        self.reachable.set()
        #: True while its pods are ended and it says that it is not ready.
        self.stopped = False

    @property
    def allocatable(self) -> dict[str, str]:
        """What its pods may use."""
        spec = self.spec
        return {
            "cpu": spec.cpu,
            "memory": spec.memory,
            "pods": spec.pods,
            "ephemeral-storage": spec.storage,
        }


def labels_of(spec: NodeSpec) -> dict[str, str]:
    """Return the labels of a node."""
    machine = platform.machine()
    zone = {"topology.kubernetes.io/zone": spec.zone} if spec.zone else {}
    return {
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": _ARCHITECTURES.get(machine, machine),
        **zone,
        **spec.labels,
    }


def status_of(node: Node, old: Json, now: float) -> Json:
    """Return the status of a node; conditions keep the time since which they hold."""
    ready = (
        ("Ready", "False", "KubeletStopped", "the node was stopped")
        if node.stopped
        else ("Ready", "True", "KubeletReady", "the agent runs pods")
    )
    before = {it.get("type"): it for it in old.get("conditions") or ()}
    system = os.uname()
    return {
        "conditions": [_condition(it, before, now) for it in (*_CONDITIONS, ready)],
        "capacity": node.allocatable,
        "allocatable": node.allocatable,
        "addresses": [
            {"type": "InternalIP", "address": node.address},
            {"type": "Hostname", "address": node.spec.name},
        ],
        "nodeInfo": {
            "architecture": labels_of(node.spec)["kubernetes.io/arch"],
            "bootID": "",
            "containerRuntimeVersion": "stateward://processes",
            "kernelVersion": system.release,
            "kubeProxyVersion": "",
            "kubeletVersion": VERSION,
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": system.sysname,
            "systemUUID": "",
        },
        "daemonEndpoints": {"kubeletEndpoint": {"Port": node.port}},
    }


def _condition(words: tuple[str, str, str, str], before: Mapping[str, Json], now: float) -> Json:
    kind, status, reason, message = words
    was = before.get(kind) or {}
    since = was.get("lastTransitionTime") if was.get("status") == status else None
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": to_rfc3339(now),
        "lastTransitionTime": since or to_rfc3339(now),
    }


class NodeKeeper:
    """Registers nodes and keeps saying that they are there."""

    def __init__(self, client: Client, clock: Clock, nodes: Iterable[Node]) -> None:
        self._client = client
        self._clock = clock
        self._nodes = {node.spec.name: node for node in nodes}
        self._told: dict[str, Json] = {}
        self._log = structlog.get_logger("agent")

    async def run(self) -> None:
        """Keep up the nodes until cancelled; whatever the server does, go on."""
        async with asyncio.TaskGroup() as group:
            for node in self._nodes.values():
                group.create_task(self._keep(node))

    async def register(self) -> None:
        """Make sure that every node has its object and its lease."""
        await self._create_namespace()
        for node in self._nodes.values():
            await self._register(node)

    async def report(self, node: Node) -> None:
        """Write the status of a node; a lost one is silent.

        One that somebody deleted stays so until the next agent registers it.
        """
        if not node.reachable.is_set():
            return
        key, now = ObjectKey("", node.spec.name), self._clock.now()
        status = status_of(node, self._told.get(node.spec.name, {}), now)
        try:
            await self._client.patch(
                NODES, key, MergePatch({"status": status}), subresource="status"
            )
        except NotFound:
            self._log.warning("node was deleted, and stays so until a restart", node=key.name)
        else:
            self._told[key.name] = status

    async def _keep(self, node: Node) -> None:
        due = self._clock.monotonic() + REPORT
        while True:
            await self._clock.sleep(RENEW)
            await node.reachable.wait()
            if node.stopped:
                continue
            try:
                await self.renew(node)
                if self._clock.monotonic() >= due:
                    due = self._clock.monotonic() + REPORT
                    await self.report(node)
            except StatewardError as error:
                self._log.warning("node not kept up", node=node.spec.name, error=error.sentence())

    async def _create_namespace(self) -> None:
        with suppress(AlreadyExists):
            body = {"metadata": {"name": LEASE_NAMESPACE}}
            await self._client.create(NAMESPACES, _typed(NAMESPACES, body))

    async def _register(self, node: Node) -> None:
        spec, now = node.spec, self._clock.now()
        status = status_of(node, self._told.get(spec.name, {}), now)
        body: Json = {
            "metadata": {"name": spec.name, "labels": labels_of(spec)},
            "spec": {"taints": [dict(it) for it in spec.taints]} if spec.taints else {},
            "status": status,
        }
        key = ObjectKey("", spec.name)
        try:
            await self._client.create(NODES, _typed(NODES, body))
        except AlreadyExists:
            await self._client.patch(
                NODES, key, MergePatch({"metadata": {"labels": labels_of(spec)}})
            )
        await self._client.patch(NODES, key, MergePatch({"status": status}), subresource="status")
        self._told[spec.name] = status
        await self.renew(node)

    async def renew(self, node: Node) -> None:
        """Say that a node is there, for as long as a lease is good."""
        name = node.spec.name
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE,
            "renewTime": to_rfc3339_micro(self._clock.now()),
        }
        key = ObjectKey(LEASE_NAMESPACE, name)
        try:
            await self._client.patch(LEASES, key, MergePatch({"spec": spec}))
        except NotFound:
            await self._create_namespace()
            metadata = {"namespace": LEASE_NAMESPACE, "name": name}
            with suppress(AlreadyExists):
                body = {"metadata": metadata, "spec": spec}
                await self._client.create(LEASES, _typed(LEASES, body))


def _typed(resource: Resource[Any], body: Json) -> Json:
    return {"apiVersion": resource.api_version, "kind": resource.kind, **body}
