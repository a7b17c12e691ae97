"""The controller of CronJobs: asks the plan, starts jobs and forgets old ones."""

from __future__ import annotations

from stateward.core.calendar.schedule import Schedule
from stateward.core.errors import SpecInvalid
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.kube.errors import AlreadyExists, ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CRON_JOBS, JOBS
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads.batch.cron_plan import (
    Plan,
    Run,
    View,
    job_body,
    job_name,
    plan,
)
from stateward.local.controllers.workloads.custody import controls
from stateward.local.controllers.workloads.hands import Hands
from stateward.local.documents import Document
from stateward.runtime import triggers

#: Seconds: a moment is looked at a little after it came, for clocks are not that exact.
_SHORTLY = 0.1


class CronJobs:
    """Starts the jobs of CronJobs when they are due."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._hands = Hands(desk, CRON_JOBS)
        #: The version of each spec that was complained about: once is enough.
        self._complaints: dict[ObjectKey, tuple[str, int]] = {}

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Give one cron job a pass."""
        owner = self._desk.cache(CRON_JOBS).get(key)
        if owner is None or owner.metadata.deleting:
            self._complaints.pop(key, None)
            return DONE
        spec = owner.spec
        try:
            schedule = Schedule.parse(str(spec.get("schedule") or ""), spec.get("timeZone"))
        except SpecInvalid as error:
            return await self._complain(owner, error)
        owned = self._desk.cache(JOBS).find("owner", owner.metadata.uid)
        runs = [Run.of(job) for job in owned if controls(owner.metadata, job.metadata)]
        now = self._desk.ports.clock.now()
        view = View(owner.metadata, spec, owner.status, runs, schedule, now)
        decided = plan(view)
        await self._carry_out(owner, view, decided)
        if decided.wake is None:
            return DONE
        return Retry(
            decided.wake + _SHORTLY, "NextRun", "waits for the next moment of its schedule"
        )

    async def _complain(self, owner: Document, error: SpecInvalid) -> Outcome:
        reason = "UnknownTimeZone" if "timeZone" in error.field else "UnparseableSchedule"
        key, version = owner.metadata.key, (owner.metadata.uid, owner.metadata.generation)
        if self._complaints.get(key) != version:
            self._complaints[key] = version
            await self._hands.tell(owner, reason, error.sentence(), warning=True)
        return Blocked(reason, error.message, error.hint)

    async def _carry_out(self, owner: Document, view: View, decided: Plan) -> None:
        for run in decided.end:
            await self._hands.delete(JOBS, run.metadata)
            await self._hands.tell(owner, "SuccessfulDelete", f"Deleted job {run.name}")
        if decided.start is not None:
            await self._start(owner, decided.start)
        if decided.skipped is not None:
            reason, text = decided.skipped
            await self._hands.tell(owner, reason, text, warning=reason == "MissSchedule")
        await self._tell_ends(owner, view)
        await self._hands.report(owner, decided.status)
        for run in decided.forget:
            await self._hands.delete(JOBS, run.metadata)
            await self._hands.tell(owner, "SuccessfulDelete", f"Deleted job {run.name}")

    async def _start(self, owner: Document, due: float) -> None:
        name = job_name(owner.metadata.name, due)
        try:
            await self._hands.create(JOBS, job_body(owner, due))
        except AlreadyExists:
            return  # started before, and only the status could not be written
        except ApiError as error:
            text = f"Error creating job: {error}"
            await self._hands.tell(owner, "FailedCreate", text, warning=True)
            raise
        await self._hands.tell(owner, "SuccessfulCreate", f"Created job {name}")

    async def _tell_ends(self, owner: Document, view: View) -> None:
        """Tell about the jobs that were said to be active and are over."""
        was = {it.get("uid") for it in view.status.get("active") or ()}
        for run in view.runs:
            if run.finished and run.metadata.uid in was:
                how = "Complete" if run.succeeded else "Failed"
                text = f"Saw completed job: {run.name}, condition: {how}"
                await self._hands.tell(owner, "SawCompletedJob", text)


def employ(desk: Desk) -> None:
    """Have the CronJobs of a cluster looked after."""
    desk.add(
        "cronjob",
        CronJobs(desk),
        ((CRON_JOBS, triggers.itself), (JOBS, triggers.owner(CRON_JOBS))),
    )
