"""Pods as the controllers of workloads see them, and how they are made from templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from stateward.core.errors import SpecInvalid
from stateward.core.moments import from_rfc3339
from stateward.core.naming import LABEL_LIMIT
from stateward.kube import conditions
from stateward.kube.codec import Json, Part, decode
from stateward.kube.meta import ObjectMeta
from stateward.kube.objects.pods import PodStatus
from stateward.kube.resources import Resource
from stateward.kube.selector import LabelSelector
from stateward.local.documents import Document

FINISHED = frozenset({"Succeeded", "Failed"})

_STEM_LIMIT = LABEL_LIMIT - len("-12345")


class _Placed(Part):
    """Where a pod runs: all that is read of its spec."""

    node_name: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A pod, read once."""

    metadata: ObjectMeta
    phase: str = "Pending"
    node: str = ""
    ready: bool = False
    #: When it last became ready; None while it is not, or nobody said when.
    ready_since: float | None = None
    restarts: int = 0
    #: When it ended; None while it runs, or nobody said when.
    ended: float | None = None

    @classmethod
    def of(cls, pod: Document) -> Self:
        """Read a pod."""
        status = decode(pod.status_text, PodStatus)
        phase = status.phase or "Pending"
        ready = conditions.find(status.conditions, "Ready")
        is_ready = ready is not None and ready.status == "True"
        return cls(
            metadata=pod.metadata,
            phase=phase,
            node=decode(pod.spec_text, _Placed).node_name or "",
            ready=is_ready,
            ready_since=moment(ready.last_transition_time) if ready and is_ready else None,
            restarts=sum(it.restart_count for it in status.container_statuses),
            ended=_end_of(pod.metadata, status) if phase in FINISHED else None,
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self.metadata.name

    @property
    def uid(self) -> str:
        """What tells it from another of its name."""
        return self.metadata.uid

    @property
    def leaving(self) -> bool:
        """True once somebody asked for its end."""
        return self.metadata.deleting

    @property
    def finished(self) -> bool:
        """True when all its containers have ended for good."""
        return self.phase in FINISHED

    @property
    def active(self) -> bool:
        """True while it counts: it has neither ended nor been asked to."""
        return not self.leaving and not self.finished

    @property
    def ending(self) -> bool:
        """True from when its end was asked for until it has ended."""
        return self.leaving and not self.finished

    @property
    def serves(self) -> bool:
        """True when it runs and is ready."""
        return self.phase == "Running" and self.ready

    def available_in(self, min_ready: float, now: float) -> float | None:
        """Return the seconds until it counts as available: 0 when it does, None if not ready."""
        if not self.ready:
            return None
        if not min_ready:
            return 0.0
        if self.ready_since is None:
            return None
        return max(0.0, self.ready_since + min_ready - now)

    def available(self, min_ready: float, now: float) -> bool:
        """Tell whether it has been ready for long enough."""
        return self.available_in(min_ready, now) == 0.0


def next_available(pods: Iterable[Seen], min_ready: float, now: float) -> float | None:
    """Return the seconds until one more of the pods counts as available, if that takes time."""
    waits = (pod.available_in(min_ready, now) for pod in pods if pod.active)
    return min((wait for wait in waits if wait), default=None)


def owner_reference(resource: Resource[Any], owner: ObjectMeta) -> Json:
    """Return what an object says about the one that controls it."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def from_template(template: Json, metadata: Json, spec: Json | None = None) -> Json:
    """Return a pod made from a template, with more metadata and other fields of its spec."""
    meta = template.get("metadata") or {}
    merged: Json = dict(metadata)
    for part in ("labels", "annotations"):
        if both := {**(meta.get(part) or {}), **(metadata.get(part) or {})}:
            merged[part] = both
    if finalizers := [*(meta.get("finalizers") or ()), *(metadata.get("finalizers") or ())]:
        merged["finalizers"] = finalizers
    body = {**(template.get("spec") or {}), **(spec or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": merged, "spec": body}


def name_prefix(stem: str) -> str:
    """Return what a name with five letters of chance begins with: all of it fits into a label."""
    return f"{stem[:_STEM_LIMIT]}-"


def template_of(spec: Json) -> Json:
    """Return the template of a workload."""
    template: Json = spec.get("template") or {}
    return template


def labels_of(template: Json) -> Mapping[str, str]:
    """Return the labels that pods of a template have."""
    labels: Mapping[str, str] = (template.get("metadata") or {}).get("labels") or {}
    return labels


def selector_of(spec: Json) -> LabelSelector:
    """Return whom a workload selects; raise SpecInvalid when that is not what it makes."""
    try:
        selector = LabelSelector.from_document(spec.get("selector"))
    except ValueError as error:
        raise SpecInvalid("spec.selector", str(error)) from error
    if not selector.requirements:
        raise SpecInvalid("spec.selector", "must select something: it may not be empty")
    if not selector.matches(labels_of(template_of(spec))):
        raise SpecInvalid(
            "spec.selector",
            "must select the pods of the template",
            hint="give spec.template.metadata.labels the labels that the selector asks for",
        )
    return selector


def number(part: Json, name: str, default: int) -> int:
    """Return a whole number that may be left out."""
    value = part.get(name)
    return default if value is None else int(value)


def moment(text: Any) -> float | None:
    """Return a moment that may be missing, as seconds since the epoch."""
    return from_rfc3339(text) if text else None


def _end_of(metadata: ObjectMeta, status: PodStatus) -> float | None:
    """Return when a pod ended: the last word of its containers, else of itself."""
    ends = [it.state.terminated for it in status.container_statuses]
    said = [at for end in ends if end and (at := moment(end.finished_at)) is not None]
    if said:
        return max(said)
    ready = conditions.find(status.conditions, "Ready")
    fallback = ready.last_transition_time if ready is not None else None
    return moment(fallback or metadata.deletion_timestamp or metadata.creation_timestamp)
