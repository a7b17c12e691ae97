"""What to do next for a CronJob: start a job, end others, forget old ones. Pure.

A job is named for the minute that it is due at, so that nothing starts it twice: not a restart, and
not a status that could not be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from stateward.core.calendar.schedule import Schedule
from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import CRON_JOBS, JOBS
from stateward.local.conditions import is_true
from stateward.local.controllers.workloads.batch import job_status
from stateward.local.controllers.workloads.pods import moment, number, owner_reference
from stateward.local.documents import Document

_DUE = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_KEPT_SUCCEEDED, _KEPT_FAILED = 3, 1


@dataclass(frozen=True, slots=True)
class Run:
    """A job that was started."""

    metadata: ObjectMeta
    finished: bool = False
    succeeded: bool = False
    ended: float | None = None
    #: When it was due, if it says so: one that somebody started by hand does not.
    due: float | None = None
    #: When it began, or was made.
    began: float = 0.0

    @classmethod
    def of(cls, job: Document) -> Self:
        """Read a job."""
        status = job.status
        return cls(
            metadata=job.metadata,
            finished=job_status.is_finished(status),
            succeeded=is_true(status, "Complete"),
            ended=moment(status.get("completionTime") or job_status.finished_at(status)),
            due=moment(job.metadata.annotations.get(_DUE)),
            began=moment(status.get("startTime") or job.metadata.creation_timestamp) or 0.0,
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self.metadata.name


@dataclass(frozen=True, slots=True)
class View:
    """All that a decision depends on."""

    owner: ObjectMeta
    spec: Json
    status: Json
    runs: Sequence[Run]
    schedule: Schedule
    now: float

    @property
    def active(self) -> list[Run]:
        """The runs that are not over; jobs that somebody else started are none of its runs."""
        known = {it.get("uid") for it in self.status.get("active") or ()}
        return [
            run
            for run in self.runs
            if not run.finished and (run.due is not None or run.metadata.uid in known)
        ]

    @property
    def since(self) -> float:
        """When it last ran, or came to be."""
        runs = [run.due for run in self.runs if run.due is not None]
        said = moment(self.status.get("lastScheduleTime"))
        known = [*runs, *([said] if said is not None else [])]
        return max(known) if known else moment(self.owner.creation_timestamp) or 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The moment whose job is to be started, what to end and to forget, and when to look again."""

    start: float | None = None
    end: tuple[Run, ...] = ()
    forget: tuple[Run, ...] = ()
    #: A moment that was due and is not run, with the reason and a sentence.
    skipped: tuple[str, str] | None = None
    wake: float | None = None
    status: Json = field(default_factory=dict)


def plan(view: View) -> Plan:
    """Decide what to do now."""
    forget = _past_history(view)
    if view.spec.get("suspend") or view.owner.deleting:
        return Plan(forget=forget, status=status(view, None))
    wake = view.schedule.next(view.since, view.now) - view.now
    due = view.schedule.last(view.since, view.now)
    skipped = _reason_to_skip(view, due)
    if due is None or skipped is not None:
        return Plan(forget=forget, skipped=skipped, wake=wake, status=status(view, None))
    replaced = tuple(view.active) if view.spec.get("concurrencyPolicy") == "Replace" else ()
    return Plan(due, replaced, forget, None, wake, status(view, due))


def job_name(owner: str, due: float) -> str:
    """Return the name of the job that is due at a moment."""
    return f"{owner}-{int(due // 60)}"


def job_body(owner: Document, due: float) -> Json:
    """Return the job that is due at a moment."""
    template = owner.spec.get("jobTemplate") or {}
    meta = template.get("metadata") or {}
    metadata: Json = {
        "name": job_name(owner.metadata.name, due),
        "namespace": owner.metadata.namespace,
        "annotations": {**(meta.get("annotations") or {}), _DUE: to_rfc3339(due)},
        "ownerReferences": [owner_reference(CRON_JOBS, owner.metadata)],
    }
    if meta.get("labels"):
        metadata["labels"] = meta["labels"]
    return {
        "apiVersion": JOBS.api_version,
        "kind": JOBS.kind,
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }


def status(view: View, due: float | None) -> Json:
    """Return the status; a field that is None is left out."""
    ran = [run.due for run in view.runs if run.due is not None]
    last = max([*ran, *([due] if due is not None else [])], default=None)
    said = view.status.get("lastScheduleTime")
    before = moment(said)
    if last is not None and (before is None or last > before):
        said = to_rfc3339(last)
    ends = [run.ended for run in view.runs if run.succeeded and run.ended is not None]
    won = view.status.get("lastSuccessfulTime")
    if ends and (not won or max(ends) > (moment(won) or 0.0)):
        won = to_rfc3339(max(ends))
    return {
        "active": [_reference(run.metadata) for run in view.active] or None,
        "lastScheduleTime": said,
        "lastSuccessfulTime": won,
    }


def _reason_to_skip(view: View, due: float | None) -> tuple[str, str] | None:
    if due is None:
        return None
    limit = view.spec.get("startingDeadlineSeconds")
    if limit is not None and view.now - due > limit:
        return "MissSchedule", f"Missed scheduled time to start a job: {to_rfc3339(due)}"
    if view.spec.get("concurrencyPolicy") == "Forbid" and view.active:
        text = (
            "Not starting job because prior execution is running and concurrency policy is Forbid"
        )
        return "JobAlreadyActive", text
    return None


def _past_history(view: View) -> tuple[Run, ...]:
    finished = sorted(
        (run for run in view.runs if run.finished and not run.metadata.deleting),
        key=lambda it: (it.began, it.name),
    )
    won = [run for run in finished if run.succeeded]
    lost = [run for run in finished if not run.succeeded]
    keep_won = number(view.spec, "successfulJobsHistoryLimit", _KEPT_SUCCEEDED)
    keep_lost = number(view.spec, "failedJobsHistoryLimit", _KEPT_FAILED)
    return (
        *won[: max(0, len(won) - keep_won)],
        *lost[: max(0, len(lost) - keep_lost)],
    )


def _reference(job: ObjectMeta) -> Json:
    return {
        "apiVersion": JOBS.api_version,
        "kind": JOBS.kind,
        "namespace": job.namespace,
        "name": job.name,
        "uid": job.uid,
    }
