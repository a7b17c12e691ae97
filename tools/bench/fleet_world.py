"""The world of a fleet: an API server with many clusters of etcd, whose members always answer well.

One process, until its standard input ends. Pods are paper: they are said to run, at addresses of the
loopback network, where one server answers for all members as a healthy etcd does. So what is
measured is the operator alone, and everything it asks goes over HTTP.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from typing import Any, Final

from aiohttp import web

from stateward.app.kinds import PRODUCTS, definitions
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.client import MergePatch, Selection
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, NAMESPACES, PODS
from stateward.local.client import MemoryClient
from stateward.local.cluster import at_work
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads import all as workloads
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.runtime.telling.metrics import Metrics
from tools.bench import pods as foreign
from tools.bench.kubernetes import TOKEN

NAMESPACE: Final = "fleet"
SIZE: Final = 3
_PORT: Final = 2379
_VERSION: Final = "3.6.16"
_STEP: Final = 0.2


def address(cluster: int, member: int) -> str:
    """Return where a member is."""
    return f"127.20.{cluster}.{member + 1}"


def name(cluster: int) -> str:
    """Return what a cluster is called."""
    return f"db-{cluster:03}"


# ------------------------------------------------------------------ members
def _header(cluster: int, member: int) -> dict[str, str]:
    return {
        "cluster_id": str(1000 + cluster),
        "member_id": str(_id(cluster, member)),
        "revision": "1",
        "raft_term": "2",
    }


def _id(cluster: int, member: int) -> int:
    return 10_000 + 10 * cluster + member


def _status(cluster: int, member: int) -> dict[str, Any]:
    return {
        "header": _header(cluster, member),
        "version": _VERSION,
        "dbSize": "32768",
        "dbSizeInUse": "16384",
        "leader": str(_id(cluster, 0)),
        "raftIndex": "10",
        "raftAppliedIndex": "10",
        "raftTerm": "2",
    }


def _members(cluster: int, member: int) -> dict[str, Any]:
    own = name(cluster)
    hosts = [f"{own}-{it}.{own}-headless.{NAMESPACE}.svc" for it in range(SIZE)]
    rows = [
        {
            "ID": str(_id(cluster, it)),
            "name": f"{own}-{it}",
            "peerURLs": [f"https://{host}:2380"],
            "clientURLs": [f"http://{host}:2379"],
        }
        for it, host in enumerate(hosts)
    ]
    return {"header": _header(cluster, member), "members": rows}


async def _answer(request: web.Request) -> web.Response:
    """Answer for the member at whose address we were called."""
    assert request.transport is not None  # noqa: S101 - somebody called
    _, _, cluster, member = request.transport.get_extra_info("sockname")[0].split(".")
    of = (int(cluster), int(member) - 1)
    if request.path.endswith("/status"):
        return web.json_response(_status(*of))
    if request.path.endswith("/member/list"):
        return web.json_response(_members(*of))
    raise web.HTTPNotImplemented(text=request.path)


async def _serve_members(clusters: int, stack: AsyncExitStack) -> None:
    app = web.Application()
    app.router.add_route("POST", "/{path:.*}", _answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    for cluster in range(clusters):
        for member in range(SIZE):
            await web.TCPSite(runner, address(cluster, member), _PORT).start()


# ------------------------------------------------------------------ Kubernetes
async def _play_kubelet(client: MemoryClient) -> None:
    """Say of every new pod that it runs."""
    ours = Selection(NAMESPACE, labels="app.kubernetes.io/managed-by=etcd-operator")
    while True:
        for pod in (await client.list(PODS, ours)).items:
            if not pod.status.pod_ip:
                await client.patch(
                    PODS,
                    pod.metadata.key,
                    MergePatch(_running(pod.metadata.key)),
                    subresource="status",
                )
        await asyncio.sleep(_STEP)


def _running(key: ObjectKey) -> dict[str, Any]:
    _, cluster, member = key.name.split("-")
    ready = [{"type": it, "status": "True"} for it in ("Initialized", "Ready", "ContainersReady")]
    began = "2026-01-01T00:00:00Z"
    container = {
        "name": "etcd",
        "ready": True,
        "started": True,
        "restartCount": 0,
        "image": f"etcd:v{_VERSION}",
        "imageID": "",
        "state": {"running": {"startedAt": began}},
    }
    return {
        "status": {
            "phase": "Running",
            "podIP": address(int(cluster), int(member)),
            "startTime": began,
            "conditions": ready,
            "containerStatuses": [container],
        }
    }


async def _fill(client: MemoryClient, clusters: int, others: int) -> None:
    """Ask for all clusters, among pods that are none of our business."""
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    for number in range(clusters * others):
        pod = foreign.pod(number, 1)
        metadata = {"name": pod["metadata"]["name"], "namespace": NAMESPACE, "labels": {"app": "x"}}
        await client.create(PODS, {"metadata": metadata, "spec": pod["spec"]})
    for number in range(clusters):
        metadata = {"name": name(number), "namespace": NAMESPACE}
        spec = {"replicas": SIZE, "version": _VERSION, "storage": {"emptyDir": {}}}
        await client.create(ETCD_CLUSTERS, {"metadata": metadata, "spec": spec})


async def main(clusters: int, others: int) -> None:
    """Be there until told to end; say the port of the API server once all is asked for."""
    ports = Ports.of_this_machine()
    api = served_api(ports)
    client = MemoryClient(api, field_manager="world")
    desk = Desk(client, ports.stream("controllers"), Metrics(ports.clock))
    workloads.employ(desk)
    async with AsyncExitStack() as stack:
        await _serve_members(clusters, stack)
        server = ApiServer(api, ports, token=TOKEN)
        url = await stack.enter_async_context(server.listening())
        await stack.enter_async_context(
            at_work({"controllers": desk.run(), "kubelet": _play_kubelet(client)})
        )
        for definition in definitions(PRODUCTS).values():
            await client.create(CUSTOM_RESOURCES, definition)
        await _fill(client, clusters, others)
        print(url.rpartition(":")[2], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
