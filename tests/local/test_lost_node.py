"""A node that is lost, on a cluster in this process, with real pods on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stateward.core.ports import Ports
from stateward.kube import conditions
from stateward.kube.client import Selection
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import DEPLOYMENTS, NODES, PODS
from stateward.local.client import MemoryClient
from stateward.local.cluster import EmbeddedCluster, Plan, running
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


def pods(cluster: EmbeddedCluster) -> list[Pod]:
    return [PODS.read(it.text) for it in cluster.api.list(PODS, Selection("default")).items]


def is_ready(cluster: EmbeddedCluster, node: str) -> bool:
    found = NODES.read(cluster.api.get(NODES, ObjectKey("", node)).text)
    return conditions.is_true(found.status.conditions, "Ready")


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a cluster rings no bell
            await asyncio.sleep(0.05)


async def test_the_pods_of_a_lost_node_are_replaced_elsewhere_and_end_when_it_returns(
    tmp_path: Path,
):
    plan = Plan(tmp_path / "cluster", nodes=3, terms=HASTY)
    said: list[str] = []
    async with running(plan, Ports.of_this_machine(), tick=said.append, say=said.append) as cluster:
        client = MemoryClient(cluster.api)
        await client.create(DEPLOYMENTS, deployment(3))
        await until(lambda: sum(pod.ready for pod in pods(cluster)) == 3)
        lost = pods(cluster)[0].spec.node_name
        stranded = {pod.metadata.uid for pod in pods(cluster) if pod.spec.node_name == lost}

        cluster.agent.faults.lose_node(lost)

        def moved() -> bool:
            alive = [pod for pod in pods(cluster) if pod.ready and pod.spec.node_name != lost]
            return not is_ready(cluster, lost) and len(alive) == 3

        await until(moved)
        leaving = {pod.metadata.uid for pod in pods(cluster) if pod.metadata.deleting}
        assert leaving == stranded, "they are asked to leave, and nobody can say that they have"

        await cluster.agent.faults.return_node(lost)
        await until(lambda: is_ready(cluster, lost) and len(pods(cluster)) == 3)
        assert not stranded & {pod.metadata.uid for pod in pods(cluster)}
