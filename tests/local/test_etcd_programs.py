"""Real etcd in pods of a local cluster: started for its image, on addresses known beforehand.

Each test says which etcd it runs on; without ``make real`` that is the one of a package.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from stateward.app.etcd.addresses import Loopback, LoopbackFile
from stateward.app.etcd.available import Found, available
from stateward.app.etcd.programs import StandIn, images_with_etcd
from stateward.core.ports import Ports
from stateward.kube.client import LogOptions
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.agent.images import Images
from stateward.local.client import MemoryClient
from stateward.local.cluster import EmbeddedCluster, Plan, running
from stateward.local.documents import Document, loosely

FOUND = available()
PATIENCE = 30.0
NAMES = ("db-0", "db-1", "db-2")


def newest() -> Found:
    return max(FOUND, key=lambda it: it.version)


def key(name: str) -> ObjectKey:
    return ObjectKey("default", name)


@asynccontextmanager
async def cluster_with(root: Path, images: Images) -> AsyncGenerator[EmbeddedCluster, None]:
    def hear(_text: str) -> None:
        return

    plan = Plan(root / "cluster", images=images)
    async with running(plan, Ports.of_this_machine(), tick=hear, say=hear) as cluster:
        yield cluster


def container(image: str) -> Json:
    ready = {"httpGet": {"path": "/health?serializable=true", "port": 2379}, "periodSeconds": 1}
    return {
        "name": "etcd",
        "image": image,
        "command": ["etcd"],
        "args": [
            "--name=$(POD_NAME)",
            "--data-dir=/var/run/etcd/default.etcd",
            "--listen-peer-urls=https://$(POD_IP):2380",
            "--listen-client-urls=http://$(POD_IP):2379",
            "--advertise-client-urls=http://$(POD_IP):2379",
            "--initial-advertise-peer-urls=https://$(POD_IP):2380",
            "--peer-auto-tls",
        ],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ],
        "envFrom": [{"configMapRef": {"name": "db-cluster-state"}}],
        "volumeMounts": [{"name": "data", "mountPath": "/var/run/etcd"}],
        "readinessProbe": ready,
    }


def members(image: str, replicas: int) -> Json:
    labels = {"app": "db"}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    pod = {"containers": [container(image)], "terminationGracePeriodSeconds": 5}
    return {
        "metadata": {"namespace": "default", "name": "db"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db-headless",
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            "volumeClaimTemplates": [claim],
        },
    }


async def start(cluster: EmbeddedCluster, image: str, replicas: int) -> MemoryClient:
    """Make a cluster of etcd by a list of addresses that nobody has yet."""
    client = MemoryClient(cluster.api, logs=cluster.agent.log)
    book = Loopback(cluster.agent)
    peers = {name: book.host(key(name), "db-headless") for name in NAMES[:replicas]}
    state = {
        "ETCD_INITIAL_CLUSTER": ",".join(f"{it}=https://{peers[it]}:2380" for it in peers),
        "ETCD_INITIAL_CLUSTER_STATE": "new",
    }
    where = {"namespace": "default", "name": "db-cluster-state"}
    await client.create(CONFIG_MAPS, {"metadata": where, "data": state})
    await client.create(loosely(STATEFUL_SETS), members(image, replicas))
    return client


async def until(what: str, holds: Any) -> Any:
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(NotFound):
                    if found := await holds():
                        return found
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"{what}: not within {PATIENCE:g} s")


async def ready(client: MemoryClient, replicas: int) -> list[Document]:
    async def holds() -> bool:
        found = await client.get(loosely(STATEFUL_SETS), key("db"))
        return found.status.get("readyReplicas") == replicas

    await until(f"{replicas} members are ready", holds)
    return [await client.get(loosely(PODS), key(name)) for name in NAMES[:replicas]]


async def ask(pod: Document, path: str, body: Json) -> Any:
    url = f"http://{pod.status['podIP']}:2379{path}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        return json.loads(await answer.text())


async def test_three_members_find_each_other_by_addresses_known_beforehand(tmp_path: Path) -> None:
    found = newest()
    images = images_with_etcd(FOUND)
    async with cluster_with(tmp_path, images) as cluster:
        outside = LoopbackFile(tmp_path / "cluster")
        foretold = {name: outside.host(key(name), "db-headless") for name in NAMES}
        client = await start(cluster, f"quay.io/coreos/etcd:v{found.version}", 3)
        pods = await ready(client, 3)
        assert {it.metadata.name: it.status["podIP"] for it in pods} == foretold

        await ask(pods[0], "/v3/kv/put", {"key": "YQ==", "value": "MQ=="})
        read = await ask(pods[2], "/v3/kv/range", {"key": "YQ=="})
        assert read["kvs"][0]["value"] == "MQ=="
        status = await ask(pods[1], "/v3/maintenance/status", {})
        assert status["version"] == str(found.version), f"this test runs on {found}"
        listed = (await ask(pods[1], "/v3/cluster/member/list", {}))["members"]
        assert sorted(it["name"] for it in listed) == list(NAMES)


async def test_a_member_whose_claim_is_deleted_comes_back_with_an_empty_volume(
    tmp_path: Path,
) -> None:
    async with cluster_with(tmp_path, images_with_etcd(FOUND)) as cluster:
        client = await start(cluster, f"quay.io/coreos/etcd:v{newest().version}", 1)
        before = (await ready(client, 1))[0]
        claim = await client.get(VOLUME_CLAIMS, key("data-db-0"))

        await client.delete(VOLUME_CLAIMS, key("data-db-0"), uid=claim.metadata.uid)
        waits = await client.get(VOLUME_CLAIMS, key("data-db-0"))
        assert waits.metadata.deleting
        await client.delete(PODS, key("db-0"), uid=before.metadata.uid)

        async def is_another() -> bool:
            pod = (await client.list(PODS)).items
            return bool(pod) and pod[0].metadata.uid != before.metadata.uid

        await until("another pod", is_another)
        after = (await ready(client, 1))[0]
        fresh = await client.get(VOLUME_CLAIMS, key("data-db-0"))
        assert fresh.metadata.uid != claim.metadata.uid
        assert after.status["podIP"] == before.status["podIP"]


async def test_a_member_whose_volume_is_emptied_under_its_feet_has_forgotten_everything(
    tmp_path: Path,
) -> None:
    async with cluster_with(tmp_path, images_with_etcd(FOUND)) as cluster:
        client = await start(cluster, f"quay.io/coreos/etcd:v{newest().version}", 1)
        (pod,) = await ready(client, 1)
        await ask(pod, "/v3/kv/put", {"key": "YQ==", "value": "MQ=="})
        assert "kvs" in await ask(pod, "/v3/kv/range", {"key": "YQ=="})

        await cluster.agent.faults.wipe(key("data-db-0"))
        cluster.agent.faults.kill(key("db-0"))

        async def is_back() -> bool:
            said = (await client.get(loosely(PODS), key("db-0"))).status["containerStatuses"][0]
            return said["restartCount"] == 1 and said["ready"]

        await until("it is back", is_back)
        assert "kvs" not in await ask(pod, "/v3/kv/range", {"key": "YQ=="})


async def test_a_stand_in_says_so_first_on_its_log(tmp_path: Path) -> None:
    found = newest()
    wanted = f"{found.version.major}.{found.version.minor + 1}.0"
    image = f"registry.k8s.io/etcd:{wanted}-0"
    async with cluster_with(tmp_path, images_with_etcd(FOUND, StandIn.ANY)) as cluster:
        client = await start(cluster, image, 1)
        await ready(client, 1)
        text = b"".join([it async for it in client.log(key("db-0"), LogOptions())]).decode()

    assert text.splitlines()[0].startswith(
        f"stateward: etcd {wanted} is not on this machine, {found} runs in its place"
    )
    assert len(text.splitlines()) > 1


async def test_without_a_stand_in_the_pod_waits_and_says_what_there_is(tmp_path: Path) -> None:
    async with cluster_with(tmp_path, images_with_etcd(FOUND)) as cluster:
        client = await start(cluster, "gcr.io/etcd-development/etcd:v3.99.0", 1)

        async def refused() -> str:
            pod = await client.get(loosely(PODS), key("db-0"))
            state = (pod.status.get("containerStatuses") or [{"state": {}}])[0]["state"]
            waiting = state.get("waiting") or {}
            return (
                str(waiting.get("message", "")) if "ImagePull" in waiting.get("reason", "") else ""
            )

        message = await until("it is refused", refused)

    assert "etcd 3.99 must be on this machine" in message
    assert str(newest().version) in message
