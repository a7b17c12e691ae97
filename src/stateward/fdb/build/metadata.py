"""What every object has: its name, its labels, whose it is, and a hash of what was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from stateward.fdb.api import questions
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.fdb.build.basis import Basis
from stateward.fdb.model.names import CLASS_LABEL, ProcessGroupID, instance_labels
from stateward.kube.codec import Json
from stateward.kube.resources import Resource


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of an object beside its name."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def by(template: Json) -> Said:
        """Return what the metadata of a template says; a name in it is not used."""
        return Said(dict(template.get("labels") or {}), dict(template.get("annotations") or {}))

    def under(self, labels: dict[str, str], annotations: dict[str, str] | None = None) -> Said:
        """Return the same with more laid over it."""
        return Said(self.labels | labels, self.annotations | (annotations or {}))

    def document(self) -> Json:
        """Return it as part of a document; what is empty is left out."""
        both = {"labels": self.labels, "annotations": self.annotations}
        return {name: value for name, value in both.items() if value}


def resource_labels(basis: Basis) -> dict[str, str]:
    """Return what is said of the objects of a cluster that belong to no group."""
    return questions.resource_labels(basis.name, basis.spec) | instance_labels(basis.name)


def group_labels(basis: Basis, group: ProcessGroupID) -> dict[str, str]:
    """Return what is said of a group and of all its objects."""
    return questions.group_labels(basis.name, basis.spec, group) | instance_labels(basis.name)


def selector(basis: Basis) -> dict[str, str]:
    """Return what selects all pods of a cluster, as it is on them: some labels are ours to say."""
    said = resource_labels(basis)
    return {name: said[name] for name in questions.match_labels(basis.name, basis.spec)}


def class_selector(basis: Basis, process_class: str) -> dict[str, str]:
    """Return what selects the pods of a class, and no others."""
    (key, *_) = basis.spec.labels.process_class_labels or (CLASS_LABEL,)
    return selector(basis) | {key: process_class}


def id_selector(group: FoundationDBProcessGroup) -> dict[str, str]:
    """Return what selects the pod of a group, and no other.

    Users may name the labels of ids, but not what they say; and our own labels tell clusters apart.
    """
    labels, identity = group.metadata.labels, group.spec.process_group_id
    ids = {name: value for name, value in labels.items() if value == identity}
    return ids | instance_labels(group.spec.cluster_name)


def cluster_owner(basis: Basis) -> Json:
    """Return a reference to the cluster: what has it goes when the cluster goes."""
    return owner_of(CLUSTERS, basis.name, basis.uid)


def group_owner(group: FoundationDBProcessGroup) -> Json:
    """Return a reference to a group: what has it goes when the group goes."""
    return owner_of(PROCESS_GROUPS, group.metadata.name, group.metadata.uid)


def head(
    resource: Resource[Any], namespace: str, name: str, said: Said, owners: Iterable[Json]
) -> Json:
    """Return the beginning of a document."""
    metadata: Json = {"name": name, "namespace": namespace, **said.document()}
    if found := list(owners):
        metadata["ownerReferences"] = found
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


def digest(document: Any) -> str:
    """Return the SHA-256 of a document; the order of its fields does not count.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(msgspec.json.encode(document, order="deterministic")).hexdigest()


def owner_of(resource: Resource[Any], name: str, uid: str) -> Json:
    """Return a reference to who owns and controls an object."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
