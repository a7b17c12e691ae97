"""The ReplicaSets of a Deployment as it sees them, and how a new one is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from stateward.core.naming import short_hash
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import DEPLOYMENTS
from stateward.local import conditions
from stateward.local.catalog import REPLICA_SETS
from stateward.local.controllers.workloads.pods import (
    labels_of,
    number,
    owner_reference,
    template_of,
)
from stateward.local.documents import Document

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_DESIRED = "deployment.kubernetes.io/desired-replicas"
_MOST = "deployment.kubernetes.io/max-replicas"
_PAST_REVISIONS = "deployment.kubernetes.io/revision-history"
_NOT_HANDED_ON = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        *(REVISION, _DESIRED, _MOST, _PAST_REVISIONS),
    }
)


@dataclass(frozen=True, slots=True)
class Crew:
    """A ReplicaSet: how many it shall have, has, and has at work."""

    metadata: ObjectMeta
    replicas: int = 0
    has: int = 0
    ready: int = 0
    available: int = 0
    ending: int = 0
    #: How many the deployment wanted when it last sized this one, and how many it allowed.
    desired: int | None = None
    most: int | None = None
    revision: int = 0
    min_ready: int = 0
    template: Json | None = None
    #: Why it cannot make pods; empty when it can.
    failure: str = ""

    @classmethod
    def of(cls, document: Document) -> Self:
        """Read a ReplicaSet."""
        spec, status = document.spec, document.status
        notes = document.metadata.annotations
        return cls(
            metadata=document.metadata,
            replicas=number(spec, "replicas", 1),
            has=number(status, "replicas", 0),
            ready=number(status, "readyReplicas", 0),
            available=number(status, "availableReplicas", 0),
            ending=number(status, "terminatingReplicas", 0),
            desired=_whole(notes.get(_DESIRED)),
            most=_whole(notes.get(_MOST)),
            revision=_whole(notes.get(REVISION)) or 0,
            min_ready=number(spec, "minReadySeconds", 0),
            template=_unhashed(template_of(spec)),
            failure=conditions.find(status, "ReplicaFailure").get("message", ""),
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self.metadata.name

    @property
    def settled(self) -> int:
        """How many are available and shall stay: a report may be older than what was asked."""
        return min(self.available, self.replicas)

    @property
    def takes(self) -> int:
        """How many places it takes: those that it shall give up are taken until they are gone."""
        return max(self.replicas, self.has)


def split(
    crews: Iterable[Crew], template: Json, collisions: int
) -> tuple[Crew | None, tuple[Crew, ...]]:
    """Return the crew of a template, if there is one, and the others from the oldest on."""
    known = sorted(crews, key=lambda it: (it.metadata.creation_timestamp, it.name))
    digest = template_hash(template, collisions)
    new = next((it for it in known if it.template == template), None) or next(
        (it for it in known if it.metadata.labels.get(HASH_LABEL) == digest), None
    )
    return new, tuple(it for it in known if it is not new)


def template_hash(template: Json, collisions: int) -> str:
    """Return what tells the pods of one template from those of another."""
    return short_hash([template, collisions] if collisions else template)


def body(owner: Document, replicas: int, collisions: int, notes: Json) -> Json:
    """Return a new ReplicaSet for the template of a deployment."""
    spec = owner.spec
    template = template_of(spec)
    digest = template_hash(template, collisions)
    selector = spec.get("selector") or {}
    labels = {**labels_of(template), HASH_LABEL: digest}
    made: Json = {
        "replicas": replicas,
        "selector": {
            **selector,
            "matchLabels": {**(selector.get("matchLabels") or {}), HASH_LABEL: digest},
        },
        "template": {
            **template,
            "metadata": {**(template.get("metadata") or {}), "labels": labels},
        },
    }
    if min_ready := number(spec, "minReadySeconds", 0):
        made["minReadySeconds"] = min_ready
    return {
        "apiVersion": REPLICA_SETS.api_version,
        "kind": REPLICA_SETS.kind,
        "metadata": {
            "name": f"{owner.metadata.name}-{digest}",
            "namespace": owner.metadata.namespace,
            "labels": labels,
            "annotations": notes,
            "ownerReferences": [owner_reference(DEPLOYMENTS, owner.metadata)],
        },
        "spec": made,
    }


def size_notes(wanted: int, most: int) -> Json:
    """Return what a crew notes about the deployment's size when it is sized."""
    return {_DESIRED: str(wanted), _MOST: str(most)}


def revision_notes(owner: ObjectMeta, new: Crew | None, olds: Sequence[Crew]) -> Json:
    """Return what the new crew notes: the newest revision, and what the owner is annotated with."""
    handed = {k: it for k, it in owner.annotations.items() if k not in _NOT_HANDED_ON}
    number_now = max((it.revision for it in olds), default=0) + 1
    had = new.revision if new is not None else 0
    if had >= number_now:
        return {**handed, REVISION: str(had)}
    noted = {**handed, REVISION: str(number_now)}
    if new is not None and had:
        past = new.metadata.annotations.get(_PAST_REVISIONS, "")
        noted[_PAST_REVISIONS] = f"{past},{had}".lstrip(",")
    return noted


def _unhashed(template: Json) -> Json:
    meta = dict(template.get("metadata") or {})
    labels = {k: it for k, it in (meta.get("labels") or {}).items() if k != HASH_LABEL}
    return {**template, "metadata": {**meta, "labels": labels}}


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
