"""What is known of one process group in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from stateward.core.moments import from_rfc3339
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.decide.held import BELIEVED
from stateward.fdb.groups.board import Posted
from stateward.fdb.groups.memo import Wanted
from stateward.fdb.model import names
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.network import Service
from stateward.kube.objects.pods import ContainerStatus, Pod
from stateward.kube.objects.storage import PersistentVolumeClaim


class Fate(StrEnum):
    """What has become of the cluster that a group belongs to, by its UID."""

    HERE = "here"
    LEAVING = "leaving"
    #: Asked past the cache: there is none of this UID.
    GONE = "gone"
    #: Asked past the cache: it is there, and another operator looks after it.
    ELSEWHERE = "elsewhere"
    #: The cache does not show it, which means nothing.
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class GroupSeen:
    """One group, its cluster, its objects, and what its database said last."""

    group: FoundationDBProcessGroup
    now: float
    wanted: Wanted
    fate: Fate = Fate.UNSEEN
    cluster: FoundationDBCluster | None = None
    pod: Pod | None = None
    claim: PersistentVolumeClaim | None = None
    service: Service | None = None
    #: What the config map says; None: there is none.
    data: Mapping[str, str] | None = None
    #: The hash of what the sidecar of a split pod shall have copied; empty: it need not yet.
    files: str = ""
    posted: Posted | None = None
    #: All that the pod has otherwise than it shall: images beside fdbserver, by their places.
    #: None: it has all, or something else otherwise.
    old_images: Mapping[str, str] | None = None
    #: The sidecar of the pod was asked last and gave no answer.
    silent: bool = False
    #: The proof that nothing is left on it is our own, of this process; nobody else's word counts.
    vouched: bool = False

    @property
    def key(self) -> ObjectKey:
        """Where the group is, and its pod and its service."""
        return self.group.metadata.key

    @property
    def claim_key(self) -> ObjectKey:
        """Where its claim is."""
        return claim_key(self.key)

    @property
    def cluster_uid(self) -> str:
        """Which cluster of that name it belongs to; empty: nobody said."""
        return cluster_uid(self.group)

    @property
    def skipped(self) -> bool:
        """Whether its cluster is only to be looked at."""
        return self.cluster is not None and self.cluster.spec.skip

    @property
    def holds_nothing(self) -> bool:
        """Whether it shall go, and nothing that matters is on it."""
        spec = self.group.spec
        return spec.remove and (spec.excluded or spec.exclusion_skipped)

    @property
    def emptied(self) -> bool:
        """Whether it may go, and nothing is made for it any more.

        Who goes with its volume has a pod until it is its turn: others may have lost what is on it.
        Once it began to go, it does not come back.
        """
        spec = self.group.spec
        begun = self.group.metadata.deleting and spec.exclusion_timestamp is not None
        may = spec.excluded or begun or self.has_turn
        return self.holds_nothing and (may or self.claim is None)

    @property
    def has_turn(self) -> bool:
        """Whether we said that it may go, or that nothing is on it, not too long ago."""
        said = self.group.spec.exclusion_timestamp if self.vouched else None
        return said is not None and self.now - from_rfc3339(said) <= BELIEVED

    @property
    def orphaned(self) -> bool:
        """Whether its cluster goes, or is gone."""
        return self.fate in {Fate.LEAVING, Fate.GONE}

    @property
    def may_leave(self) -> bool:
        """Whether its objects may be deleted for good."""
        return self.emptied or self.orphaned


def claim_key(group: ObjectKey) -> ObjectKey:
    """Return where the claim of a group is."""
    return ObjectKey(group.namespace, names.claim_name(group.name))


def cluster_uid(group: FoundationDBProcessGroup) -> str:
    """Return which cluster owns a group, by its UID; empty: none does."""
    owner = group.metadata.controller
    return "" if owner is None else owner.uid


def cluster_key(group: FoundationDBProcessGroup) -> ObjectKey:
    """Return where the cluster of a group is."""
    return ObjectKey(group.metadata.namespace, group.spec.cluster_name)


def sidecar_before(pod: Pod | None) -> str:
    """Return which container is the sidecar of a pod, and with which image; nothing: none runs.

    One that has not ended since its image was changed last still has the image of then.
    """
    told = sidecar_of(pod)
    if pod is None or told is None or not told.container_id:
        return ""
    former = pod.metadata.annotations.get(names.SIDECAR_BEFORE, "")
    if former.startswith(f"{told.container_id} "):
        return former
    return f"{told.container_id} {_sidecar_image(pod)}"


def awaits_sidecar(pod: Pod) -> bool:
    """Tell whether a sidecar whose image was changed in place has yet to start with it.

    What it brought before may be what it shall bring: an image that cannot be had is not noticed.
    Nobody starts one anew that has the image already: it was set back, or is of another container.
    """
    former, now = pod.metadata.annotations.get(names.SIDECAR_BEFORE), sidecar_of(pod)
    if not former or now is None:
        return False
    before, _, image = former.partition(" ")
    is_old = now.container_id == before and image != _sidecar_image(pod)
    return is_old or now.state.running is None


def sidecar_of(pod: Pod | None) -> ContainerStatus | None:
    """Return what is told of the container beside fdbserver."""
    found = () if pod is None else pod.status.container_statuses
    return next((it for it in found if it.name == names.SIDECAR_CONTAINER), None)


def _sidecar_image(pod: Pod) -> str:
    found = (it.image for it in pod.spec.containers if it.name == names.SIDECAR_CONTAINER)
    return next(found, "")
