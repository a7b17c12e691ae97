"""Whose an object is that has the name of one of ours: names prove nothing, owners and UIDs do."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.fdb.groups.seen import cluster_uid
from stateward.fdb.model import names
from stateward.kube.meta import Object, ObjectMeta, OwnerReference
from stateward.kube.resources import Resource

Owners: TypeAlias = tuple[OwnerReference, ...]


class Whose(StrEnum):
    """Whose it may be."""

    OURS = "ours"
    #: Of the cluster, made by another operator of it, or let go by a group of before.
    ADOPTABLE = "adoptable"
    #: Of a group of before: it goes by itself.
    LEFTOVER = "leftover"
    #: A claim of another cluster, perhaps of an earlier one of the same name.
    OTHER_CLUSTER = "other cluster"
    STRANGE = "strange"


def of_group(found: Object, group: FoundationDBProcessGroup) -> Whose:
    """Tell whose a pod or a service is."""
    metadata, uid = found.metadata, cluster_uid(group)
    owner = metadata.controller
    if owner is None:
        return Whose.ADOPTABLE if _is_labelled(metadata, group) else Whose.STRANGE
    if owner.uid == group.metadata.uid:
        return Whose.OURS
    if owner.uid == uid:
        return Whose.ADOPTABLE
    before = (owner.kind, owner.name) == (PROCESS_GROUPS.kind, group.metadata.name)
    return Whose.LEFTOVER if before else Whose.STRANGE


def of_cluster(found: Object, group: FoundationDBProcessGroup) -> Whose:
    """Tell whose a claim is: it holds data of one cluster, and no other may have it."""
    metadata, uid = found.metadata, cluster_uid(group)
    said = metadata.labels.get(names.CLUSTER_UID_LABEL, "")
    if said:
        if said == group.spec.adopt_volume_of and not metadata.owner_references:
            return Whose.ADOPTABLE
        return Whose.OURS if said == uid else Whose.OTHER_CLUSTER
    tied = any(it.uid == uid for it in metadata.owner_references)
    return Whose.ADOPTABLE if tied else Whose.STRANGE


def is_isolated(found: Object) -> bool:
    """Tell whether somebody looks into a pod, so that nobody may delete it."""
    return found.metadata.annotations.get(names.ISOLATED, "").lower() == "true"


def controlled_by(metadata: ObjectMeta, group: FoundationDBProcessGroup) -> Owners | None:
    """Return the owners of an object once a group controls it; None: they are as they shall be."""
    owner = metadata.controller
    if owner is not None and owner.uid == group.metadata.uid:
        return None
    uid = group.metadata.uid
    others = [it for it in metadata.owner_references if not it.controller and it.uid != uid]
    return (*others, _reference(PROCESS_GROUPS, group.metadata, controls=True))


def tied(metadata: ObjectMeta, group: FoundationDBProcessGroup) -> Owners | None:
    """Return the owners that a claim shall have; None: they are as they shall be.

    Only a claim that shall go with its cluster has it as its owner.
    """
    uid, found = cluster_uid(group), metadata.owner_references
    is_tied = any(it.uid == uid for it in found)
    if is_tied == (group.spec.deletion_policy == "Delete"):
        return None
    if is_tied:
        return tuple(it for it in found if it.uid != uid)
    return (*found, cluster_reference(group))


def cluster_reference(group: FoundationDBProcessGroup) -> OwnerReference:
    """Return the cluster of a group as an owner that does not control."""
    cluster = ObjectMeta(name=group.spec.cluster_name, uid=cluster_uid(group))
    return _reference(CLUSTERS, cluster, controls=False)


def _reference(resource: Resource[Any], metadata: ObjectMeta, *, controls: bool) -> OwnerReference:
    return OwnerReference(
        api_version=resource.api_version,
        kind=resource.kind,
        name=metadata.name,
        uid=metadata.uid,
        controller=controls,
        block_owner_deletion=controls,
    )


def _is_labelled(metadata: ObjectMeta, group: FoundationDBProcessGroup) -> bool:
    """Tell whether an object that nobody controls says that it is of the cluster."""
    cluster = group.spec.cluster_name
    ours = names.instance_labels(cluster).items() <= metadata.labels.items()
    return ours or metadata.labels.get(names.CLUSTER_LABEL) == cluster
