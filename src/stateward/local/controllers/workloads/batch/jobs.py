"""The controller of Jobs: counts what ended, asks the plan, and carries out its moves."""

from __future__ import annotations

from collections.abc import Iterable

from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, Conflict
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import JOBS, PODS
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads.batch import job_pods, job_status
from stateward.local.controllers.workloads.batch.job_plan import Plan, Rules, View, plan
from stateward.local.controllers.workloads.batch.job_pods import NAME_LABEL, TRACKING
from stateward.local.controllers.workloads.batch.ledger import Ledger
from stateward.local.controllers.workloads.custody import controls
from stateward.local.controllers.workloads.hands import Hands
from stateward.local.controllers.workloads.pods import Seen, moment
from stateward.local.documents import Document
from stateward.local.unheeded import unheeded
from stateward.runtime import triggers

#: Jobs that name somebody else as their manager are left alone.
_MYSELF = "kubernetes.io/job-controller"


class Jobs:
    """Brings Jobs closer to their end."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._hands = Hands(desk, JOBS)
        self._chance = desk.ports.chance.stream("pods of jobs")

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Give one job a pass."""
        job = self._desk.cache(JOBS).get(key)
        await self._let_go(self._strays(key, job))
        if job is None or job.spec.get("managedBy", _MYSELF) != _MYSELF:
            return DONE
        uid = job.metadata.uid
        owned = self._desk.cache(PODS).find("owner", uid)
        pods = [Seen.of(pod) for pod in owned if controls(job.metadata, pod.metadata)]
        if job.metadata.deleting or job_status.is_finished(job.status):
            await self._let_go(pod.metadata for pod in pods)
            return DONE if job.metadata.deleting else await self._expire(job)
        return await self._advance(job, pods)

    def _strays(self, key: ObjectKey, job: Document | None) -> list[ObjectMeta]:
        """Return the pods that wait to be counted by a job that is not there any more."""
        return [
            pod.metadata
            for pod in self._desk.cache(PODS)
            if TRACKING in pod.metadata.finalizers
            and pod.metadata.namespace == key.namespace
            and job_pods.job_of(pod.metadata) == key.name
            and (job is None or not controls(job.metadata, pod.metadata))
        ]

    async def _let_go(self, pods: Iterable[ObjectMeta]) -> None:
        for pod in pods:
            if job_pods.is_tracked(pod):
                await self._hands.drop_finalizer(PODS, pod, TRACKING)

    async def _advance(self, job: Document, pods: list[Seen]) -> Outcome:
        rules, now = Rules.of(job.spec), self._desk.ports.clock.now()
        old = job.status
        ledger = Ledger.of(old, indexed=rules.indexed).after(pods)
        since = moment(job_status.started(old, now, suspended=rules.suspended))
        view = View(rules, ledger, pods, since, now, job_status.verdict_in(old))
        decided = plan(view)
        said = job_status.status(view, old, decided.verdict)
        await self._hands.report(job, said)
        # What is noted in the status now may be let go, in this order and no other.
        await self._let_go(pod.metadata for pod in pods if pod.uid in ledger.noted)
        await self._carry_out(job, decided)
        await self._tell(job, old, said)
        if not old.get("startTime") and said["startTime"]:
            for text in unheeded(JOBS.name, {"spec": job.spec}):
                await self._hands.tell(job, "FieldIgnored", text, warning=True)
        if decided.wake is None:
            return DONE
        return Retry(max(decided.wake, 0.1), "Waiting", "waits before another try or a deadline")

    async def _carry_out(self, job: Document, decided: Plan) -> None:
        for pod in decided.drop:
            if not decided.counts_dropped:
                # Nobody's failure: it is not to be counted, so it is let go first.
                await self._let_go([pod.metadata])
            await self._hands.delete(PODS, pod.metadata)
            await self._hands.tell(job, "SuccessfulDelete", f"Deleted pod: {pod.name}")
        for index in decided.make:
            await self._make(job, index)

    async def _make(self, job: Document, index: int | None) -> None:
        body = job_pods.body(job, self._chance.suffix(), index)
        try:
            made = await self._hands.create(PODS, body)
        except Conflict:
            raise
        except ApiError as error:
            await self._hands.tell(job, "FailedCreate", f"Error creating: {error}", warning=True)
            raise
        await self._hands.tell(job, "SuccessfulCreate", f"Created pod: {made.metadata.name}")

    async def _tell(self, job: Document, old: Json, said: Json) -> None:
        """Tell what was not the case before."""
        known = {(it["type"], it["status"]) for it in old.get("conditions") or ()}
        for it in said["conditions"] or ():
            if (it["type"], it["status"]) in known:
                continue
            match it["type"], it["status"]:
                case "Complete", "True":
                    await self._hands.tell(job, "Completed", "Job completed")
                case "Failed", "True":
                    await self._hands.tell(job, it["reason"], it["message"], warning=True)
                case "Suspended", "True":
                    await self._hands.tell(job, "Suspended", "Job suspended")
                case "Suspended", "False":
                    await self._hands.tell(job, "Resumed", "Job resumed")

    async def _expire(self, job: Document) -> Outcome:
        """Delete a finished job when its time is over, if it has one."""
        ttl = job.spec.get("ttlSecondsAfterFinished")
        ended = moment(job_status.finished_at(job.status))
        if ttl is None or ended is None:
            return DONE
        rest = ended + ttl - self._desk.ports.clock.now()
        if rest > 0:
            return Retry(rest, "TimeToLive", "the job is kept for a while")
        await self._hands.delete(JOBS, job.metadata)
        return DONE


def _wake_job(pod: Object) -> Iterable[ObjectKey]:
    """Wake the job of a pod; one that was orphaned still has its label."""
    yield from triggers.owner(JOBS)(pod)
    if pod.metadata.controller is None and job_pods.is_tracked(pod.metadata):
        yield from triggers.label(NAME_LABEL)(pod)


def employ(desk: Desk) -> None:
    """Have the Jobs of a cluster looked after."""
    desk.add("job", Jobs(desk), ((JOBS, triggers.itself), (PODS, _wake_job)))
