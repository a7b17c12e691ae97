"""The controllers die with any of their writes and start again: the end is the same.

A story is told once without an interruption, to learn how many writes it takes and how it ends.
Then it is told again and again, each time cut at another write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fakes.bench import running
from fakes.names import named
from stateward.core.chance import Chance
from stateward.kube.codec import Json
from stateward.kube.resources import (
    CRON_JOBS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
)
from stateward.local.catalog import CONTROLLER_REVISIONS, REPLICA_SETS
from stateward.sim import loop as sim_loop
from unit.local.controllers.workloads.cluster import Cluster, Cut, Mischief, template, workload

Story = Callable[[Cluster], Awaitable[None]]


async def stateful_set(cluster: Cluster) -> None:
    """It comes up, rolls, and shrinks with its claims."""
    claims = [{"metadata": {"name": "data"}, "spec": {}}]
    policy = {"whenScaled": "Delete"}
    spec = workload(
        replicas=2, volumeClaimTemplates=claims, persistentVolumeClaimRetentionPolicy=policy
    )
    await cluster.make(STATEFUL_SETS, "web", spec)
    await asyncio.sleep(30)
    await cluster.edit(STATEFUL_SETS, "web", {"template": template("v2")})
    await asyncio.sleep(30)
    await cluster.edit(STATEFUL_SETS, "web", {"replicas": 1})
    await asyncio.sleep(60)


async def deployment(cluster: Cluster) -> None:
    """It comes up, rolls, grows, and forgets its history."""
    await cluster.make(DEPLOYMENTS, "web", workload(replicas=2, revisionHistoryLimit=0))
    await asyncio.sleep(30)
    await cluster.edit(DEPLOYMENTS, "web", {"template": template("v2")})
    await asyncio.sleep(30)
    await cluster.edit(DEPLOYMENTS, "web", {"replicas": 3})
    await asyncio.sleep(60)


async def job(cluster: Cluster) -> None:
    """One of its pods fails."""
    failed: list[str] = []

    def verdict(pod: Json) -> str:
        return "Succeeded" if failed else failed.append("once") or "Failed"

    cluster.kubelet.verdict = verdict
    body = {"template": template(restartPolicy="Never"), "completions": 3, "parallelism": 2}
    await cluster.make(JOBS, "work", body)
    await asyncio.sleep(120)


async def cron_job(cluster: Cluster) -> None:
    """It runs three times and keeps one."""
    run = {"spec": {"template": template(restartPolicy="Never")}}
    asked = {"schedule": "* * * * *", "jobTemplate": run, "successfulJobsHistoryLimit": 1}
    await cluster.make(CRON_JOBS, "tick", asked)
    await asyncio.sleep(3 * 60 + 50)


def drawn(cluster: Cluster) -> list[str]:
    """Write down what is there: all that is not drawn by chance or a matter of time."""
    lines: list[str] = []
    for resource in (STATEFUL_SETS, DEPLOYMENTS, REPLICA_SETS, JOBS, CRON_JOBS, VOLUME_CLAIMS):
        for it in cluster.all(resource):
            status = {k: v for k, v in it.get("status", {}).items() if isinstance(v, int)}
            lines.append(f"{resource} {it['metadata']['name']} {sorted(status.items())}")
    known = cluster.all(CONTROLLER_REVISIONS)
    lines += [f"revision {it['metadata']['name']} {it['revision']}" for it in known]
    for pod in cluster.all(PODS):
        owner = pod["metadata"]["ownerReferences"][0]["name"]
        held = pod["metadata"].get("finalizers", [])
        image = pod["spec"]["containers"][0]["image"]
        lines.append(f"pod of {owner} {image} {pod['status']['phase']} {held}")
    return sorted(lines)


async def told(story: Story, writes: int | None) -> tuple[list[str], int]:
    """Tell a story, cut at a write; return how it ends, and how many writes the first life made."""
    cluster, cut = Cluster(), Cut(writes)
    async with cluster.without_controllers():
        async with running(_lives(cluster, cut)):
            await story(cluster)
        return drawn(cluster), cut.writes


async def _lives(cluster: Cluster, cut: Cut) -> None:
    async with running(cluster.desk(cut).run()):
        await cut.dead.wait()
    await cluster.desk().run()


STORIES = [stateful_set, deployment, job, cron_job]


@pytest.mark.parametrize("story", STORIES, ids=named)
def test_an_interruption_changes_nothing(story):
    picture, writes = sim_loop.run(told(story, None))
    assert writes > 10
    for cut in range(1, writes + 1):
        again, made = sim_loop.run(told(story, cut))
        assert made >= cut, "it was cut, if not before what was on its way"
        assert again == picture, f"cut at write {cut} of {writes}"


async def spoilt(story: Story, mischief: Mischief) -> list[str]:
    cluster = Cluster()
    async with cluster.without_controllers(), running(cluster.desk(mischief).run()):
        await story(cluster)
        return drawn(cluster)


@pytest.mark.parametrize("every", [2, 3, 5])
@pytest.mark.parametrize("done", [True, False], ids=["answers are lost", "writes are refused"])
@pytest.mark.parametrize("story", STORIES, ids=named)
def test_writes_that_go_wrong_change_nothing(story, done, every):
    picture, _ = sim_loop.run(told(story, None))
    mischief = Mischief(every, done=done)
    assert sim_loop.run(spoilt(story, mischief)) == picture
    assert mischief.spoilt >= 3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("story", STORIES, ids=named)
def test_who_comes_first_changes_nothing(story, seed):
    picture, _ = sim_loop.run(told(story, None))
    again, _ = sim_loop.run(told(story, None), chance=Chance(seed, "order"))
    assert again == picture
