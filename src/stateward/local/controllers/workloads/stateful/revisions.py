"""The templates that a StatefulSet has had: which one is new, which to keep, what to call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stateward.core.naming import short_hash
from stateward.kube.codec import Json
from stateward.kube.resources import STATEFUL_SETS
from stateward.local.catalog import CONTROLLER_REVISIONS
from stateward.local.controllers.workloads.pods import labels_of, owner_reference, template_of
from stateward.local.documents import Document

_HASH_LABEL = "controller.kubernetes.io/hash"
#: How ``kubectl rollout undo`` is told that the template is to be replaced and not merged.
_REPLACE = {"$patch": "replace"}


@dataclass(frozen=True, slots=True)
class Found:
    """The revision that the template of a set is, if it is there already."""

    revision: Document | None
    #: The number that it must have to be the newest.
    number: int


def template_in(revision: Document) -> Json:
    """Return the template that a revision keeps."""
    template = template_of(revision.data.get("spec") or {})
    return {name: value for name, value in template.items() if name not in _REPLACE}


def find(template: Json, revisions: Iterable[Document]) -> Found:
    """Find the revision of a template; an older one that is wanted again becomes the newest."""
    known = in_order(revisions)
    newest = known[-1].revision if known else 0
    same = next((it for it in reversed(known) if template_in(it) == template), None)
    if same is None:
        return Found(None, newest + 1)
    return Found(same, newest if same is known[-1] else newest + 1)


def in_order(revisions: Iterable[Document]) -> list[Document]:
    """Return revisions from the oldest to the newest."""
    return sorted(revisions, key=lambda it: (it.revision, it.metadata.name))


def body(owner: Document, number: int, collisions: int) -> Json:
    """Return a new revision of the template of a set."""
    template = template_of(owner.spec)
    digest = short_hash([template, collisions] if collisions else template)
    return {
        "apiVersion": CONTROLLER_REVISIONS.api_version,
        "kind": CONTROLLER_REVISIONS.kind,
        "metadata": {
            "name": f"{owner.metadata.name}-{digest}",
            "namespace": owner.metadata.namespace,
            "labels": {**labels_of(template), _HASH_LABEL: digest},
            "ownerReferences": [owner_reference(STATEFUL_SETS, owner.metadata)],
        },
        "data": {"spec": {"template": {**template, **_REPLACE}}},
        "revision": number,
    }


def superfluous(
    revisions: Sequence[Document], used: Iterable[str], limit: int
) -> tuple[Document, ...]:
    """Return the oldest revisions that nobody uses, beyond those that are kept."""
    names = set(used)
    spare = [it for it in in_order(revisions) if it.metadata.name not in names]
    return tuple(spare[: max(0, len(spare) - limit)])
