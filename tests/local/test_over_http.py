"""The controllers, the scheduler and the nodes need nothing but the client port: here all go over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from stateward.core.ports import Ports
from stateward.kube.client import MergePatch, Selection
from stateward.kube.http.access import BearerToken, ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DEPLOYMENTS, PODS
from stateward.local.agent.agent import Agent
from stateward.local.agent.images import built_in
from stateward.local.agent.nodes import NodeSpec
from stateward.local.controllers.cluster import staff
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads import all as workloads
from stateward.local.scheduler import scheduler
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.runtime.telling.metrics import Metrics

WEB = ObjectKey("default", "web")


def deployment() -> dict[str, object]:
    labels = {"app": "web"}
    container = {"name": "web", "image": "stateward.dev/web:1"}
    pod = {"containers": [container], "terminationGracePeriodSeconds": 1}
    return {
        "metadata": {"namespace": WEB.namespace, "name": WEB.name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


async def test_a_deployment_runs_and_grows_with_everybody_on_the_wire(tmp_path: Path) -> None:
    ports, metrics = Ports.of_this_machine(), Metrics(Ports.of_this_machine().clock)
    api = served_api(ports)
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(ApiServer(api, ports, token="t").listening())
        access = ClusterAccess(url, credentials=BearerToken("t"))
        you, controllers, nodes = [
            await stack.enter_async_context(
                HttpClient(access, ports.clock, ports.chance.stream(name), field_manager=name)
            )
            for name in ("you", "controllers", "nodes")
        ]
        desk = Desk(controllers, ports.stream("desk"), metrics)
        workloads.employ(desk)
        scheduler.employ(desk)
        staff.employ(desk, lambda: [kind.resource for kind in api.kinds])
        agent = Agent(
            nodes, ports, nodes=[NodeSpec("n1"), NodeSpec("n2")], root=tmp_path, images=built_in()
        )
        working = asyncio.create_task(desk.run())
        stop = asyncio.Event()
        running = asyncio.create_task(agent.run(stop))
        try:
            await you.create(DEPLOYMENTS, deployment())
            await _until_ready(you, 2)
            await you.patch(DEPLOYMENTS, WEB, MergePatch({"spec": {"replicas": 4}}))
            await _until_ready(you, 4)
        finally:
            stop.set()
            await running
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def _until_ready(client: HttpClient, count: int) -> None:
    async with asyncio.timeout(40):
        while True:
            pods = (await client.list(PODS, Selection(WEB.namespace))).items
            if sum(pod.ready for pod in pods) == count:
                return
            await asyncio.sleep(0.05)
