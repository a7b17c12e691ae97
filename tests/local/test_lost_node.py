"""A node that is lost, on a cluster in this process, with real pods on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from stateward.app.local import ControlPlane, running
from stateward.core.ports import Ports
from stateward.kube import conditions
from stateward.kube.client import Client, Selection
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import DEPLOYMENTS, NODES, PODS
from stateward.local.cluster import Plan
from stateward.local.controllers.cluster.staff import Terms

#: A cluster that loses patience soon: heartbeats come every five seconds.
HASTY = Terms(lost_after=7.0, evict_after=1.0)


def deployment(replicas: int) -> dict[str, Any]:
    labels = {"app": "web"}
    container = {"name": "web", "image": "stateward.dev/web:1"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
    }
    return {
        "metadata": {"namespace": "default", "name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


async def pods(client: Client) -> list[Pod]:
    return list((await client.list(PODS, Selection("default"))).items)


async def is_ready(client: Client, node: str) -> bool:
    found = await client.get(NODES, ObjectKey("", node))
    return conditions.is_true(found.status.conditions, "Ready")


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - a cluster rings no bell
            await asyncio.sleep(0.05)


async def test_the_pods_of_a_lost_node_are_replaced_elsewhere_and_end_when_it_returns(
    tmp_path: Path, control_plane: str
):
    plan = Plan(tmp_path / "cluster", nodes=3, terms=HASTY)
    ports, said = Ports.of_this_machine(), []
    kind = ControlPlane(control_plane)
    async with running(kind, plan, ports, tick=said.append, say=said.append) as cluster:
        access = from_kubeconfig([cluster.kubeconfig], {})
        async with HttpClient(access, ports.clock, ports.chance) as client:
            await client.create(DEPLOYMENTS, deployment(3))
            await _lose_and_find(client, cluster.agent.faults)


async def _lose_and_find(client: Client, faults: Any) -> None:
    async def all_ready() -> bool:
        return sum(pod.ready for pod in await pods(client)) == 3

    await until(all_ready)
    found = await pods(client)
    lost = found[0].spec.node_name
    stranded = {pod.metadata.uid for pod in found if pod.spec.node_name == lost}

    faults.lose_node(lost)

    async def moved() -> bool:
        alive = [pod for pod in await pods(client) if pod.ready and pod.spec.node_name != lost]
        return not await is_ready(client, lost) and len(alive) == 3

    await until(moved)
    leaving = {pod.metadata.uid for pod in await pods(client) if pod.metadata.deleting}
    assert leaving == stranded, "they are asked to leave, and nobody can say that they have"

    await faults.return_node(lost)

    async def healed() -> bool:
        return await is_ready(client, lost) and len(await pods(client)) == 3

    await until(healed)
    assert not stranded & {pod.metadata.uid for pod in await pods(client)}
