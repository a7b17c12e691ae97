"""CronJobs: which jobs they start, and which they keep."""

from __future__ import annotations

from typing import Any

from contract.controllers.scripts import cron_job, job
from contract.controllers.stage import Stage
from stateward.core.clock import SystemClock
from stateward.core.moments import from_rfc3339, to_rfc3339

OFTEN = "cronjobs/often"
DUE = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def missed(**spec: Any) -> Any:
    """Return a CronJob that missed a run just now; the next is far from a test that looks on."""
    minute = int(SystemClock().now() // 60 - 2) % 60
    return cron_job(f"{minute} * * * *", suspend=True, **spec)


async def overdue(stage: Stage, body: Any) -> None:
    """Make a CronJob that last ran some minutes ago, so that it is due now."""
    await stage.make("cronjobs", body)
    before = {"status": {"lastScheduleTime": minutes_ago()}}
    (await stage.wire.patch(f"{OFTEN}/status", before)).ok()
    await stage.change(OFTEN, {"suspend": False})


async def owned(stage: Stage, name: str) -> Any:
    """Make a job of the CronJob that somebody else started; return what the job is called by."""
    uid = (await stage.wire.get(OFTEN))["metadata.uid"]
    body = job(name, suspend=True)
    reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "often", "uid": uid}
    body["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    made = await stage.make("jobs", body)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": name,
        "namespace": stage.wire.namespace,
        "uid": made["metadata.uid"],
    }


async def runs_already(stage: Stage, policy: str) -> None:
    """Make a CronJob that is due while a job of an earlier run is active."""
    await stage.make("cronjobs", missed(concurrencyPolicy=policy))
    status = {"active": [await owned(stage, "mine")], "lastScheduleTime": minutes_ago()}
    (await stage.wire.patch(f"{OFTEN}/status", {"status": status})).ok()
    await stage.change(OFTEN, {"suspend": False})


def minutes_ago() -> str:
    return to_rfc3339(SystemClock().now() // 60 * 60 - 300)


async def test_what_it_starts(stage: Stage) -> None:
    await overdue(stage, missed())

    (found,) = await stage.listed("jobs", 1)

    meta = found["metadata"]
    due = from_rfc3339(meta["annotations"][DUE])
    assert due % 60 == 0
    assert meta["name"] == f"often-{int(due // 60)}"
    owner = meta["ownerReferences"][0]
    assert (owner["kind"], owner["controller"], owner["blockOwnerDeletion"]) == (
        "CronJob",
        True,
        True,
    )
    status = (await stage.says(OFTEN, status__active__0__name=meta["name"]))["status"]
    assert from_rfc3339(status["lastScheduleTime"]) == due
    active = status["active"][0]
    assert (active["kind"], active["uid"]) == ("Job", meta["uid"])
    assert "lastSuccessfulTime" not in status
    await stage.puppets.succeed(*[it["metadata"]["name"] for it in await running(stage)])
    await stage.says(OFTEN, status__active=None)
    assert (await stage.wire.get(OFTEN))["status.lastSuccessfulTime"]


async def running(stage: Stage) -> list[Any]:
    await stage.counts(v1_ready=1)
    return await stage.pods()


async def test_of_many_missed_runs_the_last_is_made_up_for(stage: Stage) -> None:
    await overdue(stage, cron_job(suspend=True))

    (found,) = await stage.listed("jobs", 1)

    now = SystemClock().now()
    assert now - from_rfc3339(found["metadata"]["annotations"][DUE]) < 75


async def test_a_run_that_is_too_late_is_not_made_up_for(stage: Stage) -> None:
    hour = int(SystemClock().now() // 3600 % 24)
    before = to_rfc3339(SystemClock().now() - 2 * 86400)
    schedule = f"0 {(hour - 3) % 24} * * *"
    await stage.make("cronjobs", cron_job(schedule, suspend=True, startingDeadlineSeconds=60))
    (await stage.wire.patch(f"{OFTEN}/status", {"status": {"lastScheduleTime": before}})).ok()
    await stage.change(OFTEN, {"suspend": False})

    await stage.still_counts()
    await stage.listed("jobs", 0)


async def test_a_suspended_one_starts_nothing(stage: Stage) -> None:
    await stage.make("cronjobs", missed())
    before = {"status": {"lastScheduleTime": minutes_ago()}}
    (await stage.wire.patch(f"{OFTEN}/status", before)).ok()

    await stage.still_counts()
    await stage.listed("jobs", 0)


async def test_nothing_starts_while_another_runs_if_that_is_forbidden(stage: Stage) -> None:
    await runs_already(stage, "Forbid")

    await stage.still_counts()
    assert [it["metadata"]["name"] for it in await stage.listed("jobs", 1)] == ["mine"]


async def test_another_that_runs_is_replaced(stage: Stage) -> None:
    await runs_already(stage, "Replace")

    await stage.wire.gone("jobs/mine")
    (found,) = await stage.listed("jobs", 1)
    assert DUE in found["metadata"]["annotations"]
    await stage.says(OFTEN, status__active__0__name=found["metadata"]["name"])


async def test_another_that_runs_is_joined(stage: Stage) -> None:
    await runs_already(stage, "Allow")

    found = {it["metadata"]["name"] for it in await stage.listed("jobs", 2)}

    async def active() -> bool:
        status = (await stage.wire.get(OFTEN))["status"]
        return {it["name"] for it in status["active"]} == found

    await stage.wire.until(active)


async def test_a_job_that_somebody_else_started_is_not_counted(stage: Stage) -> None:
    await stage.make("cronjobs", missed(concurrencyPolicy="Forbid"))
    await owned(stage, "mine")
    before = {"status": {"lastScheduleTime": minutes_ago()}}
    (await stage.wire.patch(f"{OFTEN}/status", before)).ok()

    await stage.change(OFTEN, {"suspend": False})

    first, second = await stage.listed("jobs", 2)
    (started,) = {it["metadata"]["name"] for it in (first, second)} - {"mine"}
    found = await stage.says(OFTEN, status__active__0__name=started)
    assert len(found["status.active"]) == 1


async def test_only_so_many_finished_jobs_are_kept(stage: Stage) -> None:
    limits = {"successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 1}
    await stage.make("cronjobs", cron_job(suspend=True, **limits))
    for name in ("won-1", "won-2", "won-3", "lost-1", "lost-2"):
        await owned(stage, name)
        await stage.condition(f"jobs/{name}", "Suspended", "True", "JobSuspended")
        minute = name[-1]
        start = f"2024-01-01T00:0{minute}:00Z"
        await finished(stage, name, start)

    left = await stage.listed("jobs", 2)

    assert sorted(it["metadata"]["name"] for it in left) == ["lost-2", "won-3"]


async def finished(stage: Stage, name: str, start: str) -> None:
    won = name.startswith("won")
    kinds = ("SuccessCriteriaMet", "Complete") if won else ("FailureTarget", "Failed")
    status = {
        "startTime": start,
        "conditions": [
            {"type": it, "status": "True", "reason": "Said", "lastTransitionTime": start}
            for it in kinds
        ],
        "completionTime": start if won else None,
    }
    (await stage.wire.patch(f"jobs/{name}/status", {"status": status})).ok()


async def test_one_that_is_deleted_takes_its_jobs_along(stage: Stage) -> None:
    await overdue(stage, missed())
    await stage.counts(v1_ready=1)

    await stage.delete(OFTEN)

    await stage.listed("jobs", 0)
    await stage.counts()


async def test_the_template_is_copied(stage: Stage) -> None:
    body = missed()
    body["spec"]["jobTemplate"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    await stage.make("cronjobs", body)
    before = {"status": {"lastScheduleTime": minutes_ago()}}
    (await stage.wire.patch(f"{OFTEN}/status", before)).ok()

    await stage.change(OFTEN, {"suspend": False})

    (found,) = await stage.listed("jobs", 1)
    assert found["metadata"]["labels"]["a"] == "b"
    assert found["metadata"]["annotations"]["c"] == "d"
