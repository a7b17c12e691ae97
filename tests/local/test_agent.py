"""The agent with real processes: pods start, speak, fail, restart and end; nothing is left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from stateward.core.ports import Ports
from stateward.kube.client import MergePatch
from stateward.kube.resources import CONFIG_MAPS
from stateward.local.agent import orphans
from unit.local.agent.stage import Stage, conditions, container, key, sh, state, waiting

WEB = "stateward.dev/web:1"
PROBE = {
    "httpGet": {"path": "/healthz", "port": "http"},
    "periodSeconds": 1,
    "failureThreshold": 1,
}


def web(**more: Any) -> Any:
    ports = [{"name": "http", "containerPort": 8080}]
    return container(WEB, ports=ports, readinessProbe=PROBE, **more)


async def fetch(url: str) -> str:
    def read() -> str:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode().strip()

    return await asyncio.to_thread(read)


def stage_in(folder: Path, **means: Any) -> Stage:
    return Stage(Ports.of_this_machine(), folder, **means)


def nothing_left(stage: Stage) -> bool:
    return orphans.marked(orphans.name_of(stage.root)) == {}


async def test_three_web_pods_in_a_row_are_up_in_time(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    loop = asyncio.get_running_loop()
    async with stage.running():
        began = loop.time()
        addresses = []
        for name in ("web-0", "web-1", "web-2"):
            await stage.make(name, web(), node="node-1" if name != "web-1" else "node-2")
            addresses.append((await stage.ready(name))["podIP"])
        took = loop.time() - began
        pages = [await fetch(f"http://{it}:8080/") for it in addresses]

    assert pages == ["web-0", "web-1", "web-2"]
    assert len(set(addresses)) == 3
    assert took < 10, "in a second on an idle machine; a busy one is allowed more"
    assert nothing_left(stage)


async def test_what_a_pod_says_and_how_it_ended(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make(
            "job",
            sh("echo one; echo two >&2; echo last > /dev/termination-log; exit 3"),
            restartPolicy="Never",
        )
        status = await stage.until("job", lambda it: it["phase"] == "Failed")
        ended = state(status)["terminated"]

        assert (ended["exitCode"], ended["reason"], ended["message"]) == (3, "Error", "last\n")
        assert await stage.log("job") == "one\ntwo\n"
        assert await stage.log("job", tail_lines=1) == "two\n"
        assert conditions(status)["Ready"] == "False"
    assert nothing_left(stage)


async def test_programs_see_their_pod_their_config_and_their_volumes(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    await stage.config_map("conf", colour="red", shape="round")
    env = [
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "colour"}}},
        {"name": "GREETING", "value": "hello $(POD)"},
    ]
    mounts = [
        {"name": "conf", "mountPath": "/etc/conf"},
        {"name": "data", "mountPath": "/data", "subPath": "inner"},
        {"name": "about", "mountPath": "/about"},
    ]
    volumes = [
        {"name": "conf", "configMap": {"name": "conf"}},
        {"name": "data", "emptyDir": {}},
        {
            "name": "about",
            "downwardAPI": {
                "items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]
            },
        },
    ]
    script = "echo $GREETING $COLOUR $IP; cat /etc/conf/shape; echo; echo kept > /data/file; while true; do cat /etc/conf/colour /about/labels; echo; sleep 0.1; done"
    async with stage.running():
        await stage.make(
            "p",
            sh(script, env=env, volumeMounts=mounts),
            volumes=volumes,
            meta={"labels": {"a": "1"}},
        )
        status = await stage.ready("p")
        await stage.says("p", f"hello p red {status['podIP']}\nround\n")
        await stage.client.patch(
            CONFIG_MAPS, key("conf"), MergePatch({"data": {"colour": "green"}})
        )
        await stage.patch("p", {"metadata": {"labels": {"a": "2"}}})
        await stage.says("p", 'greena="2"', within=2)
        uid = (await stage.get("p")).metadata.uid
        assert (tmp_path / "pods" / uid / "volumes/data/inner/file").read_text() == "kept\n"
        await stage.delete("p", grace=1)
        await stage.gone("p")
    assert not (tmp_path / "pods" / uid).exists()


async def test_a_failing_container_is_started_again_and_again(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", sh("echo run; exit 7"))
        status = await stage.until(
            "p",
            lambda it: (
                waiting(it) == "CrashLoopBackOff"
                and it["containerStatuses"][0]["restartCount"] >= 2
            ),
        )
        seen = status["containerStatuses"][0]
        assert seen["lastState"]["terminated"]["exitCode"] == 7
        assert status["phase"] == "Running"
        assert await stage.log("p", previous=True) == "run\n"
        assert {"Created", "Started", "BackOff"} <= set(await stage.events("p"))


async def test_probes_make_ready_and_restart(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", web(livenessProbe=PROBE))
        address = (await stage.ready("p"))["podIP"]
        await post(f"http://{address}:8080/sick")
        status = await stage.until(
            "p",
            lambda it: (
                it["containerStatuses"][0]["restartCount"] == 1
                and conditions(it)["Ready"] == "True"
            ),
        )
        assert status["podIP"] == address
        assert {"Unhealthy", "Killing"} <= set(await stage.events("p"))


async def test_exec_probes_see_the_volumes(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    probe = {"exec": {"command": ["cat", "/data/ok"]}, "periodSeconds": 1, "failureThreshold": 1}
    volumes = [{"name": "data", "emptyDir": {}}]
    mounts = [{"name": "data", "mountPath": "/data"}]
    async with stage.running() as agent:
        await stage.make(
            "p",
            sh("sleep 0.3; touch /data/ok; sleep 60", volumeMounts=mounts, readinessProbe=probe),
            volumes=volumes,
        )
        await stage.ready("p")
        await agent.faults.wipe_volume(key("p"), "data")
        await stage.until("p", lambda it: conditions(it)["Ready"] == "False")


@pytest.mark.parametrize(
    ("script", "grace", "code", "least", "most"),
    [
        ("trap 'echo bye; exit 0' TERM; echo up; sleep 60 & wait", 5, 0, 0.0, 2.0),
        ("trap '' TERM; echo up; while true; do sleep 1; done", 1, 137, 0.9, 3.0),
    ],
    ids=["asked", "killed"],
)
async def test_how_a_pod_ends(
    tmp_path: Path, script: str, grace: int, code: int, least: float, most: float
) -> None:
    stage = stage_in(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", sh(script))
        await stage.says("p", "up")
        agent.faults.stick(key("p"))
        await stage.delete("p", grace)
        loop = asyncio.get_running_loop()
        began = loop.time()
        status = await stage.until("p", lambda it: "terminated" in state(it))
        took = loop.time() - began
        agent.faults.unstick(key("p"))
        await stage.gone("p")

    assert least <= took <= most
    assert state(status)["terminated"]["exitCode"] == code
    assert nothing_left(stage)


async def test_a_stuck_pod_stays_until_it_is_let_go(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", sh("sleep 60"))
        await stage.ready("p")
        agent.faults.stick(key("p"))
        await stage.delete("p", grace=1)
        await asyncio.sleep(0.3)
        assert (await stage.get("p")).metadata.deleting
        agent.faults.unstick(key("p"))
        await stage.gone("p")


async def test_a_name_is_used_again_only_after_the_old_processes_ended(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    script = "trap '' TERM; while true; do sleep 0.1; done"
    async with stage.running():
        await stage.make("p", sh(script), web() | {"name": "web"})
        first = await stage.ready("p")
        await stage.delete("p", grace=0)
        await stage.make("p", web())
        second = await stage.ready("p")
        assert second["podIP"] == first["podIP"]
        assert second["containerStatuses"][0]["restartCount"] == 0


async def test_killing_pausing_and_losing(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", web())
        address = (await stage.ready("p"))["podIP"]
        agent.faults.kill(key("p"))
        status = await stage.until(
            "p",
            lambda it: (
                it["containerStatuses"][0]["restartCount"] == 1
                and conditions(it)["Ready"] == "True"
            ),
        )
        assert status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 137

        agent.faults.pause(key("p"))
        await stage.until("p", lambda it: conditions(it)["Ready"] == "False")
        agent.faults.resume(key("p"))
        await stage.ready("p")

        agent.faults.lose_node("node-1")
        await stage.delete("p", grace=1)
        await asyncio.sleep(0.2)
        assert await fetch(f"http://{address}:8080/") == "p"
        await agent.faults.return_node("node-1")
        await stage.gone("p")


async def test_an_image_that_nobody_knows_and_a_program_that_is_not_there(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("unknown", container("example.org/what:1"))
        await stage.make("missing", container("busybox", "no-such-program"))
        status = await stage.until("unknown", lambda it: waiting(it) == "ImagePullBackOff")
        assert "known: " in state(status)["waiting"]["message"]
        assert status["phase"] == "Pending"
        status = await stage.until("missing", lambda it: waiting(it) == "CrashLoopBackOff")
        ended = status["containerStatuses"][0]["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
        assert "no-such-program" in ended["message"]


CRASHING = """
import asyncio, sys
from pathlib import Path
from stateward.core.ports import Ports
from stateward.local.agent import orphans
from unit.local.agent.stage import Stage, sh

async def main():
    stage = Stage(Ports.of_this_machine(), Path(sys.argv[1]))
    async with stage.running():
        await stage.make("p", sh("setsid sleep 61 & exec sleep 60"))
        await stage.make("q", sh("exec env -i sleep 62"))
        await stage.make("r", sh("setsid env -i sleep 63 >/dev/null 2>&1 & env -i sleep 64"))
        await stage.ready("p")
        await stage.ready("q")
        await stage.ready("r")
        while len(orphans.descended(stage.agent._records.all())) < 6:
            await asyncio.sleep(0.02)
        print("up", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_new_agent_ends_what_a_dead_one_left(tmp_path: Path) -> None:
    tests = str(Path(__file__).parents[1])
    dying = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CRASHING,
        str(tmp_path),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((tests, *sys.path))},
    )
    assert dying.stdout is not None
    assert await dying.stdout.readline() == b"up\n"
    dying.kill()
    await dying.wait()
    dying._transport.close()
    recorded = orphans.Records(tmp_path / "processes").all()
    left = orphans.descended(recorded) | orphans.marked(orphans.name_of(tmp_path))
    assert len(recorded) == 3
    assert len(left) == 6
    assert all(orphans.start_time(pid) == began for pid, began in left.items())

    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", sh("sleep 60"))
        await stage.ready("p")
        assert all(orphans.start_time(pid) != began for pid, began in left.items())
    assert nothing_left(stage)


async def test_a_restarted_agent_starts_its_pods_afresh(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", sh("echo one; sleep 60"))
        await stage.make("once", sh("sleep 60"), restartPolicy="Never")
        first = await stage.ready("p")
        await stage.ready("once")
    assert nothing_left(stage)
    async with stage.running():
        status = await stage.until("p", lambda it: it["containerStatuses"][0]["restartCount"] == 1)
        assert status["podIP"] == first["podIP"]
        assert status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 137
        assert await stage.says("p", "one", previous=True) == "one\n"
        await stage.until("once", lambda it: it["phase"] == "Failed")


async def post(url: str) -> None:
    def send() -> None:
        with urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=5):
            pass

    await asyncio.to_thread(send)


async def test_logs_are_followed_to_their_end(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make(
            "p", sh("for i in 1 2 3 4 5; do echo $i; sleep 0.05; done"), restartPolicy="Never"
        )
        await stage.says("p", "1\n")
        assert await stage.log("p", follow=True) == "1\n2\n3\n4\n5\n"


async def test_init_containers_go_first_and_in_order(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    volumes = [{"name": "data", "emptyDir": {}}]
    mounts = [{"name": "data", "mountPath": "/data"}]
    inits = [
        {**sh(f"echo {name} >> /data/order", volumeMounts=mounts), "name": name}
        for name in ("a", "b")
    ]
    async with stage.running():
        await stage.make(
            "p",
            sh("cat /data/order; sleep 60", volumeMounts=mounts),
            initContainers=inits,
            volumes=volumes,
        )
        status = await stage.ready("p")
        assert await stage.says("p", "b") == "a\nb\n"
        assert [it["state"]["terminated"]["reason"] for it in status["initContainerStatuses"]] == [
            "Completed"
        ] * 2


async def test_what_leaves_its_group_ends_with_the_container(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", sh("setsid sleep 63 & sleep 0.2"), restartPolicy="Never")
        await stage.until("p", lambda it: it["phase"] == "Succeeded")
        for _ in range(100):
            if nothing_left(stage):
                break
            await asyncio.sleep(0.02)
        assert nothing_left(stage)
