"""Jobs and CronJobs in a small cluster, in virtual hours."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from stateward.core.moments import from_rfc3339
from stateward.kube.client import Propagation
from stateward.kube.codec import Json
from stateward.kube.resources import CRON_JOBS, JOBS, PODS
from unit.local.controllers.workloads.cluster import Cluster, template, until

pytestmark = pytest.mark.virtual

HOUR = 3600.0


def work(**spec) -> Json:
    return {"template": template(app="work", restartPolicy="Never"), **spec}


def ended(cluster: Cluster, how: str = "Complete", name: str = "work"):
    def holds() -> bool:
        found = cluster.status(JOBS, name).get("conditions") or ()
        return any(it["type"] == how and it["status"] == "True" for it in found)

    return holds


def reason(cluster: Cluster) -> str:
    return next(
        it["reason"] for it in cluster.status(JOBS, "work")["conditions"] if it["type"] == "Failed"
    )


async def test_a_job_runs_to_its_end():
    cluster = Cluster()
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(completions=5, parallelism=2))
        most = 0
        while not ended(cluster)():
            running = [
                p for p in cluster.all(PODS) if p["status"]["phase"] in {"Pending", "Running"}
            ]
            most = max(most, len(running))
            await asyncio.sleep(0.1)
        assert most == 2
        status = cluster.status(JOBS, "work")
        assert status["succeeded"] == 5
        assert "failed" not in status
        assert "active" not in status
        assert status["uncountedTerminatedPods"] == {}
        assert status["startTime"] < status["completionTime"]
        kinds = [it["type"] for it in status["conditions"]]
        assert kinds == ["SuccessCriteriaMet", "Complete"]
        assert len(cluster.names(PODS)) == 5, "pods stay to be looked at"
        assert not any(pod["metadata"].get("finalizers") for pod in cluster.all(PODS))
        assert cluster.reasons("work").count("SuccessfulCreate") == 5
        before = cluster.api.store.revision
        await asyncio.sleep(HOUR)
        assert cluster.api.store.revision == before


async def test_what_a_job_asks_for_in_vain_is_told_once():
    cluster = Cluster()
    async with cluster.at_work():
        asks = {"completionMode": "Indexed", "backoffLimitPerIndex": 1, "maxFailedIndexes": 1}
        await cluster.make(JOBS, "work", work(completions=2, **asks))
        await until(ended(cluster))
        assert cluster.reasons("work").count("FieldIgnored") == 2


async def test_a_job_of_somebody_elses_is_left_alone():
    cluster = Cluster()
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(managedBy="example.com/queue"))
        await asyncio.sleep(60)
        assert (cluster.names(PODS), cluster.status(JOBS, "work")) == ([], {})


async def test_an_indexed_job_does_every_index_once():
    cluster = Cluster()
    failed_once: set[str] = set()

    def verdict(pod: Json) -> str:
        index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
        if index == "1" and index not in failed_once:
            failed_once.add(index)
            return "Failed"
        return "Succeeded"

    cluster.kubelet.verdict = verdict
    async with cluster.at_work():
        await cluster.make(
            JOBS, "work", work(completions=4, parallelism=4, completionMode="Indexed")
        )
        await until(ended(cluster))
        status = cluster.status(JOBS, "work")
        assert (status["succeeded"], status["failed"], status["completedIndexes"]) == (4, 1, "0-3")
        pod = next(p for p in cluster.all(PODS) if p["metadata"]["name"].startswith("work-2-"))
        assert pod["spec"]["hostname"] == "work-2"
        [env] = pod["spec"]["containers"][0]["env"]
        assert env["name"] == "JOB_COMPLETION_INDEX"
        assert "job-completion-index" in env["valueFrom"]["fieldRef"]["fieldPath"]


async def test_failures_are_tried_again_ever_later_and_then_no_more():
    cluster = Cluster()
    cluster.kubelet.verdict = lambda pod: "Failed"
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(backoffLimit=3))
        await until(ended(cluster, "Failed"), within=HOUR)
        assert reason(cluster) == "BackoffLimitExceeded"
        assert cluster.status(JOBS, "work")["failed"] == 4
        made = sorted(from_rfc3339(p["metadata"]["creationTimestamp"]) for p in cluster.all(PODS))
        pauses = [later - sooner for sooner, later in pairwise(made)]
        assert all(
            least <= pause <= least + 10 for pause, least in zip(pauses, (10, 20, 40), strict=True)
        )


async def test_pods_that_are_deleted_still_count():
    cluster = Cluster()
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(completions=3, parallelism=1))
        for done in (1, 2):
            await until(lambda count=done: cluster.status(JOBS, "work").get("succeeded") == count)
            for pod in cluster.all(PODS):
                if pod["status"]["phase"] == "Succeeded":
                    await cluster.remove(PODS, pod["metadata"]["name"])
        await until(ended(cluster))
        assert cluster.status(JOBS, "work")["succeeded"] == 3
        assert len(cluster.names(PODS)) == 1


async def test_a_pod_that_is_deleted_at_work_counts_as_failed_and_is_replaced():
    cluster = Cluster()
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work())
        await until(lambda: len(cluster.serving()) == 1)
        await cluster.remove(PODS, cluster.names(PODS)[0])
        await until(ended(cluster))
        status = cluster.status(JOBS, "work")
        assert (status["succeeded"], status["failed"]) == (1, 1)


async def test_a_deadline_ends_a_job():
    cluster = Cluster()
    cluster.kubelet.verdict = lambda pod: ""
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(activeDeadlineSeconds=100, parallelism=2))
        moment = await until(ended(cluster, "Failed"))
        assert 100 <= moment <= 105
        assert reason(cluster) == "DeadlineExceeded"
        await until(lambda: not cluster.names(PODS))


async def test_a_suspended_job_rests_and_begins_anew():
    cluster = Cluster()
    cluster.kubelet.work = 30
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(suspend=True, activeDeadlineSeconds=100))
        await asyncio.sleep(HOUR)
        assert not cluster.names(PODS)
        await cluster.edit(JOBS, "work", {"suspend": False})
        await until(lambda: len(cluster.serving()) == 1)
        await cluster.edit(JOBS, "work", {"suspend": True})
        await until(lambda: not cluster.names(PODS))
        await asyncio.sleep(HOUR)
        await cluster.edit(JOBS, "work", {"suspend": False})
        await until(ended(cluster))
        assert "failed" not in cluster.status(JOBS, "work"), "who is sent home has not failed"
        told = cluster.reasons("work")
        assert "Suspended" in told
        assert "Resumed" in told


async def test_fewer_at_once_sends_some_home():
    cluster = Cluster()
    cluster.kubelet.work = 60
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(completions=6, parallelism=3))
        await until(lambda: len(cluster.serving()) == 3)
        await cluster.edit(JOBS, "work", {"parallelism": 1})
        await until(lambda: len(cluster.names(PODS)) == 1)
        await until(ended(cluster), within=HOUR)
        status = cluster.status(JOBS, "work")
        assert (status["succeeded"], status.get("failed")) == (6, None)


async def test_a_finished_job_goes_when_its_time_is_over():
    cluster = Cluster()
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(ttlSecondsAfterFinished=500))
        await until(ended(cluster))
        await asyncio.sleep(490)
        assert cluster.exists(JOBS, "work")
        await until(lambda: not cluster.exists(JOBS, "work"), within=20)
        await until(lambda: not cluster.names(PODS), within=20)


@pytest.mark.parametrize("how", list(Propagation), ids=lambda it: it.value)
async def test_a_deleted_job_holds_no_pod(how):
    cluster = Cluster()
    cluster.kubelet.verdict = lambda pod: ""
    async with cluster.at_work():
        await cluster.make(JOBS, "work", work(parallelism=2, completions=2))
        await until(lambda: len(cluster.serving()) == 2)
        await cluster.remove(JOBS, "work", propagation=how)
        await until(lambda: not cluster.exists(JOBS, "work"))
        await asyncio.sleep(10)
        left = 2 if how is Propagation.ORPHAN else 0
        assert len(cluster.names(PODS)) == left
        assert not any(pod["metadata"].get("finalizers") for pod in cluster.all(PODS))


def runs(cluster: Cluster) -> list[int]:
    """Return the minutes, since the world began, of the jobs that are there."""
    return [int(name.rpartition("-")[2]) - int(cluster.start // 60) for name in cluster.names(JOBS)]


async def cron(cluster: Cluster, **spec) -> None:
    cluster.start = cluster.clock.now()
    asked = {"schedule": "*/10 * * * *", "jobTemplate": {"spec": work()}, **spec}
    await cluster.make(CRON_JOBS, "tick", asked)


async def test_a_cron_job_runs_when_it_is_due_and_keeps_some_history():
    cluster = Cluster()
    async with cluster.at_work():
        await cron(cluster)
        assert cluster.start % HOUR == 0
        await asyncio.sleep(9 * 60)
        assert runs(cluster) == []
        await asyncio.sleep(65)
        assert runs(cluster) == [10]
        await asyncio.sleep(3 * HOUR + 60)
        assert runs(cluster) == [170, 180, 190]
        status = cluster.status(CRON_JOBS, "tick")
        assert from_rfc3339(status["lastScheduleTime"]) == cluster.start + 190 * 60
        assert from_rfc3339(status["lastSuccessfulTime"]) > cluster.start + 190 * 60
        assert "active" not in status
        assert {"SuccessfulCreate", "SawCompletedJob", "SuccessfulDelete"} <= set(
            cluster.reasons("tick")
        )
        assert len(cluster.names(PODS)) == 3


@pytest.mark.parametrize(
    ("policy", "after_25_minutes"),
    [("Allow", [10, 20]), ("Forbid", [10]), ("Replace", [20])],
)
async def test_what_happens_when_one_still_runs(policy, after_25_minutes):
    cluster = Cluster()
    cluster.kubelet.verdict = lambda pod: ""
    async with cluster.at_work():
        await cron(cluster, concurrencyPolicy=policy)
        await asyncio.sleep(25 * 60)
        assert runs(cluster) == after_25_minutes
        active = cluster.status(CRON_JOBS, "tick")["active"]
        assert [it["name"] for it in active] == cluster.names(JOBS)


@pytest.mark.parametrize(("deadline", "ran"), [(None, [50]), (600, [50]), (60, [])])
async def test_who_comes_late_runs_once_if_it_is_not_too_late(deadline, ran):
    cluster = Cluster()
    await cron(cluster, startingDeadlineSeconds=deadline)
    await asyncio.sleep(55 * 60)
    async with cluster.at_work():
        await asyncio.sleep(60)
        assert runs(cluster) == ran
        await asyncio.sleep(6 * 60)
        assert runs(cluster) == [*ran, 60]


async def test_a_suspended_one_rests():
    cluster = Cluster()
    async with cluster.at_work():
        await cron(cluster, suspend=True)
        await asyncio.sleep(HOUR)
        assert runs(cluster) == []
        await cluster.edit(CRON_JOBS, "tick", {"suspend": False, "startingDeadlineSeconds": 100})
        await asyncio.sleep(601)
        assert runs(cluster)[-1] == 70


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"schedule": "every day"}, "UnparseableSchedule"),
        ({"schedule": "61 * * * *"}, "UnparseableSchedule"),
        ({"timeZone": "Mars/Olympus"}, "UnknownTimeZone"),
    ],
)
async def test_a_schedule_that_cannot_be_read_is_told_and_can_be_corrected(spec, reason):
    cluster = Cluster()
    async with cluster.at_work():
        await cron(cluster, **spec)
        await asyncio.sleep(60)
        assert cluster.reasons("tick") == [reason]
        before = cluster.api.store.revision
        await asyncio.sleep(300)
        assert cluster.api.store.revision == before, "once is enough"
        await cluster.edit(CRON_JOBS, "tick", {"schedule": "@hourly", "timeZone": "Europe/Vienna"})
        await asyncio.sleep(HOUR)
        assert runs(cluster) == [60]
