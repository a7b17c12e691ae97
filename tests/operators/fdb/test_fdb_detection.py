"""Processes are missing, and a job beside the operator finds it: as a pod, and as a command."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from operators.fdb.fdb_hands import CLUSTER, mark, until
from operators.fdb.fdb_worlds import PACE, World, world
from stateward.emulate.fdb.programs.pace import VARIABLE as PACE_VARIABLE
from stateward.fdb.build.detection import WHOLE_CRON_JOBS, Detector
from stateward.fdb.model.names import ISOLATED, MISSING_DETECTED, detection_job_name
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import JOBS

NAMESPACE = "story"
JOB = ObjectKey(NAMESPACE, detection_job_name(CLUSTER))
#: Seconds that a command may take.
PATIENCE = 120.0


def replacing(**more: Any) -> Json:
    """Return options with a job that never comes by itself, and sees time as the database does."""
    looks = {"name": "detect-missing", "env": [{"name": PACE_VARIABLE, "value": PACE}]}
    pod = {"template": {"spec": {"containers": [looks]}}}
    job = {"spec": {"schedule": "0 0 29 2 *", "jobTemplate": {"spec": pod}}}
    replacements = {"enabled": True, "cronJob": job, **more}
    return {"waitBetweenRemovalsSeconds": 0, "replacements": replacements}


@pytest.mark.long  # minutes of a CronJob
async def test_who_is_missing_is_found_by_the_job_and_replaced_by_the_operator(plane: str) -> None:
    async with world(plane) as it, it.operating(Detector("stateward:0.1.0")):
        await it.create(CLUSTER, automationOptions=replacing(failureDetectionTimeSeconds=86_400))
        await it.reconciled(CLUSTER)
        await nobody_is_missing(it)
        lost = await one_is_found_by_the_job(it)
        await and_by_the_command(it, lost)
        await it_is_replaced_once_that_has_lasted(it, lost)
        await without_replacements_there_is_no_job(it)


async def nobody_is_missing(it: World) -> None:
    assert await ran(it, "calm") == 1
    assert MISSING_DETECTED not in await annotations(it)
    code, said = await typed(it, "--cluster", CLUSTER)
    assert (code, said.strip()) == (0, f"{NAMESPACE}/{CLUSTER}: nobody is missing")
    assert MISSING_DETECTED not in await annotations(it)
    code, said = await typed(it, "--cluster", "nobody")
    assert code == 2
    assert "there must be a FoundationDBCluster nobody in namespace story" in said


async def one_is_found_by_the_job(it: World) -> str:
    lost = (await it.groups(CLUSTER, "storage"))[0].metadata.name
    await mark(it, lost, annotations={ISOLATED: "true"})

    async def is_away() -> bool:
        code, said = await typed(it, "--cluster", CLUSTER)
        assert code == 0
        return "MissingProcesses" in said

    await until(it, "its processes are away", is_away)
    before = (await annotations(it))[MISSING_DETECTED]
    await asyncio.sleep(1.1)  # moments are told in seconds
    assert await ran(it, "trouble") == 1
    assert (await annotations(it))[MISSING_DETECTED] > before
    return lost


async def and_by_the_command(it: World, lost: str) -> None:
    code, said = await typed(it, "--cluster", CLUSTER)
    (group,) = [one for one in await it.groups(CLUSTER) if one.metadata.name == lost]
    assert code == 0
    assert f"{group.spec.process_group_id}: MissingProcesses for" in said
    assert "1 missing, which its operator was told" in said


async def it_is_replaced_once_that_has_lasted(it: World, lost: str) -> None:
    await it.edit(CLUSTER, automationOptions=replacing(failureDetectionTimeSeconds=1))

    async def is_marked() -> bool:
        return any(
            one.metadata.name == lost and one.spec.remove for one in await it.groups(CLUSTER)
        )

    await until(it, "it shall go", is_marked)
    await mark(it, lost, annotations={ISOLATED: None})

    async def is_replaced() -> bool:
        return lost not in {one.metadata.name for one in await it.groups(CLUSTER)}

    await until(it, "another took its place", is_replaced)
    await it.reconciled(CLUSTER)


async def without_replacements_there_is_no_job(it: World) -> None:
    await it.edit(CLUSTER, automationOptions={"replacements": {"enabled": False, "cronJob": None}})

    async def is_gone() -> bool:
        try:
            await it.client.get(WHOLE_CRON_JOBS, JOB)
        except NotFound:
            return True
        return False

    await until(it, "the job is gone", is_gone)


async def annotations(it: World) -> dict[str, str]:
    return dict((await it.get(CLUSTER)).metadata.annotations)


async def ran(it: World, name: str) -> int:
    """Start the job now, as `kubectl create job --from=cronjob/...`; return how many succeeded."""
    made = await it.client.get(WHOLE_CRON_JOBS, JOB)
    metadata = {"namespace": NAMESPACE, "name": name}
    await it.client.create(JOBS, {"metadata": metadata, "spec": made.spec["jobTemplate"]["spec"]})

    async def is_over() -> bool:
        status = (await it.client.get(JOBS, ObjectKey(NAMESPACE, name))).status
        return bool(status.succeeded or status.failed)

    await until(it, f"job {name} is over", is_over)
    return (await it.client.get(JOBS, ObjectKey(NAMESPACE, name))).status.succeeded


async def typed(it: World, *words: str) -> tuple[int, str]:
    """Run the command as a person does; return its exit code and all that it said."""
    kubeconfig = it.cluster.kubeconfig
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "stateward", "fdb", "detect-missing"),
        *("--kubeconfig", str(kubeconfig), "--addresses", str(Path(kubeconfig).parent)),
        *("--namespace", NAMESPACE, *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=dict(it.shared.environment),
    )
    out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode or 0, out.decode()
