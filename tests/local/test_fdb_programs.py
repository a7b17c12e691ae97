"""FoundationDB in pods of a local cluster: both layouts of images, run by the node agent.

Where this machine has no FoundationDB 7.3 it is the stand-in, and each test says so.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from stateward.app.etcd.addresses import Loopback
from stateward.app.fdb.programs import add_fdb
from stateward.core.clock import SystemClock
from stateward.core.facts import Known
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.emulate.fdb.programs import shims
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.session import Session, Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status import health, processes
from stateward.kube.client import LogOptions
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, STATEFUL_SETS
from stateward.local.agent.images import built_in
from stateward.local.client import MemoryClient
from stateward.local.cluster import EmbeddedCluster, Plan, running
from stateward.local.documents import Document, loosely

VERSION = "7.3.79"
NAMES = ("fdb-0", "fdb-1", "fdb-2")
PATIENCE = 60.0
DOUBLE = Configuration(redundancy="double", storage_engine="ssd-2", logs=2)
#: As an operator writes them; ``$NAME`` and numbers of processes are filled in by the image.
WORDS = (
    "--cluster_file=/var/fdb/data/fdb.cluster",
    "--seed_cluster_file=/var/dynamic-conf/fdb.cluster",
    "--class=storage",
    "--logdir=/var/log/fdb-trace-logs",
    "--datadir=/var/fdb/data/1",
)


def key(name: str) -> ObjectKey:
    return ObjectKey("default", name)


def field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


ENV: list[Json] = [
    field("FDB_POD_NAME", "metadata.name"),
    field("FDB_POD_NAMESPACE", "metadata.namespace"),
    field("FDB_PUBLIC_IP", "status.podIP"),
    field("FDB_POD_IP", "status.podIP"),
    field("FDB_MACHINE_ID", "metadata.name"),
    field("FDB_ZONE_ID", "metadata.name"),
    field("FDB_INSTANCE_ID", "metadata.name"),
    {"name": "FDB_CLUSTER_FILE", "value": "/var/dynamic-conf/fdb.cluster"},
]
CONF = {"name": "conf", "mountPath": "/var/dynamic-conf"}
DATA = [
    {"name": "data", "mountPath": "/var/fdb/data"},
    {"name": "logs", "mountPath": "/var/log/fdb-trace-logs"},
]


def unified_config() -> str:
    """Return config.json as an operator writes it."""

    def named(option: str, variable: str) -> Json:
        pieces = [{"value": option}, {"type": "Environment", "source": variable}]
        return {"type": "Concatenate", "values": pieces}

    address = [
        {"value": "--public_address="},
        {"type": "Environment", "source": "FDB_PUBLIC_IP"},
        {"value": ":"},
        {"type": "ProcessNumber", "offset": 4499, "multiplier": 2},
    ]
    arguments = [
        *({"value": it} for it in WORDS),
        {"type": "Concatenate", "values": address},
        named("--locality_instance_id=", "FDB_INSTANCE_ID"),
        named("--locality_zoneid=", "FDB_ZONE_ID"),
    ]
    return json.dumps({"version": VERSION, "arguments": arguments})


def unified_pod() -> Json:
    main = {
        "name": "foundationdb",
        "image": f"foundationdb/fdb-kubernetes-monitor:{VERSION}",
        "args": ["--input-dir", "/var/dynamic-conf", "--log-path", "/var/log/fdb-trace-logs/m.log"],
        "env": ENV,
        "volumeMounts": [CONF, *DATA],
    }
    return {
        "containers": [main],
        "volumes": [
            {"name": "conf", "configMap": {"name": "fdb"}},
            {"name": "logs", "emptyDir": {}},
        ],
        "terminationGracePeriodSeconds": 5,
    }


def split_config() -> str:
    """Return fdbmonitor.conf as an operator writes it."""
    words = "\n".join(it.removeprefix("--").replace("=", " = ") for it in WORDS)
    return (
        "[general]\nkill_on_configuration_change = false\nrestart_delay = 60\n"
        f"[fdbserver.1]\ncommand = $BINARY_DIR/fdbserver\n{words}\n"
        "public_address = $FDB_PUBLIC_IP:4501\n"
        "locality_instance_id = $FDB_INSTANCE_ID\nlocality_zoneid = $FDB_ZONE_ID\n"
    )


def split_pod() -> Json:
    copying = {
        "image": f"foundationdb/foundationdb-kubernetes-sidecar:{VERSION}-1",
        "env": ENV,
        "volumeMounts": [
            {"name": "conf", "mountPath": "/var/input-files"},
            {"name": "dynamic", "mountPath": "/var/output-files"},
        ],
    }
    args = [
        *("--copy-file", "fdb.cluster", "--input-monitor-conf", "fdbmonitor.conf"),
        *("--copy-binary", "fdbserver", "--main-container-version", VERSION),
    ]
    script = (
        "fdbmonitor --conffile /var/dynamic-conf/fdbmonitor.conf"
        " --lockfile /var/dynamic-conf/fdbmonitor.lockfile"
    )
    main = {
        "name": "foundationdb",
        "image": f"foundationdb/foundationdb:{VERSION}",
        "command": ["sh", "-c", f"exec {script}"],
        "volumeMounts": [{"name": "dynamic", "mountPath": "/var/dynamic-conf"}, *DATA],
    }
    return {
        "initContainers": [{**copying, "name": "init", "args": [*args, "--init-mode"]}],
        "containers": [main, {**copying, "name": "sidecar", "args": args}],
        "volumes": [
            {"name": "conf", "configMap": {"name": "fdb"}},
            {"name": "dynamic", "emptyDir": {}},
            {"name": "logs", "emptyDir": {}},
        ],
        "terminationGracePeriodSeconds": 5,
    }


LAYOUTS: dict[str, tuple[Json, dict[str, str]]] = {
    "unified": (unified_pod(), {"config.json": unified_config()}),
    "split": (split_pod(), {"fdbmonitor.conf": split_config()}),
}


def stateful_set(pod: Json) -> Json:
    labels = {"app": "fdb"}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return {
        "metadata": {"namespace": "default", "name": "fdb"},
        "spec": {
            "replicas": len(NAMES),
            "serviceName": "fdb",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            "volumeClaimTemplates": [claim],
        },
    }


class World:
    """A local cluster with three processes of FoundationDB."""

    def __init__(self, cluster: EmbeddedCluster, admin: Fdbcli, addresses: list[Address]) -> None:
        self.client = MemoryClient(cluster.api, logs=cluster.agent.log)
        self.agent = cluster.agent
        self.admin, self.addresses = admin, addresses

    async def pod(self, name: str) -> Document:
        return await self.client.get(loosely(PODS), key(name))

    async def until(self, what: str, holds: Callable[[], Awaitable[Any]]) -> Any:
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    with suppress(NotFound):
                        if found := await holds():
                            return found
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"{what}: not within {PATIENCE:g} s") from None

    async def group(self, name: str) -> tuple[processes.Reporting, ...]:
        found = processes.roster(await self.admin.status())
        return tuple(found.value.groups.get(name, ())) if isinstance(found, Known) else ()

    async def started(self, name: str) -> float:
        """Return when a process was started, as far as it says so; 0: it is not there."""
        status = await self.admin.status()
        found = await self.group(name)
        return status.at - found[0].entry.uptime_seconds if found else 0.0

    async def log(self, name: str, container: str) -> str:
        options = LogOptions(container=container)
        return b"".join([it async for it in self.client.log(key(name), options)]).decode()


@asynccontextmanager
async def world(root: Path, layout: str) -> AsyncIterator[World]:
    pod, texts = LAYOUTS[layout]
    plan = Plan(root / "cluster", images=add_fdb(built_in(), (), root / "cluster"))
    programs = shims.install(root / "bin", VERSION)
    session = Session(
        Shared(Binaries([programs]), Turns(2), SystemClock()), "here", Version.parse(VERSION)
    )
    async with running(plan, Ports.of_this_machine(), tick=_hear, say=_hear) as cluster:
        book = Loopback(cluster.agent)
        addresses = [Address(book.host(key(it), "fdb"), 4501) for it in NAMES]
        string = ConnectionString("here", "abcdefgh", tuple(addresses))
        session.find_by(string)
        it = World(cluster, Fdbcli(session), addresses)
        where = {"namespace": "default", "name": "fdb"}
        data = {"fdb.cluster": f"{string}\n", **texts}
        await it.client.create(CONFIG_MAPS, {"metadata": where, "data": data})
        await it.client.create(loosely(STATEFUL_SETS), stateful_set(pod))
        try:
            yield it
        finally:
            session.close()


def _hear(_text: str) -> None:
    return


async def there(it: World, *names: str) -> bool:
    return all([await it.group(name) for name in names])


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_pods_are_a_database(tmp_path: Path, layout: str) -> None:
    async with world(tmp_path, layout) as it:
        await it.admin.create(DOUBLE)

        async def is_there() -> bool:
            return await there(it, *NAMES)

        await it.until("all three belong to it", is_there)
        status = await it.admin.status()
        available = health.is_available(status)
        assert isinstance(available, Known)
        assert available.value is True
        (one,) = await it.group("fdb-1")
        assert one.addresses == (it.addresses[1],)
        # What an operator compares: the words as it wrote them, not where things are here.
        assert "--datadir=/var/fdb/data/1" in (one.entry.command_line or "").replace(" /", "=/")


async def test_a_killed_process_is_started_again_in_its_container(tmp_path: Path) -> None:
    async with world(tmp_path, "unified") as it:
        await it.admin.create(DOUBLE)
        before = await it.until("it is there", lambda: it.started("fdb-2"))
        await it.admin.kill([it.addresses[2]])

        async def is_younger() -> bool:
            return await it.started("fdb-2") > before + 1

        await it.until("it is back", is_younger)
        pod = await it.pod("fdb-2")
        assert pod.status["containerStatuses"][0]["restartCount"] == 0


async def test_the_launcher_writes_on_its_pod_what_is_in_force(tmp_path: Path) -> None:
    async with world(tmp_path, "unified") as it:

        async def written() -> str:
            notes = (await it.pod("fdb-0")).metadata.annotations
            return str(notes.get("foundationdb.org/launcher-current-configuration", ""))

        found = json.loads(await it.until("it is written", written))
        assert found["version"] == VERSION


async def test_a_pod_that_is_killed_comes_back_with_its_disk(tmp_path: Path) -> None:
    async with world(tmp_path, "unified") as it:
        await it.admin.create(DOUBLE)
        (before,) = await it.until("it is there", lambda: it.group("fdb-2"))
        it.agent.faults.kill(key("fdb-2"))

        async def is_back() -> bool:
            pod = await it.pod("fdb-2")
            restarted = pod.status["containerStatuses"][0]["restartCount"] == 1
            return restarted and bool(await it.group("fdb-2"))

        await it.until("it is back", is_back)
        (after,) = await it.group("fdb-2")
        assert after.key == before.key


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_people_read_that_it_is_emulated(tmp_path: Path, layout: str) -> None:
    async with world(tmp_path, layout) as it:
        await it.until("it is there", lambda: _running(it, "fdb-0"))
        pod = await it.pod("fdb-0")
        for status in pod.status["containerStatuses"]:
            assert status["imageID"].startswith("EMULATED://foundationdb/")

        async def banner() -> bool:
            text = await it.log("fdb-0", "foundationdb")
            return "EMULATED" in text.partition("\n")[0]

        await it.until("its log says so", banner)


async def _running(it: World, name: str) -> bool:
    pod = await it.pod(name)
    found = pod.status.get("containerStatuses") or [{"state": {}}]
    return all("running" in one["state"] for one in found)


async def test_the_sidecar_answers_in_the_pod(tmp_path: Path) -> None:
    async with world(tmp_path, "split") as it:
        await it.until("it runs", lambda: _running(it, "fdb-0"))
        url = f"http://{it.addresses[0].host}:8080"

        async def substitutions() -> dict[str, str]:
            try:
                async with (
                    aiohttp.ClientSession() as session,
                    session.get(f"{url}/substitutions") as answer,
                ):
                    found: dict[str, str] = json.loads(await answer.text())
                    return found
            except aiohttp.ClientError:
                return {}

        found = await it.until("the sidecar answers", substitutions)
        assert found["FDB_INSTANCE_ID"] == "fdb-0"
        assert found["FDB_PUBLIC_IP"] == it.addresses[0].host


async def test_a_tag_that_names_no_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    images = add_fdb(built_in(), (), tmp_path / "cluster")
    plan = Plan(tmp_path / "cluster", images=images)
    async with running(plan, Ports.of_this_machine(), tick=_hear, say=_hear) as cluster:
        client = MemoryClient(cluster.api)
        one = {"name": "a", "image": "foundationdb/fdb-kubernetes-monitor:latest"}
        pod = {"metadata": {"namespace": "default", "name": "p"}, "spec": {"containers": [one]}}
        await client.create(loosely(PODS), pod)
        async with asyncio.timeout(PATIENCE):
            while True:
                found = (await client.get(loosely(PODS), key("p"))).status
                state = (found.get("containerStatuses") or [{"state": {}}])[0]["state"]
                if "must name a version" in str(state):
                    return
                await asyncio.sleep(0.05)
