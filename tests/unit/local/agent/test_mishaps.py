"""What goes wrong around pods, in virtual time: bugs, crashes, and names that come back at once."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from stateward.kube.client import Selection
from stateward.kube.codec import Json
from stateward.kube.resources import EVENTS
from stateward.local.agent.agent import Agent
from unit.local.agent.theatre import Theatre, one

pytestmark = pytest.mark.virtual


async def test_a_pod_of_the_same_name_lives_however_soon_it_comes(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        for turns in range(60):  # of the event loop: one of them meets the old one at its very end
            await stage.make("p", one("server"))
            await stage.ready("p")
            await stage.delete("p", 0)
            for _ in range(turns):
                await asyncio.sleep(0)


def break_volumes(agent: Agent, monkeypatch: pytest.MonkeyPatch, times: float) -> list[float]:
    """Have a bug in the agent strike so often; return when it did."""
    volumes, struck = agent._tools.volumes, []
    prepare = volumes.prepare

    def broken(pod: Any) -> Any:
        if len(struck) < times:
            struck.append(asyncio.get_running_loop().time())
            raise KeyError("bug")
        return prepare(pod)

    monkeypatch.setattr(volumes, "prepare", broken)
    return struck


async def test_a_life_that_ends_by_a_bug_is_told_and_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        struck = break_volumes(agent, monkeypatch, 2)
        await stage.make("p", one("server"))
        await stage.until("p", lambda it: it.get("phase") == "Running", within=60)
        assert stage.now - struck[0] == pytest.approx(20, abs=1)
        assert "FailedSync" in await stage.events("p")


async def test_a_pod_about_which_there_is_a_bug_can_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        struck = break_volumes(agent, monkeypatch, float("inf"))
        await stage.make("p", one("server"))
        await asyncio.sleep(33)
        assert len(struck) == 4
        await stage.delete("p", 1)
        assert await stage.gone("p") < 2


@pytest.mark.parametrize(
    "volume",
    [
        {"hostPath": {"path": "/a\0b"}},
        {"hostPath": {"path": "/" + "a" * 5000, "type": "DirectoryOrCreate"}},
        {"hostPath": {"path": "/" + "a" * 5000, "type": "Directory"}},
        {"configMap": {"name": "conf", "items": [{"key": "a", "path": "x\0y"}]}},
        {"configMap": {"name": "conf", "items": [{"key": "a", "path": "a" * 5000}]}},
    ],
    ids=lambda it: str(it)[:50],
)
async def test_a_pod_with_odd_volumes_says_so_and_can_be_deleted(
    tmp_path: Path, volume: Json
) -> None:
    stage = Theatre(tmp_path)
    await stage.config_map("conf", a="1")
    async with stage.running():
        await stage.make("p", one("server"), volumes=[{"name": "v", **volume}])
        await asyncio.sleep(5)
        assert await stage.events("p") == ["FailedMount"]
        await stage.delete("p", 1)
        await stage.gone("p")


@pytest.mark.parametrize("inner", ["x\0y", "a" * 5000], ids=["zero", "long"])
async def test_a_pod_with_an_odd_sub_path_says_so_and_can_be_deleted(
    tmp_path: Path, inner: str
) -> None:
    stage = Theatre(tmp_path)
    mounts = [{"name": "v", "mountPath": "/d", "subPath": inner}]
    async with stage.running():
        server = one("server", volumeMounts=mounts)
        await stage.make("p", server, volumes=[{"name": "v", "emptyDir": {}}])
        await stage.until(
            "p",
            lambda it: (
                "must be a folder we may make"
                in it["containerStatuses"][0]["state"]["waiting"]["message"]
            ),
        )
        await stage.delete("p", 1)
        await stage.gone("p")


async def test_a_pod_that_was_to_go_is_not_started_by_the_next_agent(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server"))
        await stage.ready("p")
    await stage.delete("p", 30)
    assert (await stage.get("p")).metadata.deleting
    async with stage.running():
        assert await stage.gone("p") < 2
    assert len(stage.named("server")) == 1


async def test_the_grace_counts_from_the_deletion_and_not_from_when_it_is_heard(
    tmp_path: Path,
) -> None:
    stage = Theatre(tmp_path, deaf=lambda it: it.ignores.add(signal.SIGTERM))
    async with stage.running() as agent:
        await stage.make("p", one("deaf"))
        await stage.ready("p")
        agent.faults.lose_node("node-1")
        await stage.delete("p", 100)
        await asyncio.sleep(95)
        await agent.faults.return_node("node-1")
        assert await stage.gone("p", within=200) == pytest.approx(5, abs=1.5)


async def test_events_are_told_in_the_name_of_the_node(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server"), node="node-2")
        await stage.ready("p")
        await asyncio.sleep(1)
        found = stage.api.list(EVENTS, Selection("ns")).items
    assert found
    for event in found:
        assert b'"reportingInstance":"node-2"' in event.text
        assert b'"source":{"component":"kubelet"}' in event.text
