"""The pods of a Job: what they carry so that each end is counted once, and how they are made."""

from __future__ import annotations

from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import JOBS
from stateward.local.controllers.workloads.pods import (
    Seen,
    from_template,
    name_prefix,
    owner_reference,
    template_of,
)
from stateward.local.documents import Document

#: Keeps a pod until its end is counted.
TRACKING = "batch.kubernetes.io/job-tracking"
NAME_LABEL = "batch.kubernetes.io/job-name"
_INDEX = "batch.kubernetes.io/job-completion-index"
_OLD_NAME_LABEL = "job-name"
_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
_INDEX_ENV = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{_INDEX}']"}},
}


def is_tracked(pod: ObjectMeta) -> bool:
    """Tell whether the end of a pod is still to be counted."""
    return TRACKING in pod.finalizers


def job_of(pod: ObjectMeta) -> str:
    """Return the name of the job that a pod is of; an orphan may still have its label."""
    owner = pod.controller
    if owner is not None and owner.kind == JOBS.kind:
        return owner.name
    return pod.labels.get(NAME_LABEL, "")


def index_of(pod: Seen) -> int | None:
    """Return which part of an indexed job a pod does."""
    text = pod.metadata.annotations.get(_INDEX, "")
    return int(text) if text.isdecimal() else None


def has_failed(pod: Seen) -> bool:
    """Tell whether a pod counts as failed: one that was asked to end and did not succeed does."""
    return pod.phase == "Failed" or (pod.leaving and pod.phase != "Succeeded")


def body(owner: Document, suffix: str, index: int | None) -> Json:
    """Return a pod of a job."""
    meta, template = owner.metadata, template_of(owner.spec)
    stem = meta.name if index is None else f"{meta.name}-{index}"
    prefix = name_prefix(stem)
    metadata: Json = {
        "name": f"{prefix}{suffix}",
        "generateName": prefix,
        "namespace": meta.namespace,
        "labels": {} if owner.spec.get("manualSelector") else _labels(meta),
        "finalizers": [TRACKING],
        "ownerReferences": [owner_reference(JOBS, meta)],
    }
    if index is None:
        return from_template(template, metadata)
    metadata["labels"][_INDEX] = str(index)
    metadata["annotations"] = {_INDEX: str(index)}
    return from_template(template, metadata, _indexed(template.get("spec") or {}, stem))


def _labels(job: ObjectMeta) -> dict[str, str]:
    return {
        **dict.fromkeys((NAME_LABEL, _OLD_NAME_LABEL), job.name),
        **dict.fromkeys(_UID_LABELS, job.uid),
    }


def _indexed(spec: Json, hostname: str) -> Json:
    parts: Json = {} if spec.get("hostname") else {"hostname": hostname}
    for name in ("containers", "initContainers"):
        if spec.get(name):
            parts[name] = [_told_index(container) for container in spec[name]]
    return parts


def _told_index(container: Json) -> Json:
    env = container.get("env") or []
    if any(it.get("name") == _INDEX_ENV["name"] for it in env):
        return container
    return {**container, "env": [*env, _INDEX_ENV]}
