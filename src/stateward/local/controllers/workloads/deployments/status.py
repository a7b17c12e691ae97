"""What a Deployment says about itself: numbers, and whether it progresses."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.kube.codec import Json
from stateward.local import conditions
from stateward.local.conditions import condition, find, merged
from stateward.local.controllers.workloads.deployments.rollout import View, is_complete
from stateward.local.controllers.workloads.pods import moment, number

_PROGRESSING = "Progressing"
_FAILURE = "ReplicaFailure"
_SEEN = "lastUpdateTime"
_DEADLINE = 600
#: A deadline that means none.
_NEVER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Told:
    """The status as it was, what the spec says about progress, and what this pass did."""

    old: Json
    spec: Json
    generation: int
    now: float
    #: The ReplicaSet that was made in this pass, if one was.
    made: str = ""
    collisions: int | None = None


def status(view: View, told: Told) -> Json:
    """Return the status of a deployment; a field that is None is left out."""
    counts = _counts(view)
    said: Json = {
        "observedGeneration": told.generation,
        **{name: count or None for name, count in counts.items()},
        "terminatingReplicas": sum(it.ending for it in view.crews),
        "collisionCount": told.collisions,
    }
    past: list[Json] = told.old.get("conditions") or []
    past = merged(past, _availability(view, counts), told.now, seen_field=_SEEN)
    past = _with_failure(past, view, told.now)
    said["conditions"] = _with_progress(past, view, counts, told)
    return said


def deadline_in(spec: Json, said: Json, now: float) -> float | None:
    """Return the seconds until a rollout that does not progress counts as failed, or None."""
    progress = find(said, _PROGRESSING)
    deadline = number(spec, "progressDeadlineSeconds", _DEADLINE)
    since = moment(progress.get(_SEEN))
    waits = progress.get("status") == "True" and progress.get("reason") != "NewReplicaSetAvailable"
    if not waits or since is None or deadline == _NEVER:
        return None
    return max(0.0, since + deadline - now) + 1.0  # times are told in whole seconds


def _counts(view: View) -> dict[str, int]:
    available = sum(it.available for it in view.crews)
    asked = sum(it.replicas for it in view.crews)
    return {
        "replicas": sum(it.has for it in view.crews),
        "updatedReplicas": view.new.has if view.new is not None else 0,
        "readyReplicas": sum(it.ready for it in view.crews),
        "availableReplicas": available,
        "unavailableReplicas": max(0, asked - available),
    }


def _availability(view: View, counts: dict[str, int]) -> Json:
    if counts["availableReplicas"] >= view.rules.least:
        return condition(
            "Available",
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    return condition(
        "Available",
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
    )


def _with_failure(past: list[Json], view: View, now: float) -> list[Json]:
    failure = next((it.failure for it in reversed(view.crews) if it.failure), "")
    if not failure:
        return conditions.without(past, _FAILURE)
    return merged(past, condition(_FAILURE, "True", "FailedCreate", failure), now, seen_field=_SEEN)


def _with_progress(past: list[Json], view: View, counts: dict[str, int], told: Told) -> list[Json]:
    if number(told.spec, "progressDeadlineSeconds", _DEADLINE) == _NEVER:
        return conditions.without(past, _PROGRESSING)
    progressed = has_progressed(told.old, counts)
    said = _progress(find(told.old, _PROGRESSING), view, told, progressed=progressed)
    if said is None:
        return past
    again = progressed and said["reason"] == "ReplicaSetUpdated"
    return merged(past, said, told.now, seen_field=_SEEN, again=again)


def _progress(old: Json, view: View, told: Told, *, progressed: bool) -> Json | None:
    """Return what is to be said about progress, or None when there is nothing new."""
    what = f'ReplicaSet "{view.new.name}"' if view.new is not None else "Deployment"
    reason = old.get("reason")
    if told.made:
        text = f'Created new replica set "{told.made}"'
        return condition(_PROGRESSING, "True", "NewReplicaSetCreated", text)
    if view.rules.paused:
        if reason == "ProgressDeadlineExceeded":
            return None
        return condition(_PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused")
    if is_complete(view):
        text = f"{what} has successfully progressed."
        return condition(_PROGRESSING, "True", "NewReplicaSetAvailable", text)
    if reason == "DeploymentPaused":
        return condition(_PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed")
    if progressed or not old:
        return condition(_PROGRESSING, "True", "ReplicaSetUpdated", f"{what} is progressing.")
    if _is_overdue(old, told):
        text = f"{what} has timed out progressing."
        return condition(_PROGRESSING, "False", "ProgressDeadlineExceeded", text)
    return None


def has_progressed(old: Json, counts: dict[str, int]) -> bool:
    """Tell whether more is new, ready or available, or less is old, than was said before."""
    was = {name: number(old, name, 0) for name in counts}
    return (
        any(counts[n] > was[n] for n in ("updatedReplicas", "readyReplicas", "availableReplicas"))
        or counts["replicas"] - counts["updatedReplicas"] < was["replicas"] - was["updatedReplicas"]
    )


def _is_overdue(old: Json, told: Told) -> bool:
    since = moment(old.get(_SEEN))
    if old.get("reason") == "NewReplicaSetAvailable" or since is None:
        return False
    return told.now > since + number(told.spec, "progressDeadlineSeconds", _DEADLINE)
