"""See: one frozen look at a process group, from the caches, and past them where it matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from stateward.core.clock import Clock
from stateward.fdb.api.kind import (
    CLUSTERS,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.fdb.groups.board import Board, Posted
from stateward.fdb.groups.caches import GroupCaches
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.seen import Fate, GroupSeen, claim_key, cluster_key, cluster_uid
from stateward.fdb.model import names
from stateward.kube.errors import NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.pods import Container, Pod
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS, Resource
from stateward.kube.selector import EVERYTHING, LabelSelector

T = TypeVar("T", bound=Object)


class Getter(Protocol):
    """The one call that is needed to look past a cache."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now."""


async def found(client: Getter, resource: Resource[T], key: ObjectKey) -> T | None:
    """Return an object as it is now; None: there is none."""
    try:
        return await client.get(resource, key)
    except NotFound:
        return None


@dataclass(frozen=True, slots=True)
class Around:
    """What is the same for all process groups of a cluster, at one moment."""

    now: float
    cluster: FoundationDBCluster | None
    #: What the config map says; None: there is none.
    data: Mapping[str, str] | None
    posted: Posted | None


@dataclass(frozen=True, slots=True)
class Eyes:
    """Where to look: the caches, the board, and what was worked out before."""

    caches: GroupCaches
    board: Board
    memo: Memo
    clock: Clock
    #: Pods whose sidecars gave no answer when they were asked last, by UID.
    silent: set[str] = field(default_factory=set)
    #: Which clusters this operator looks after, by their labels.
    ours: LabelSelector = EVERYTHING

    def around(self, cluster: ObjectKey) -> Around:
        """Return what is to be seen of a cluster, whichever of its groups is looked at."""
        name = ObjectKey(cluster.namespace, names.config_map_name(cluster.name))
        config = self.caches.configs.get(name)
        return Around(
            now=self.clock.now(),
            cluster=self.caches.clusters.get(cluster),
            data=None if config is None else config.data,
            posted=self.board.of(cluster),
        )

    def glance(self, group: FoundationDBProcessGroup, around: Around | None = None) -> GroupSeen:
        """Return what the caches show of a group; nothing is asked of anybody."""
        around = around or self.around(cluster_key(group))
        key, owner, fate = group.metadata.key, around.cluster, Fate.UNSEEN
        if owner is not None and owner.metadata.uid == cluster_uid(group):
            fate = Fate.LEAVING if owner.metadata.deleting else Fate.HERE
        pod = self.caches.pods.get(key)
        return GroupSeen(
            group=group,
            now=around.now,
            wanted=self.memo.wanted(group),
            fate=fate,
            cluster=None if fate is Fate.UNSEEN else owner,
            pod=pod,
            claim=self.caches.claims.get(claim_key(key)),
            service=self.caches.services.get(key),
            data=around.data,
            files=self._files(group, around.data),
            posted=around.posted,
            silent=pod is not None and pod.metadata.uid in self.silent,
            old_images=None if pod is None else self.old_images(group, pod),
            vouched=self.board.vouches(
                cluster_key(group), group.metadata.uid, group.spec.exclusion_timestamp
            ),
        )

    def old_images(self, group: FoundationDBProcessGroup, pod: Pod) -> Mapping[str, str] | None:
        """Return the images to be had in place, by where they stand; None: that is not all."""
        wanted, made_from = self.memo.wanted(group), pod.metadata.annotations.get(names.SPEC_HASH)
        if made_from == wanted.pod_hash:
            return None
        places = dict(_places(pod))
        differing = {
            place: wanted.beside[it.name]
            for place, it in places.items()
            if it.image != wanted.beside.get(it.name, it.image)
        }
        before = {places[it].name: places[it].image for it in differing}
        if not differing or self.memo.hash_with(group, before) != made_from:
            return None
        return differing

    def _files(self, group: FoundationDBProcessGroup, data: Mapping[str, str] | None) -> str:
        """Return what a sidecar shall have copied; nothing while there is no database to name."""
        if group.spec.image_type != "split" or not data or not data.get(names.CLUSTER_FILE_KEY):
            return ""
        return self.memo.files_hash(group, data)


def _places(pod: Pod) -> Iterator[tuple[str, Container]]:
    for number, it in enumerate(pod.spec.init_containers):
        yield f"initContainers/{number}", it
    for number, it in enumerate(pod.spec.containers):
        yield f"containers/{number}", it


async def look(eyes: Eyes, client: Getter, group: FoundationDBProcessGroup) -> GroupSeen:
    """Return a group as it is: what may be deleted, and that its cluster is gone, is asked live."""
    seen = eyes.glance(group)
    owned = seen.cluster_uid or group.metadata.deleting
    if seen.fate is Fate.UNSEEN and (owned or eyes.ours.requirements):
        seen = replace(seen, fate=await _fate(client, group, eyes.ours))
    if not group.metadata.deleting or not seen.may_leave:
        return seen
    return replace(
        seen,
        pod=await found(client, PODS, seen.key),
        claim=await found(client, VOLUME_CLAIMS, seen.claim_key),
        service=await found(client, SERVICES, seen.key),
    )


async def look_again(client: Getter, seen: GroupSeen, *, taking: bool) -> GroupSeen | None:
    """Return the same with the group and its claim as they are now; None: the group is another.

    Asked right before something is made, or taken away: then its pod is looked at, too.
    """
    group = await found(client, PROCESS_GROUPS, seen.key)
    if group is None or _intent(group) != _intent(seen.group):
        return None
    pod = await found(client, PODS, seen.key) if taking else seen.pod
    # One that is not there is made, and that tells if it is there after all.
    there = seen.claim is not None
    claim = await found(client, VOLUME_CLAIMS, seen.claim_key) if there else None
    return replace(seen, group=group, pod=pod, claim=claim)


def _intent(group: FoundationDBProcessGroup) -> tuple[object, ...]:
    metadata = group.metadata
    return metadata.uid, metadata.generation, metadata.deleting, cluster_uid(group)


async def _fate(client: Getter, group: FoundationDBProcessGroup, ours: LabelSelector) -> Fate:
    """Return what became of a cluster that the cache does not show.

    Of a group that nobody owns it is gone when none has its name: one that has may yet own it.
    """
    cluster, uid = await found(client, CLUSTERS, cluster_key(group)), cluster_uid(group)
    if cluster is None or (uid and cluster.metadata.uid != uid):
        return Fate.GONE
    if not ours.matches(cluster.metadata.labels):
        return Fate.ELSEWHERE
    if not uid:
        return Fate.UNSEEN
    return Fate.LEAVING if cluster.metadata.deleting else Fate.UNSEEN
