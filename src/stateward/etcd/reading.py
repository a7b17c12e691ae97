"""Kubernetes' objects as values of the view. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stateward.core import moments
from stateward.core.quantity import Quantity
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.api.settings import CONTAINER, tagged_version
from stateward.etcd.build.flags import quota
from stateward.etcd.model.lastwords import last_words
from stateward.etcd.model.names import CLUSTER_UID_LABEL, LEFT_BY, labels
from stateward.etcd.model.view import ClaimSeen, PodSeen, WorkloadSeen
from stateward.etcd.objects import Workload
from stateward.kube.meta import ObjectMeta
from stateward.kube.objects.pods import ContainerStatus, Pod
from stateward.kube.objects.storage import PersistentVolumeClaim

_REVISION = "controller-revision-hash"


def pod_seen(pod: Pod, ordinal: int, workload: str) -> PodSeen:
    """Return a pod as the view has it; ``workload`` is the UID of the one that is there."""
    maker = pod.metadata.controller
    etcd = next((it for it in pod.status.container_statuses if it.name == CONTAINER), None)
    return PodSeen(
        uid=pod.metadata.uid,
        version=pod.metadata.resource_version,
        name=pod.metadata.name,
        ordinal=ordinal,
        ours=maker is None or maker.uid == workload,
        owners=frozenset(it.uid for it in pod.metadata.owner_references),
        created=_created(pod.metadata),
        address=pod.status.pod_ip,
        node=pod.spec.node_name,
        ready=pod.ready,
        deleting=pod.metadata.deleting,
        revision=pod.metadata.labels.get(_REVISION, ""),
        running=_is_running(etcd),
        restarts=etcd.restart_count if etcd else 0,
        unheard=_is_unheard(pod),
        trouble=_trouble(pod, etcd),
        last_end=_last_end(etcd),
        last_words=_last_words(etcd),
        chance_since=max(_created(pod.metadata), _started(etcd)),
    )


def holds_data_of(claim: PersistentVolumeClaim, uid: str) -> bool:
    """Tell whether a claim is a cluster's by its owners or by its label, whatever else it says."""
    owners = {it.uid for it in claim.metadata.owner_references}
    return uid in owners | {claim.metadata.labels.get(CLUSTER_UID_LABEL)}


def claim_seen(claim: PersistentVolumeClaim, ordinal: int, cluster: str) -> ClaimSeen:
    """Return a claim as the view has it; ``cluster`` is the name of the one that it is of."""
    owners = claim.metadata.owner_references
    ours = (it.uid for it in owners if it.kind == ETCD_CLUSTERS.kind)
    return ClaimSeen(
        uid=claim.metadata.uid,
        name=claim.metadata.name,
        ordinal=ordinal,
        created=_created(claim.metadata),
        deleting=claim.metadata.deleting,
        phase=claim.status.phase,
        cluster_uid=claim.metadata.labels.get(CLUSTER_UID_LABEL, ""),
        owner_uid=next(ours, ""),
        left_by=claim.metadata.annotations.get(LEFT_BY, ""),
        labelled=labels(cluster).items() <= claim.metadata.labels.items(),
        requested=_bytes(claim.spec.resources.requests),
        size=_bytes(claim.status.capacity) or _bytes(claim.spec.resources.requests),
    )


def workload_seen(live: Workload, *, differs: bool, outgrown: bool, disowned: bool) -> WorkloadSeen:
    """Return a StatefulSet as the view has it."""
    owner, status = live.metadata.controller, live.status
    is_fresh = status.observed_generation == live.metadata.generation
    ordinals = covered(live.spec)
    return WorkloadSeen(
        uid=live.metadata.uid,
        replicas=len(ordinals),
        start=ordinals.start,
        update_revision=status.update_revision if is_fresh else "",
        deleting=live.metadata.deleting,
        owner_uid=owner.uid if owner else _former(live),
        differs=differs,
        outgrown=outgrown,
        disowned=disowned,
        quota=sum(map(quota, _etcd_in(live.spec))),
        version=next((_version(it) for it in _etcd_in(live.spec)), ""),
    )


def covered(spec: Mapping[str, Any]) -> range:
    """Return the ordinals for which a StatefulSet makes pods."""
    start = int((spec.get("ordinals") or {}).get("start", 0))
    return range(start, start + int(spec.get("replicas", 1)))


def _etcd_in(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return etcd's own container in the template of a StatefulSet, which should be one."""
    pod = (spec.get("template") or {}).get("spec") or {}
    return [it for it in pod.get("containers") or () if it.get("name") == CONTAINER]


def _version(container: Mapping[str, Any]) -> str:
    return str(tagged_version(str(container.get("image"))) or "")


def _former(live: Workload) -> str:
    """Return nothing for what an earlier cluster of this name left behind: it is taken over.

    So is our own when its labels and its owner were taken off: its claims' template still tells.
    """
    templates = (it.get("metadata") or {} for it in live.spec.get("volumeClaimTemplates") or ())
    every = (live.metadata.labels, *(it.get("labels") or {} for it in templates))
    return "" if any(CLUSTER_UID_LABEL in it for it in every) else "nobody"


def template_bytes(templates: Iterable[Mapping[str, Any]]) -> int:
    """Return how much the claim templates of a StatefulSet ask for, all together."""
    resources = (it.get("spec", {}).get("resources") or {} for it in templates)
    return sum(_bytes(it.get("requests") or {}) for it in resources)


def _is_running(status: ContainerStatus | None) -> bool:
    if status is None:
        return False
    return status.state.waiting is None and status.state.terminated is None


def _is_unheard(pod: Pod) -> bool:
    """Tell whether Kubernetes took back what a node said last: that its containers are ready."""
    said = {it.type: it for it in pod.status.conditions}
    ready, inner = said.get("Ready"), said.get("ContainersReady")
    if ready is None or inner is None or ready.reason == "ReadinessGatesNotReady":
        return False
    return inner.status == "True" and ready.status != "True"


def _started(status: ContainerStatus | None) -> float:
    """Return when an etcd started, if it runs now, and 0 otherwise.

    One that crashes on and on starts on and on: while it waits for the next time, that is no start.
    """
    runs = status.state.running if status is not None else None
    return moments.from_rfc3339(runs.started_at) if runs is not None and runs.started_at else 0.0


def _trouble(pod: Pod, status: ContainerStatus | None) -> str:
    if not pod.spec.node_name:
        refusals = (it.reason for it in pod.status.conditions if it.type == "PodScheduled")
        return next(refusals, "")
    if status is not None and status.state.waiting is not None:
        return status.state.waiting.reason
    return pod.status.reason


def _last_end(status: ContainerStatus | None) -> str:
    if status is None:
        return ""
    ended = status.state.terminated or status.last_state.terminated
    return ended.reason if ended else ""


def _last_words(status: ContainerStatus | None) -> str:
    if status is None:
        return ""
    ended = status.state.terminated or status.last_state.terminated
    return last_words(ended.message) if ended else ""


def _created(metadata: ObjectMeta) -> float:
    return moments.from_rfc3339(metadata.creation_timestamp)


def _bytes(amounts: Mapping[str, str]) -> int:
    return int(Quantity.parse(amounts["storage"])) if "storage" in amounts else 0
