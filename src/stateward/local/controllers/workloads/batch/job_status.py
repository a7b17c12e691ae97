"""What a Job says about itself."""

from __future__ import annotations

from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json
from stateward.local import conditions
from stateward.local.conditions import condition, find, is_true, merged
from stateward.local.controllers.workloads.batch.job_plan import COMPLETE, Verdict, View

_SEEN = "lastProbeTime"
#: What is said about a job that is about to end so, beside how it ended.
_BEFORE = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}


def is_finished(status: Json) -> bool:
    """Tell whether a job is over."""
    return is_true(status, "Complete") or is_true(status, "Failed")


def finished_at(status: Json) -> str | None:
    """Return when a job ended, as text, or None while it has not."""
    for kind in ("Complete", "Failed"):
        if is_true(status, kind):
            at: str | None = find(status, kind).get("lastTransitionTime")
            return at
    return None


def started(old: Json, now: float, *, suspended: bool) -> str | None:
    """Return when a job began: a suspended one begins anew when it is resumed."""
    began: str | None = old.get("startTime")
    if suspended or (began and not is_true(old, "Suspended")):
        return began
    return to_rfc3339(now)


def verdict_in(status: Json) -> Verdict | None:
    """Return how a job was said to end, once that is decided."""
    for kind, before in _BEFORE.items():
        if is_true(status, before):
            said = find(status, before)
            return Verdict(kind, said.get("reason", ""), said.get("message", ""))
    return None


def status(view: View, old: Json, verdict: Verdict | None) -> Json:
    """Return the status of a job; it is over once a verdict is given and no pod is left at work."""
    active = view.active
    ending = [pod for pod in view.pods if pod.ending]
    is_over = verdict is not None and not active and not ending and not view.ledger.noted
    is_won = verdict is not None and verdict.condition == COMPLETE.condition
    past: list[Json] = old.get("conditions") or []
    past = _with_suspension(past, view)
    if verdict is not None:
        kinds = (_BEFORE[verdict.condition], verdict.condition)
        for kind in kinds if is_over else kinds[:1]:
            said = condition(kind, "True", verdict.reason, verdict.message)
            past = merged(past, said, view.now, seen_field=_SEEN)
    return {
        "active": len(active) or None,
        "ready": sum(1 for pod in active if pod.ready),
        "terminating": len(ending),
        **view.ledger.status(),
        "startTime": started(old, view.now, suspended=view.rules.suspended),
        "completionTime": to_rfc3339(view.now) if is_over and is_won else None,
        "conditions": past or None,
    }


def _with_suspension(past: list[Json], view: View) -> list[Json]:
    was = is_true({"conditions": past}, "Suspended")
    if view.rules.suspended:
        said = condition("Suspended", "True", "JobSuspended", "Job suspended")
    elif was:
        said = condition("Suspended", "False", "JobResumed", "Job resumed")
    else:
        return past
    return conditions.merged(past, said, view.now, seen_field=_SEEN)
