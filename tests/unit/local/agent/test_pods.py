"""The life of a pod in virtual time: what its status says, and when."""

from __future__ import annotations

import asyncio
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from stateward.kube.client import MergePatch
from stateward.kube.resources import CONFIG_MAPS, NODES, PODS, VOLUME_CLAIMS
from stateward.local.catalog import VOLUMES
from unit.local.agent.acting import Acted
from unit.local.agent.stage import conditions, key, state, waiting
from unit.local.agent.theatre import Theatre, one, quits

pytestmark = pytest.mark.virtual


async def test_a_pod_that_just_runs(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server"))
        status = await stage.ready("p")

    assert status["phase"] == "Running"
    assert conditions(status) == dict.fromkeys(
        ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"),
        "True",
    )
    assert status["podIP"].startswith("127.")
    assert status["containerStatuses"][0]["started"]
    assert stage.named("server")[0].launch.env["HOSTNAME"] == "p"


async def test_a_settled_pod_is_not_written_again(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server", readinessProbe={"tcpSocket": {"port": 1}}))
        await stage.ready("p")
        await asyncio.sleep(5)
        before = (await stage.get("p")).metadata.resource_version
        await asyncio.sleep(3000)
        assert (await stage.get("p")).metadata.resource_version == before


async def test_restarts_wait_longer_each_time_and_are_forgiven(tmp_path: Path) -> None:
    began: list[float] = []
    lives = iter([0, 0, 0, 700, 0, 0])

    def script(acted: Acted) -> None:
        began.append(asyncio.get_running_loop().time())
        acted.end_after(next(lives, 10_000), 1)

    stage = Theatre(tmp_path, crash=script)
    async with stage.running():
        await stage.make("p", one("crash"))
        await stage.until("p", lambda it: waiting(it) == "CrashLoopBackOff", within=100)
        await asyncio.sleep(1000)
        status = await stage.status("p")

    gaps = [round(later - earlier) for earlier, later in pairwise(began)]
    assert gaps == [0, 10, 20, 700, 10, 20]
    assert status["containerStatuses"][0]["restartCount"] == 6
    assert status["phase"] == "Running"


@pytest.mark.parametrize(
    ("policy", "code", "phase", "starts"),
    [
        ("Never", 0, "Succeeded", 1),
        ("Never", 1, "Failed", 1),
        ("OnFailure", 0, "Succeeded", 1),
        ("OnFailure", 1, "Running", 2),
        ("Always", 0, "Running", 2),
    ],
)
async def test_what_a_policy_makes_of_an_end(
    tmp_path: Path, policy: str, code: int, phase: str, starts: int
) -> None:
    stage = Theatre(tmp_path, job=quits(code, 1.0))
    async with stage.running():
        await stage.make("p", one("job"), restartPolicy=policy)
        await asyncio.sleep(5)
        status = await stage.status("p")

    assert (status["phase"], len(stage.named("job"))) == (phase, starts)


async def test_init_containers_run_one_after_the_other_and_again_when_they_fail(
    tmp_path: Path,
) -> None:
    tries = iter([1, 0])
    stage = Theatre(tmp_path, a=lambda it: it.end_after(1, next(tries)), b=quits(0, 1))
    async with stage.running():
        await stage.make("p", one("server"), initContainers=[one("a", "a"), one("b", "b")])
        early = await stage.until(
            "p", lambda it: it["initContainerStatuses"][0]["state"].get("running")
        )
        assert (early["phase"], waiting(early), conditions(early)["Initialized"]) == (
            "Pending",
            "PodInitializing",
            "False",
        )
        status = await stage.ready("p")

    assert [it.launch.argv[0] for it in stage.actors.started] == ["a", "a", "b", "server"]
    assert [it["restartCount"] for it in status["initContainerStatuses"]] == [1, 0]


async def test_an_init_container_that_fails_for_good_fails_the_pod(tmp_path: Path) -> None:
    stage = Theatre(tmp_path, a=quits(3))
    async with stage.running():
        await stage.make("p", one("server"), initContainers=[one("a", "a")], restartPolicy="Never")
        await stage.until("p", lambda it: it["phase"] == "Failed")
    assert stage.named("server") == []


async def test_a_sidecar_stays_until_the_others_are_done(tmp_path: Path) -> None:
    stage = Theatre(tmp_path, job=quits(0, 5))
    async with stage.running():
        side = one("side", "side", restartPolicy="Always")
        await stage.make("p", one("job"), initContainers=[side], restartPolicy="Never")
        await stage.until("p", lambda it: it["phase"] == "Succeeded")
        await asyncio.sleep(1)
        assert stage.actors.running == []
        assert stage.named("side")[0].signals[0] == signal.SIGTERM


async def test_the_grace_and_that_it_can_be_made_shorter(tmp_path: Path) -> None:
    stage = Theatre(tmp_path, deaf=lambda it: it.ignores.add(signal.SIGTERM))
    async with stage.running():
        for name, shorter in (("slow", None), ("fast", 3)):
            await stage.make(name, one("deaf"))
            await stage.ready(name)
            began = stage.now
            await stage.delete(name, 20)
            await asyncio.sleep(1)
            if shorter is not None:
                await stage.delete(name, shorter)
            await stage.gone(name, within=30)
            assert stage.now - began == pytest.approx(shorter or 20, abs=0.5)
    assert stage.actors.started[0].signals == [signal.SIGTERM, signal.SIGKILL]


async def test_hooks_come_before_the_end_and_after_the_start(tmp_path: Path) -> None:
    hooks = {
        "postStart": {"exec": {"command": ["after"]}},
        "preStop": {"exec": {"command": ["before"]}},
    }
    stage = Theatre(tmp_path, after=quits(0, 1), before=quits(0, 2))
    async with stage.running():
        await stage.make("p", one("server", lifecycle=hooks))
        await stage.ready("p")
        assert stage.now >= 1
        server = stage.named("server")[0]
        await stage.delete("p", 30)
        await asyncio.sleep(1)
        assert server.signals == []
        await stage.gone("p")
        assert server.signals[0] == signal.SIGTERM
    assert [it.launch.argv[0] for it in stage.actors.started] == ["server", "after", "before"]


async def test_a_hook_that_fails_restarts_the_container(tmp_path: Path) -> None:
    hooks = {"postStart": {"exec": {"command": ["after"]}}}
    stage = Theatre(tmp_path, after=quits(1))
    async with stage.running():
        await stage.make("p", one("server", lifecycle=hooks))
        await stage.until("p", lambda it: it["containerStatuses"][0]["restartCount"] >= 1)
        assert "FailedPostStartHook" in await stage.events("p")


async def test_probes_decide_about_ready_and_alive(tmp_path: Path) -> None:
    http = {"httpGet": {"port": "web", "path": "/x"}, "periodSeconds": 5, "failureThreshold": 2}
    stage = Theatre(tmp_path)
    stage.wire.healthy = False
    async with stage.running():
        ports = [{"name": "web", "containerPort": 80}]
        await stage.make("p", one("server", ports=ports, readinessProbe=http, livenessProbe=http))
        await asyncio.sleep(0.5)
        assert conditions(await stage.status("p"))["Ready"] == "False"
        stage.wire.healthy = True
        await stage.ready("p")
        assert stage.now < 1
        stage.wire.healthy = False
        await stage.until(
            "p", lambda it: it["containerStatuses"][0]["restartCount"] == 1, within=30
        )
        assert stage.now == pytest.approx(10, abs=2)
        assert {"Unhealthy", "Killing"} <= set(await stage.events("p"))


async def test_a_startup_probe_holds_the_others_back(tmp_path: Path) -> None:
    probe = {"tcpSocket": {"port": 80}, "periodSeconds": 10, "failureThreshold": 3}
    stage = Theatre(tmp_path)
    stage.wire.healthy = False
    async with stage.running():
        await stage.make("p", one("server", startupProbe=probe))
        status = await stage.until("p", lambda it: state(it).get("running"))
        assert not status["containerStatuses"][0]["started"]
        await stage.until(
            "p", lambda it: it["containerStatuses"][0]["restartCount"] == 1, within=100
        )
        assert stage.now == pytest.approx(30, abs=2)
        stage.wire.healthy = True
        await stage.ready("p")


async def test_what_is_missing_is_waited_for(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "a"}}}]
    async with stage.running():
        await stage.make("p", one("server", env=env))
        status = await stage.until("p", lambda it: waiting(it) == "CreateContainerConfigError")
        assert state(status)["waiting"]["message"] == 'configmap "conf" not found'
        await asyncio.sleep(3)
        await stage.config_map("conf", a="1")
        await stage.ready("p")
        assert stage.now < 4
    assert stage.actors.started[0].launch.env["A"] == "1"


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
async def test_a_claim_must_be_bound_first_and_its_folder_stays(
    tmp_path: Path, policy: str
) -> None:
    stage = Theatre(tmp_path)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-p"}}]
    mounts = [{"name": "data", "mountPath": "/data"}]
    metadata = {"namespace": "ns", "name": "data-p"}
    async with stage.running():
        await stage.client.create(
            VOLUME_CLAIMS, {"metadata": metadata, "spec": {"volumeName": "pv-1"}}
        )
        await stage.make(
            "p", one("server", args=["--dir=/data/x"], volumeMounts=mounts), volumes=volumes
        )
        await asyncio.sleep(20)
        assert waiting(await stage.status("p")) == "ContainerCreating"
        assert "FailedMount" in await stage.events("p")
        spec = {"persistentVolumeReclaimPolicy": policy}
        made = await stage.client.create(VOLUMES, {"metadata": {"name": "pv-1"}, "spec": spec})
        bound = {"status": {"phase": "Bound"}}
        await stage.client.patch(
            VOLUME_CLAIMS, key("data-p"), MergePatch(bound), subresource="status"
        )
        await stage.ready("p")
        assert stage.actors.started[0].launch.argv[1] == f"--dir={tmp_path}/volumes/pv-1/x"
        await stage.delete("p", 1)
        await stage.gone("p")
        assert (tmp_path / "volumes/pv-1").exists()
        await stage.client.delete(VOLUMES, made.metadata.key, uid=made.metadata.uid)
        await asyncio.sleep(1)
        assert (tmp_path / "volumes/pv-1").exists() is (policy == "Retain")


async def test_a_pod_may_be_active_only_so_long(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server"), activeDeadlineSeconds=50)
        status = await stage.until("p", lambda it: it["phase"] == "Failed", within=100)
        assert status["reason"] == "DeadlineExceeded"
        assert stage.now == pytest.approx(50, abs=2)
        await asyncio.sleep(5)
        assert stage.actors.running == []


async def test_another_image_restarts_the_container(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server:1"))
        await stage.ready("p")
        await stage.patch("p", {"spec": {"containers": [one("server:2")]}})
        status = await stage.until(
            "p", lambda it: it["containerStatuses"][0]["image"] == "server:2"
        )
        assert status["containerStatuses"][0]["restartCount"] == 1


async def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    stage.actors.broken.add("server")
    async with stage.running():
        await stage.make("p", one("server"), restartPolicy="Never")
        status = await stage.until("p", lambda it: it["phase"] == "Failed")
        assert state(status)["terminated"]["reason"] == "StartError"


async def test_a_lost_node_is_silent_and_its_pods_live_on(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", one("server"))
        old = await stage.ready("p")
        agent.faults.lose_node("node-1")
        await stage.delete("p", 0)  # somebody gives it up and makes it anew elsewhere
        await stage.make("p", one("server"), node="node-2")
        new = await stage.ready("p")
        assert len(stage.actors.running) == 2
        assert new["podIP"] != old["podIP"]
        await agent.faults.return_node("node-1")
        await asyncio.sleep(5)
        assert len(stage.actors.running) == 1
        assert conditions(await stage.status("p"))["Ready"] == "True"


async def test_a_stopped_node_says_so_and_starts_its_pods_afresh(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", one("server"))
        await stage.ready("p")
        await agent.faults.stop_node("node-1")
        assert stage.actors.running == []
        node = await stage.client.get(NODES, key("node-1")._replace(namespace=""))
        assert {it.type: it.status for it in node.status.conditions}["Ready"] == "False"
        await agent.faults.return_node("node-1")
        await stage.until("p", lambda it: it["containerStatuses"][0]["restartCount"] == 1)


async def test_a_finalizer_holds_the_object_and_not_the_processes(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server"), meta={"finalizers": ["example.org/hold"]})
        await stage.ready("p")
        await stage.delete("p", 5)
        await asyncio.sleep(10)
        assert stage.actors.running == []
        assert (await stage.get("p")).metadata.deleting
        await stage.patch("p", {"metadata": {"finalizers": None}})
        await stage.gone("p")


async def test_conditions_of_others_stay_and_gates_are_heeded(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server"), readinessGates=[{"conditionType": "example.org/gate"}])
        status = await stage.until("p", lambda it: conditions(it)["ContainersReady"] == "True")
        assert conditions(status)["Ready"] == "False"
        opened = [*status["conditions"], {"type": "example.org/gate", "status": "True"}]
        await stage.client.patch(
            PODS, key("p"), MergePatch({"status": {"conditions": opened}}), subresource="status"
        )
        status = await stage.ready("p")
        assert conditions(status)["example.org/gate"] == "True"


async def test_config_files_follow_their_object(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    await stage.config_map("conf", a="1")
    async with stage.running():
        await stage.make(
            "p", one("server"), volumes=[{"name": "conf", "configMap": {"name": "conf"}}]
        )
        await stage.ready("p")
        file = tmp_path / "pods" / (await stage.get("p")).metadata.uid / "volumes/conf/a"
        assert file.read_text() == "1"
        await stage.client.patch(CONFIG_MAPS, key("conf"), MergePatch({"data": {"a": "2"}}))
        await asyncio.sleep(1)
        assert file.read_text() == "2"
