"""Lines of what makes pods: sets, deployments and jobs. Pure."""

from __future__ import annotations

from typing import Any

from stateward.core.moments import from_rfc3339
from stateward.kube.codec import Json
from stateward.local.server.tables.ages import age, duration
from stateward.local.server.tables.cells import (
    NONE,
    age_of,
    containers,
    count,
    items,
    layout,
    name_of,
    part,
    selector,
)


def _made(document: Json, *path: str) -> list[str]:
    return containers(part(document, *path, "template", "spec"))


def _deployment(document: Json, now: float) -> list[Any]:
    wanted = count(document, "spec", "replicas", default=1)
    return [
        name_of(document),
        f"{count(document, 'status', 'readyReplicas')}/{wanted}",
        count(document, "status", "updatedReplicas"),
        count(document, "status", "availableReplicas"),
        age_of(document, now),
        *_made(document, "spec"),
        selector(part(document, "spec", "selector")),
    ]


def _stateful_set(document: Json, now: float) -> list[Any]:
    wanted = count(document, "spec", "replicas", default=1)
    ready = count(document, "status", "readyReplicas")
    return [
        name_of(document),
        f"{ready}/{wanted}",
        age_of(document, now),
        *_made(document, "spec"),
    ]


def _replica_set(document: Json, now: float) -> list[Any]:
    return [
        name_of(document),
        count(document, "spec", "replicas", default=1),
        count(document, "status", "replicas"),
        count(document, "status", "readyReplicas"),
        age_of(document, now),
        *_made(document, "spec"),
        selector(part(document, "spec", "selector")),
    ]


def _job(document: Json, now: float) -> list[Any]:
    return [
        name_of(document),
        _job_status(document),
        _completions(document),
        _job_duration(document, now),
        age_of(document, now),
        *_made(document, "spec"),
        selector(part(document, "spec", "selector")),
    ]


def _job_status(job: Json) -> str:
    true = {
        it.get("type") for it in items(job, "status", "conditions") if it.get("status") == "True"
    }
    for kind, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if kind in true:
            return word
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if kind in true:
            return kind
    return "Running"


def _completions(job: Json) -> str:
    done = count(job, "status", "succeeded")
    wanted = part(job, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallel = count(job, "spec", "parallelism")
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job_duration(job: Json, now: float) -> str:
    begun = part(job, "status", "startTime")
    if not isinstance(begun, str):
        return ""
    ended = part(job, "status", "completionTime")
    return duration((from_rfc3339(ended) if isinstance(ended, str) else now) - from_rfc3339(begun))


def _cron_job(document: Json, now: float) -> list[Any]:
    last = part(document, "status", "lastScheduleTime")
    return [
        name_of(document),
        part(document, "spec", "schedule") or "",
        part(document, "spec", "timeZone") or NONE,
        "True" if part(document, "spec", "suspend") else "False",
        len(part(document, "status", "active") or ()),
        age(last, now) if last else NONE,
        age_of(document, now),
        *_made(document, "spec", "jobTemplate", "spec"),
        selector(part(document, "spec", "jobTemplate", "spec", "selector")),
    ]


def _controller_revision(document: Json, now: float) -> list[Any]:
    owners = [it for it in items(document, "metadata", "ownerReferences") if it.get("controller")]
    said = [_owner(it) for it in owners[:1]] or [NONE]
    return [name_of(document), *said, count(document, "revision"), age_of(document, now)]


def _owner(it: Json) -> str:
    group = str(it.get("apiVersion", "")).rpartition("/")[0]
    kind = str(it.get("kind", "")).lower()
    return f"{kind}.{group}/{it.get('name')}" if group else f"{kind}/{it.get('name')}"


_MADE = "Containers|Images"

LAYOUTS = {
    "deployments.apps": layout(
        _deployment, "Name|Ready|Up-to-date|Available|Age", f"{_MADE}|Selector"
    ),
    "statefulsets.apps": layout(_stateful_set, "Name|Ready|Age", _MADE),
    "replicasets.apps": layout(
        _replica_set, "Name|Desired*|Current*|Ready*|Age", f"{_MADE}|Selector"
    ),
    "jobs.batch": layout(_job, "Name|Status|Completions|Duration|Age", f"{_MADE}|Selector"),
    "cronjobs.batch": layout(
        _cron_job,
        "Name|Schedule|Timezone|Suspend?|Active*|Last Schedule|Age",
        f"{_MADE}|Selector",
    ),
    "controllerrevisions.apps": layout(_controller_revision, "Name|Controller|Revision|Age"),
}
