"""What the operator sees of a modelled cluster: all of it, as it is."""

from __future__ import annotations

from functools import cache

import msgspec

from fakes.etcd_model import GRACE, Claim, Entry, EtcdWorld, Pod
from fakes.etcd_views import CLAIM_BYTES, NAME, NAMESPACE, RAFT_INDEX, UID, VERSION, peer_url
from stateward.core.facts import Fact, Known, Unknown
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.spec import EtcdClusterSpec
from stateward.etcd.model.members import Member, MemberStatus
from stateward.etcd.model.names import ordinal_of
from stateward.etcd.model.view import ClaimSeen, Listed, PodSeen, Replica, View, WorkloadSeen
from stateward.kube.meta import ObjectMeta


def view_of(world: EtcdWorld) -> View:
    """Return what the operator sees: all of it, as it is now."""
    n = world.current
    heard = (
        n is not None
        and world.has_quorum(n)
        and any(world.pods[it].speaks for it in world.running(n).values())
    )
    entries = _entries(world, n) if heard and n is not None else ()
    known = (ordinal_of(NAME, it.name) for it in world.status.last_known_members)
    ordinals = {*world.pods, *world.claims, *range(max(world.wanted, 1))}
    ordinals |= {it for it in known if it is not None}
    ordinals |= set(world.workload.ordinals) if world.workload else set()
    ordinals |= {it.ordinal for it in entries if it.ordinal is not None}
    listed = {it.ordinal: it for it in entries}
    nobody = Unknown("nobody has a quorum")
    return View(
        cluster=_cluster(world),
        now=world.now,
        replicas=tuple(_replica(world, it, listed.get(it)) for it in sorted(ordinals)),
        listed=Known(entries, world.now, "a quorum") if heard else nobody,
        alarms=Known((), world.now, "a quorum") if heard else nobody,
        workload=_workload_seen(world),
        config=world.config,
        image_version=VERSION,
        wanted_bytes=CLAIM_BYTES,
        wanted_size="4Gi",
    )


def _cluster(world: EtcdWorld) -> EtcdCluster:
    metadata = ObjectMeta(name=NAME, namespace=NAMESPACE, uid=UID, generation=1)
    return EtcdCluster(metadata=metadata, spec=_spec(world.wanted), status=world.status)


def _workload_seen(world: EtcdWorld) -> WorkloadSeen | None:
    it = world.workload
    if it is None:
        return None
    differs = it.revision != world.wanted_revision
    return WorkloadSeen(it.uid, it.replicas, it.start, it.revision, False, UID, differs)


def _entries(world: EtcdWorld, n: int) -> tuple[Listed, ...]:
    return tuple(
        Listed(_member(id_, it), it.ordinal)
        for id_, it in sorted(world.histories[n].members.items(), key=lambda it: it[1].ordinal)
    )


def _replica(world: EtcdWorld, ordinal: int, listed: Listed | None) -> Replica:
    pod, claim = world.pods.get(ordinal), world.claims.get(ordinal)
    return Replica(
        ordinal=ordinal,
        name=f"{NAME}-{ordinal}",
        peer_url=peer_url(ordinal),
        pod=_pod_seen(world, ordinal, pod) if pod else None,
        claim=_claim_seen(ordinal, claim) if claim else None,
        status=_said(world, pod),
        listed=listed,
    )


def _pod_seen(world: EtcdWorld, ordinal: int, pod: Pod) -> PodSeen:
    runs, stuck = pod.runs is not None, pod.restarts > 0 and pod.runs is None
    trouble = "" if runs else "Unschedulable" if not pod.node else "CrashLoopBackOff"
    return PodSeen(
        uid=pod.uid,
        name=f"{NAME}-{ordinal}",
        ordinal=ordinal,
        created=pod.created,
        address=f"10.0.0.{ordinal + 1}" if pod.node else "",
        node=f"node-{ordinal}" if pod.node else "",
        ready=pod.speaks and pod.runs is not None and world.has_quorum(pod.runs.history),
        deleting=pod.deleting,
        revision=pod.revision,
        running=runs,
        restarts=pod.restarts,
        trouble=trouble if stuck or not pod.node else "",
        last_end="Error" if pod.restarts else "",
        # In this world nobody crashes but by what is on the disk, or is not.
        last_words="couldn't find local name" if pod.restarts else "",
    )


def _said(world: EtcdWorld, pod: Pod | None) -> Fact[MemberStatus]:
    if pod is None or pod.runs is None or not pod.speaks:
        return Unknown("connection refused")
    history = world.histories[pod.runs.history]
    entry = history.members.get(pod.runs.member)
    status = MemberStatus(
        cluster_id=history.cluster_id,
        member_id=pod.runs.member,
        version=VERSION,
        leader=history.leader,
        learner=entry is not None and entry.learner,
        revision=history.revision,
        raft_term=2,
        raft_index=RAFT_INDEX,
        raft_applied_index=RAFT_INDEX,
    )
    return Known(status, world.now, "itself")


@cache
def _spec(wanted: int) -> EtcdClusterSpec:
    claims = {"spec": {"resources": {"requests": {"storage": "4Gi"}}}}
    written = {
        "replicas": wanted,
        "storage": {"volumeClaimTemplate": claims},
        "unhealthyMemberGracePeriod": f"{GRACE:g}s",
    }
    return msgspec.convert(written, EtcdClusterSpec)


def _member(id_: int, entry: Entry) -> Member:
    name = f"{NAME}-{entry.ordinal}" if entry.started else ""
    urls = (peer_url(entry.ordinal),)
    return Member(id_, name, urls, urls if entry.started else (), entry.learner)


def _claim_seen(ordinal: int, claim: Claim) -> ClaimSeen:
    return ClaimSeen(
        uid=claim.uid,
        name=f"data-{NAME}-{ordinal}",
        ordinal=ordinal,
        created=claim.created,
        deleting=claim.deleting,
        phase="Bound",
        cluster_uid=UID,
        owner_uid=claim.owner,
        left_by=claim.left_by,
        requested=CLAIM_BYTES,
    )
