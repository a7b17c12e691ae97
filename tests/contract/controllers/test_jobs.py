"""Jobs: how many pods work at once, what counts, and how a job ends."""

from __future__ import annotations

from typing import Any

import pytest

from contract.controllers.scripts import job
from contract.controllers.stage import Stage

WORK = "jobs/work"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


async def made(stage: Stage, **spec: Any) -> Any:
    return (await stage.make("jobs", job(**spec))).body


async def said(stage: Stage) -> list[tuple[str, str, str]]:
    """Return the conditions of the job, in their order."""
    found = (await stage.wire.get(WORK))["status.conditions"] or ()
    return [(it["type"], it["status"], it.get("reason")) for it in found]


async def is_over(stage: Stage, kind: str, reason: str) -> Any:
    await stage.condition(WORK, kind, "True", reason)
    return (await stage.wire.get(WORK))["status"]


async def test_so_many_work_at_once_until_enough_are_done(stage: Stage) -> None:
    await made(stage, completions=3, parallelism=2)

    await stage.still_counts(v1_ready=2)
    await stage.says(WORK, status__active=2, status__ready=2)
    await stage.puppets.succeed((await stage.names())[0])
    await stage.counts(v1_ready=2, v1_succeeded=1)
    await stage.says(WORK, status__active=2, status__succeeded=1)
    await stage.puppets.succeed(*await stage.names("ready"))
    await is_over(stage, "Complete", "CompletionsReached")
    await stage.counts(v1_succeeded=3)


async def test_what_a_complete_job_says(stage: Stage) -> None:
    await made(stage)
    await stage.counts(v1_ready=1)

    await stage.puppets.succeed(*await stage.names())

    status = await is_over(stage, "Complete", "CompletionsReached")
    assert await said(stage) == [
        ("SuccessCriteriaMet", "True", "CompletionsReached"),
        ("Complete", "True", "CompletionsReached"),
    ]
    assert {it["message"] for it in status["conditions"]} == {
        "Reached expected number of succeeded pods"
    }
    assert status["startTime"] <= status["completionTime"]
    rest = {it: status[it] for it in status.keys() - {"conditions", "startTime", "completionTime"}}
    assert rest == {"succeeded": 1, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}


async def test_a_pod_carries_what_its_end_is_counted_by(stage: Stage) -> None:
    body = await made(stage)
    await stage.counts(v1_ready=1)
    uid = body["metadata"]["uid"]

    (pod,) = await stage.pods()

    assert pod["metadata"]["finalizers"] == [TRACKING]
    assert pod["metadata"]["generateName"] == "work-"
    assert pod["metadata"]["labels"] == {
        "part": "work",
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "work",
        "controller-uid": uid,
        "job-name": "work",
    }
    owner = pod["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Job", uid, True)
    await stage.puppets.succeed(pod["metadata"]["name"])
    await stage.says(f"pods/{pod['metadata']['name']}", metadata__finalizers=None)


async def test_parts_have_numbers(stage: Stage) -> None:
    await made(stage, completions=3, parallelism=2, completionMode="Indexed")
    await stage.counts(v1_ready=2)

    pods = await stage.pods()

    assert [it["metadata"]["generateName"] for it in pods] == ["work-0-", "work-1-"]
    assert [it["metadata"]["annotations"][INDEX] for it in pods] == ["0", "1"]
    assert [it["metadata"]["labels"][INDEX] for it in pods] == ["0", "1"]
    assert [it["spec"]["hostname"] for it in pods] == ["work-0", "work-1"]
    env = pods[0]["spec"]["containers"][0]["env"]
    assert [it["name"] for it in env] == ["JOB_COMPLETION_INDEX"]
    assert env[0]["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.labels['{INDEX}']"
    await stage.puppets.succeed(pods[1]["metadata"]["name"])
    await stage.says(WORK, status__completedIndexes="1", status__succeeded=1)
    await stage.counts(v1_ready=2, v1_succeeded=1)
    await stage.puppets.succeed(*await stage.names("ready"))
    status = await is_over(stage, "Complete", "CompletionsReached")
    assert (status["completedIndexes"], status["succeeded"]) == ("0-2", 3)


async def test_too_many_failures_end_a_job(stage: Stage) -> None:
    await made(stage, backoffLimit=0)
    await stage.counts(v1_ready=1)

    await stage.puppets.fail(*await stage.names())

    status = await is_over(stage, "Failed", "BackoffLimitExceeded")
    assert await said(stage) == [
        ("FailureTarget", "True", "BackoffLimitExceeded"),
        ("Failed", "True", "BackoffLimitExceeded"),
    ]
    assert status["conditions"][0]["message"] == "Job has reached the specified backoff limit"
    assert (status["failed"], status.get("completionTime")) == (1, None)
    await stage.still_counts(v1_failed=1)


async def test_a_failed_job_ends_its_other_pods_and_counts_them(stage: Stage) -> None:
    await made(stage, backoffLimit=0, parallelism=3, completions=3)
    await stage.counts(v1_ready=3)
    stage.puppets.hold()

    await stage.puppets.fail((await stage.names())[0])

    await stage.counts(v1_failed=1, v1_leaving=2)
    await stage.condition(WORK, "FailureTarget", "True", "BackoffLimitExceeded")
    assert len(await said(stage)) == 1, "it has not failed before its pods have ended"
    await stage.puppets.go(*await stage.names("leaving"))
    status = await is_over(stage, "Failed", "BackoffLimitExceeded")
    assert (status["failed"], status["terminating"]) == (3, 0)


async def test_a_failed_pod_is_replaced_after_ten_seconds(stage: Stage) -> None:
    await made(stage, backoffLimit=1)
    await stage.counts(v1_ready=1)

    await stage.puppets.fail(*await stage.names())

    await stage.still_counts(v1_failed=1)
    await stage.says(WORK, status__failed=1, status__active=None)
    await stage.counts(v1_failed=1, v1_ready=1)
    await stage.puppets.succeed(*await stage.names("ready"))
    status = await is_over(stage, "Complete", "CompletionsReached")
    assert (status["failed"], status["succeeded"]) == (1, 1)


async def test_a_job_may_only_take_so_long(stage: Stage) -> None:
    await made(stage, activeDeadlineSeconds=1, parallelism=2)

    status = await is_over(stage, "Failed", "DeadlineExceeded")

    assert [it[0] for it in await said(stage)] == ["FailureTarget", "Failed"]
    text = "Job was active longer than specified deadline"
    assert {it["message"] for it in status["conditions"]} == {text}
    assert status["failed"] == 2
    await stage.counts()


async def test_a_suspended_job_makes_no_pods(stage: Stage) -> None:
    await made(stage, suspend=True)

    await stage.condition(WORK, "Suspended", "True", "JobSuspended")
    await stage.still_counts()
    assert (await stage.wire.get(WORK))["status.startTime"] is None
    await stage.change(WORK, {"suspend": False})
    await stage.counts(v1_ready=1)
    await stage.condition(WORK, "Suspended", "False", "JobResumed")
    assert (await stage.wire.get(WORK))["status.startTime"]


async def test_to_suspend_a_job_ends_its_pods_and_counts_none(stage: Stage) -> None:
    await made(stage, parallelism=2)
    await stage.counts(v1_ready=2)
    await stage.says(WORK, status__active=2)
    before = (await stage.wire.get(WORK))["status.startTime"]

    await stage.change(WORK, {"suspend": True})

    await stage.counts()
    found = await stage.says(WORK, status__active=None, status__terminating=0)
    assert found["status.failed"] is None
    assert found["status.startTime"] == before
    await stage.change(WORK, {"suspend": False})
    await stage.counts(v1_ready=2)
    await stage.says(WORK, status__active=2)


async def test_fewer_at_once_end_the_rest_and_count_none(stage: Stage) -> None:
    await made(stage, parallelism=3, completions=5)
    await stage.counts(v1_ready=3)

    await stage.change(WORK, {"parallelism": 1})

    await stage.counts(v1_ready=1)
    found = await stage.says(WORK, status__active=1, status__terminating=0)
    assert found["status.failed"] is None


async def test_a_pod_that_somebody_deletes_counts_as_failed(stage: Stage) -> None:
    await made(stage, backoffLimit=3)
    await stage.counts(v1_ready=1)
    stage.puppets.hold(start=True)

    (await stage.wire.delete(f"pods/{(await stage.names())[0]}")).ok()

    await stage.says(WORK, status__failed=1)


async def test_one_success_is_enough_when_no_number_is_said(stage: Stage) -> None:
    await made(stage, parallelism=2)
    await stage.counts(v1_ready=2)
    names = await stage.names()

    await stage.puppets.succeed(names[0])

    await stage.says(WORK, status__active=1, status__succeeded=1)
    await stage.still_counts(v1_ready=1, v1_succeeded=1)
    assert await said(stage) == []
    await stage.puppets.succeed(names[1])
    status = await is_over(stage, "Complete", "CompletionsReached")
    assert status["succeeded"] == 2


async def test_restarts_inside_a_pod_count_towards_the_limit(stage: Stage) -> None:
    await made(stage, backoffLimit=2, restartPolicy="OnFailure")
    await stage.counts(v1_ready=1)
    (name,) = await stage.names()

    await stage.puppets.restart(name, 1)
    await stage.still_counts(v1_ready=1)
    await stage.puppets.restart(name, 2)

    status = await is_over(stage, "Failed", "BackoffLimitExceeded")
    assert status["failed"] == 1


async def test_a_finished_job_goes_after_a_while(stage: Stage) -> None:
    await made(stage, ttlSecondsAfterFinished=1)
    await stage.counts(v1_ready=1)

    await stage.puppets.succeed(*await stage.names())

    await is_over(stage, "Complete", "CompletionsReached")
    await stage.wire.gone(WORK)
    await stage.counts()


async def test_a_finished_job_and_its_pods_stay(stage: Stage) -> None:
    await made(stage)
    await stage.counts(v1_ready=1)

    await stage.puppets.succeed(*await stage.names())
    await is_over(stage, "Complete", "CompletionsReached")

    await stage.change(WORK, {"suspend": True})
    await stage.still_counts(v1_succeeded=1)
    assert [it[0] for it in await said(stage)] == ["SuccessCriteriaMet", "Complete"]


async def test_a_job_that_is_deleted_takes_its_pods_along(stage: Stage) -> None:
    await made(stage)
    await stage.counts(v1_ready=1)

    await stage.delete(WORK)

    await stage.counts()


async def test_orphans_of_a_job_are_let_go(stage: Stage) -> None:
    await made(stage)
    await stage.counts(v1_ready=1)
    (name,) = await stage.names()

    await stage.delete(WORK, "Orphan")

    await stage.says(f"pods/{name}", metadata__finalizers=None, metadata__ownerReferences=None)
    await stage.still_counts(v1_ready=1)


async def test_a_selector_of_its_own(stage: Stage) -> None:
    labels = {"part": "work"}
    await made(stage, manualSelector=True, selector={"matchLabels": labels})
    await stage.counts(v1_ready=1)

    (pod,) = await stage.pods()

    assert pod["metadata"]["labels"] == labels
    await stage.puppets.succeed(pod["metadata"]["name"])
    await is_over(stage, "Complete", "CompletionsReached")


@pytest.mark.parametrize(("completions", "parallelism"), [(0, 1), (2, 0)])
async def test_a_job_without_work(stage: Stage, completions: int, parallelism: int) -> None:
    await made(stage, completions=completions, parallelism=parallelism)

    if completions:
        await stage.says(WORK, status__ready=0)
        assert await said(stage) == []
    else:
        status = await is_over(stage, "Complete", "CompletionsReached")
        assert "succeeded" not in status
    await stage.still_counts()


async def test_a_job_of_another_manager_is_left_alone(stage: Stage) -> None:
    await made(stage, managedBy="example.com/other")

    await stage.still_counts()
    assert not (await stage.wire.get(WORK))["status"]
