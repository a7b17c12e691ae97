"""What there is to see at one moment, and what can be said of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from stateward.etcd.api.kind import EtcdCluster
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.kube import conditions
from stateward.kube.objects.pods import Pod
from stateward.kube.objects.policies import Event


@dataclass(frozen=True, slots=True)
class Picture:
    """A cluster, its pods and its last events, and which operator leads, at one moment.

    And the FoundationDB beside it, once there is one.
    """

    etcd: EtcdCluster | None = None
    pods: tuple[Pod, ...] = ()
    #: Oldest first.
    events: tuple[Event, ...] = ()
    operator: str = ""
    fdb: FoundationDBCluster | None = None
    fdb_pods: tuple[Pod, ...] = ()

    @property
    def leader(self) -> str:
        """The member that leads; empty when none does."""
        return self.etcd.status.leader if self.etcd else ""

    @property
    def doing(self) -> str:
        """What the operator says that it does."""
        return self.etcd.status.doing if self.etcd else ""

    @property
    def cluster_id(self) -> str:
        """Which etcd cluster it is."""
        return self.etcd.status.cluster_id if self.etcd else ""

    def ids(self) -> dict[str, str]:
        """Return the number that each member has in etcd, by name."""
        members = self.etcd.status.members if self.etcd else ()
        return {it.name: it.id for it in members}

    def uids(self) -> dict[str, str]:
        """Return the UID of each pod, by name."""
        return {it.metadata.name: it.metadata.uid for it in self.pods}

    def fdb_uids(self) -> dict[str, str]:
        """Return the UID of each pod of FoundationDB, by name."""
        return {it.metadata.name: it.metadata.uid for it in self.fdb_pods}

    def fdb_zones(self) -> int:
        """Return on how many nodes, each in a zone of its own, FoundationDB runs."""
        return len({it.spec.node_name for it in self.fdb_pods if it.ready})

    def running(self) -> list[str]:
        """Return the pods whose etcd runs, by name."""
        return sorted(it.metadata.name for it in self.pods if _runs(it))

    def restarts(self, pod: str) -> int:
        """Return how often the containers of a pod were started again."""
        found = (it for it in self.pods if it.metadata.name == pod)
        return sum(status.restart_count for it in found for status in it.status.container_statuses)


#: Something that is true of a picture, or not.
Holds: TypeAlias = Callable[[Picture], bool]


def is_ready(picture: Picture) -> bool:
    """Tell whether the cluster is Ready, by the word of the spec that it has now."""
    if picture.etcd is None:
        return False
    found = conditions.find(picture.etcd.status.conditions, "Ready")
    return (
        found is not None
        and found.status == "True"
        and found.observed_generation == picture.etcd.metadata.generation
    )


def has(count: int) -> Holds:
    """Ask for so many members, all of them and their pods well, and not a pod more."""

    def holds(picture: Picture) -> bool:
        if picture.etcd is None or not is_ready(picture):
            return False
        voters = picture.etcd.status.replicas if count else 0
        ready = sum(it.ready for it in picture.pods)
        return voters == len(picture.pods) == ready == count

    return holds


def fdb_is_well(zones: int) -> Holds:
    """Ask for a FoundationDB that is all that was asked for, on so many zones, every pod ready."""

    def holds(picture: Picture) -> bool:
        cluster, pods = picture.fdb, picture.fdb_pods
        if cluster is None or not all(it.ready for it in pods):
            return False
        status = cluster.status
        is_done = status.generations.reconciled == cluster.metadata.generation
        groups = status.reconciled_process_groups
        is_whole = len(pods) == groups == status.desired_process_groups
        return is_done and is_whole and picture.fdb_zones() == zones

    return holds


def healed(before: Picture, pod: str) -> Holds:
    """Ask for what was killed to be back: started again, made anew, or gone for good."""
    uid, restarts = before.uids().get(pod), before.restarts(pod)
    return lambda now: now.uids().get(pod) != uid or now.restarts(pod) > restarts


def how_it_stood(picture: Picture) -> Iterator[str]:
    """Yield how a cluster stands, in sentences for whoever has to find out what is wrong."""
    if picture.etcd is None:
        yield "there is no EtcdCluster"
        return
    status = picture.etcd.status
    yield f"{picture.etcd.spec.replicas} wanted, {status.ready_members or 'none'} ready"
    if status.doing:
        yield f"doing: {status.doing}"
    for member in status.members:
        yield f"{member.name}: {member.message or member.role}"
    for pod in picture.pods:
        if not pod.ready:
            yield f"pod {pod.metadata.name}: {_trouble(pod)}"
    yield from (f"{it.guard}: {it.message}" for it in status.blockers)
    yield from _how_fdb_stood(picture)


def _how_fdb_stood(picture: Picture) -> Iterator[str]:
    if picture.fdb is None:
        return
    status = picture.fdb.status
    yield f"FoundationDB: {status.doing or 'nothing was told of it yet'}"
    for pod in picture.fdb_pods:
        if not pod.ready:
            yield f"pod {pod.metadata.name}: {_trouble(pod)}"
    yield from (f"{it.guard}: {it.message}" for it in status.blockers)


def _runs(pod: Pod) -> bool:
    states = [it.state for it in pod.status.container_statuses]
    ended = any(it.waiting is not None or it.terminated is not None for it in states)
    return pod.status.phase == "Running" and bool(states) and not ended


def _trouble(pod: Pod) -> str:
    if pod.metadata.deleting:
        return "is leaving"
    for it in pod.status.container_statuses:
        if it.state.waiting is not None and it.state.waiting.reason:
            return it.state.waiting.reason
    return f"{pod.status.phase or 'new'}, not ready"
