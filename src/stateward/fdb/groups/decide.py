"""What is to be done for a process group. Pure: all that counts is in what was seen.

A group that stays has its claim first, then its service, then its pod; what is not as it shall be
and can be changed in place is changed. A group that leaves loses its pod, then its claim, then its
service, each only when what was before it is really gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.core.moments import from_rfc3339
from stateward.fdb.admin.pod_agent.pods import asks_for_certificates
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.build.config_map import conf_text
from stateward.fdb.decide.groups.conditions import runs_with
from stateward.fdb.groups import ownership
from stateward.fdb.groups.acts import (
    Act,
    Await,
    CreateClaim,
    CreatePod,
    CreateService,
    DeleteClaim,
    DeletePod,
    DeleteService,
    DropFinalizer,
    Refuse,
    Relabel,
    RenewCertificate,
    SyncFiles,
    UpdateImages,
    WakeNode,
)
from stateward.fdb.groups.memo import Marks
from stateward.fdb.groups.ownership import Owners, Whose
from stateward.fdb.groups.seen import Fate, GroupSeen
from stateward.fdb.model import names
from stateward.fdb.model.addresses import ip_of
from stateward.kube.meta import Object, ObjectMeta
from stateward.kube.objects.network import Service
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS, Resource

#: Seconds that a pod which has ended is left, so that somebody can see why.
_ENDED: Final = 30.0
#: Seconds: what leaves may have lost the labels by which we would be told of its end.
_LOOK_AGAIN: Final = 5.0
_TERMINATING: Final = {
    PODS.kind: "PodTerminating",
    SERVICES.kind: "ServiceTerminating",
    VOLUME_CLAIMS.kind: "ClaimTerminating",
}
_TURN_AWAITED: Final = Await(
    "TurnAwaited",
    "it goes with what it holds: waiting until the cluster says that it may, now",
    _LOOK_AGAIN,
)
_TERMINAL: Final = frozenset({"Failed", "Succeeded"})


def next_acts(seen: GroupSeen) -> tuple[Act, ...]:
    """Return what is to be done, in this order; nothing: it is all as it shall be."""
    deleted = seen.group.metadata.deleting
    if seen.fate is Fate.UNSEEN or (seen.orphaned and not deleted):
        return (_without_cluster(seen),)
    if seen.skipped and not seen.orphaned:
        return (Await("Skipped", "the cluster asks to be looked at only (spec.skip)"),)
    return _of_leaving(seen) if deleted else _of_staying(seen)


def _of_staying(seen: GroupSeen) -> tuple[Act, ...]:
    return (*claim_acts(seen), *service_acts(seen), *pod_acts(seen), *_sync(seen))


def _without_cluster(seen: GroupSeen) -> Act:
    if not seen.cluster_uid:
        return Await("NoOwner", "no cluster owns this process group: nothing is made for it")
    if seen.orphaned:
        return Await("ClusterGone", "the cluster goes, and so will this process group")
    words = f"waiting until cluster {seen.group.spec.cluster_name} can be seen"
    return Await("ClusterUnseen", words, _LOOK_AGAIN)


# ------------------------------------------------------------------ staying
def claim_acts(seen: GroupSeen) -> Iterator[Act]:
    """Yield what is to be done for the claim of a group that stays."""
    if seen.wanted.claim is None:
        return
    if seen.claim is None:
        if not seen.emptied:
            yield CreateClaim()
        return
    whose = ownership.of_cluster(seen.claim, seen.group)
    if (refused := _taken(VOLUME_CLAIMS, seen.claim, whose)) is not None:
        yield refused
    elif not seen.claim.metadata.deleting:
        owners = ownership.tied(seen.claim.metadata, seen.group)
        yield from _mended(VOLUME_CLAIMS, seen.claim.metadata, seen.wanted.claim, owners)
    elif seen.pod is None and not seen.emptied:
        yield _gone_first(VOLUME_CLAIMS, seen.claim)


def service_acts(seen: GroupSeen) -> Iterator[Act]:
    """Yield what is to be done for the service of a group that stays."""
    if seen.wanted.service is None:
        return
    if seen.service is None:
        if not seen.emptied:
            yield CreateService()
        return
    yield from _kept(SERVICES, seen.service, seen, seen.wanted.service)


def pod_acts(seen: GroupSeen) -> Iterator[Act]:
    """Yield what is to be done for the pod of a group that stays."""
    if seen.pod is None:
        if not seen.emptied:
            yield from _first_pod(seen)
        return
    whose = ownership.of_group(seen.pod, seen.group)
    is_ours = whose in {Whose.OURS, Whose.ADOPTABLE}
    may_go = is_ours and not seen.pod.metadata.deleting and not ownership.is_isolated(seen.pod)
    if may_go and (ended := _made_anew(seen, seen.pod)) is not None:
        yield ended
    else:
        yield from _kept(PODS, seen.pod, seen, seen.wanted.pod)
        if may_go and seen.old_images:
            made_from = seen.pod.metadata.annotations[names.SPEC_HASH]
            uid, wanted = seen.pod.metadata.uid, seen.wanted.pod_hash
            yield UpdateImages(uid, seen.old_images, made_from, wanted)


def _first_pod(seen: GroupSeen) -> Iterator[Act]:
    """Yield what lets a group have a pod: never on a claim that goes, or is not its own."""
    if seen.wanted.claim is not None and (claim := seen.claim) is not None:
        whose = ownership.of_cluster(claim, seen.group)
        if whose not in {Whose.OURS, Whose.ADOPTABLE} or claim.metadata.deleting:
            return
    if seen.wanted.service is None:
        yield CreatePod()
    elif seen.service is not None and _is_usable(seen.service, seen):
        yield CreatePod(service_ip(seen.service, seen.group.spec.service.pod_ip_family))


def _is_usable(service: Service, seen: GroupSeen) -> bool:
    """Tell whether a service is ours and has an address by now."""
    whose = ownership.of_group(service, seen.group)
    has_address = bool(service_ip(service, seen.group.spec.service.pod_ip_family))
    ours = whose in {Whose.OURS, Whose.ADOPTABLE}
    return ours and has_address and not service.metadata.deleting


def service_ip(service: Service, family: int | None) -> str:
    """Return the address of a service in a family; empty: it has none yet."""
    spec = service.spec
    every = [it for it in (*spec.cluster_ips, spec.cluster_ip) if ip_of(it) is not None]
    fitting = [it for it in every if family is None or (family == 6) == (":" in it)]
    return next(iter(fitting), "")


def ordered_to_go(spec: FoundationDBProcessGroupSpec, now: float) -> str:
    """Return which pod shall go, by its UID; nothing: none, or the order is an old one.

    Whoever gave it asked whether a pod may be away then. Nobody knows whether it may be later.
    """
    until = spec.obsolete_until
    try:
        return spec.obsolete_pod if until is None or now <= from_rfc3339(until) else ""
    except ValueError:
        return ""


def _made_anew(seen: GroupSeen, pod: Pod) -> Act | None:
    """Return why a pod goes so that another is made; None: it stays."""
    if seen.emptied:
        return None
    if ordered_to_go(seen.group.spec, seen.now) == pod.metadata.uid:
        return DeletePod(pod.metadata.uid, "it is to be made anew")
    if pod.status.phase not in _TERMINAL:
        return None
    left = _ENDED - (seen.now - from_rfc3339(pod.metadata.creation_timestamp))
    if left > 0:
        return Await("PodEnded", f"pod {pod.metadata.name} has ended", left)
    return DeletePod(pod.metadata.uid, "it has ended")


def _kept(resource: Resource[Any], found: Object, seen: GroupSeen, wanted: Marks) -> Iterator[Act]:
    """Yield what makes a pod or a service known as ours, or why it cannot be."""
    metadata, whose = found.metadata, ownership.of_group(found, seen.group)
    if metadata.deleting or whose is Whose.LEFTOVER:
        yield _gone_first(resource, found)
    elif (refused := _taken(resource, found, whose)) is not None:
        yield refused
    else:
        owners = ownership.controlled_by(metadata, seen.group)
        yield from _mended(resource, metadata, wanted, owners)


def _mended(
    resource: Resource[Any], metadata: ObjectMeta, wanted: Marks, owners: Owners | None
) -> Iterator[Act]:
    """Yield what an object lacks; what is on it beyond that is somebody's, and stays."""
    labels = _lacking(metadata.labels, wanted.labels)
    annotations = _lacking(metadata.annotations, wanted.annotations)
    if labels or annotations or owners is not None:
        yield Relabel(resource, metadata, labels, annotations, owners)


def _lacking(there: Any, wanted: Any) -> dict[str, str]:
    return {name: it for name, it in wanted.items() if there.get(name) != it}


def _taken(resource: Resource[Any], found: Object, whose: Whose) -> Refuse | None:
    name, namespace = found.metadata.name, found.metadata.namespace
    look = f"kubectl -n {namespace} delete {resource.plural} {name}"
    if whose is Whose.OTHER_CLUSTER:
        return Refuse(
            "ClaimTaken",
            f"{resource.kind} {name} holds data of another cluster",
            f"if nobody needs that data: {look}; or give the cluster another name",
        )
    if whose in {Whose.OURS, Whose.ADOPTABLE}:
        return None
    return Refuse(
        "NameTaken",
        f"{resource.kind} {name} is there and is not of this process group",
        f"look at what it is for, then {look}; or give the cluster another name",
    )


def _sync(seen: GroupSeen) -> Iterator[Act]:
    """Yield what must be done, once it can be, so that a pod has the files of the config map."""
    pod, wanted, spec = seen.pod, seen.files, seen.group.spec
    # Who shall go needs no new files; but it must be able to change to another version with all.
    upgraded = bool(seen.data and names.STAGED_VERSION_KEY in seen.data) and not seen.holds_nothing
    if pod is None or pod.metadata.deleting or (spec.remove and not upgraded):
        return
    if pod.status.phase != "Running" or not pod.status.pod_ip:
        return
    if wanted and pod.metadata.annotations.get(names.CONFIG_HASH) != wanted:
        yield SyncFiles(wanted)
    elif (certificate := _certificate(seen, pod)) != "":
        yield RenewCertificate(certificate)
    if spec.image_type == "unified" and seen.data is not None:
        conf = conf_text(seen.data, spec)
        # One that never said anything may not: its node is not slow.
        has_spoken = names.LAUNCHER_CONFIGURATION in pod.metadata.annotations
        if conf is not None and has_spoken and not runs_with(pod, conf):
            yield WakeNode(conf)


def _certificate(seen: GroupSeen, pod: Pod) -> str:
    """Return which certificate the sidecar of a pod shall show and was not seen to; empty: none.

    A pod that was made from something else may have another secret.
    """
    told = pod.metadata.annotations
    if told.get(names.SPEC_HASH) != seen.wanted.pod_hash or not asks_for_certificates(pod):
        return ""
    key = names.certificate_key(seen.group.spec.process_class)
    wanted = (seen.data or {}).get(key, "")
    return "" if told.get(names.SIDECAR_CERTIFICATE) == wanted else wanted


# ------------------------------------------------------------------ leaving
def _of_leaving(seen: GroupSeen) -> tuple[Act, ...]:
    """Return how a group goes that was deleted: only when nothing is lost by it."""
    if seen.skipped and not seen.orphaned:
        return _of_staying(seen)
    if seen.may_leave:
        return (_last_rites(seen),)
    if seen.holds_nothing:
        return (*_of_staying(seen), _TURN_AWAITED)
    words = "this process group was deleted: it goes when another one has taken over its data"
    return (*_of_staying(seen), Await("ReplacedFirst", words))


def _last_rites(seen: GroupSeen) -> Act:
    """Return the next thing to do for a group that may go; what was seen is no cache's word."""
    steps = (_without_pod(seen), _without_claim(seen), _without_service(seen))
    return next((it for it in steps if it is not None), DropFinalizer())


def _without_pod(seen: GroupSeen) -> Act | None:
    pod = seen.pod
    if pod is None or not _is_mine(pod, seen):
        return None
    if pod.metadata.deleting:
        return _gone_first(PODS, pod, _LOOK_AGAIN)
    if ownership.is_isolated(pod) and not seen.orphaned:
        return Refuse(
            "PodIsolated",
            f"pod {pod.metadata.name} is isolated, so that somebody can look into it",
            f"when you have seen enough, remove its annotation {names.ISOLATED}",
        )
    return _unproved(seen) or DeletePod(pod.metadata.uid, "its process group goes")


def _unproved(seen: GroupSeen) -> Act | None:
    """Return what to wait for where nobody has just found that it may go; None: go on.

    What the object says counts if we said it, and not too long ago; a pod that is going, or gone,
    takes nothing up any more. Who goes with what it holds waits for its turn all the same: whoever
    deletes its object does not know who coordinates. Its turn does not outlast others.
    """
    pod, spec = seen.pod, seen.group.spec
    if seen.orphaned:
        return None
    proved = spec.exclusion_timestamp if seen.vouched else None
    is_gone = pod is None or pod.metadata.deleting
    if seen.has_turn or (proved and is_gone and not spec.exclusion_skipped):
        return None
    if spec.exclusion_skipped:
        return _TURN_AWAITED
    if not proved:
        words = "waiting until it is proved that nothing is left on it: nobody's word counts here"
        return Await("ProofIsMissing", words, _LOOK_AGAIN)
    words = "that nothing is left on it was proved long ago: waiting until it is proved anew"
    return Await("ProofIsOld", words, _LOOK_AGAIN)


def _without_claim(seen: GroupSeen) -> Act | None:
    claim = seen.claim
    if claim is None:
        return None
    metadata = claim.metadata
    if ownership.of_cluster(claim, seen.group) not in {Whose.OURS, Whose.ADOPTABLE}:
        return None
    if metadata.deleting:
        return _gone_first(VOLUME_CLAIMS, claim, _LOOK_AGAIN)
    if not seen.orphaned or seen.group.spec.deletion_policy == "Delete":
        return _unproved(seen) or DeleteClaim(metadata.uid, "its process group goes")
    owners = ownership.tied(metadata, seen.group)
    return None if owners is None else Relabel(VOLUME_CLAIMS, metadata, owners=owners)


def _without_service(seen: GroupSeen) -> Act | None:
    service = seen.service
    if service is None or not _is_mine(service, seen):
        return None
    if service.metadata.deleting:
        return _gone_first(SERVICES, service, _LOOK_AGAIN)
    return DeleteService(service.metadata.uid, "its process group goes")


def _is_mine(found: Object, seen: GroupSeen) -> bool:
    return ownership.of_group(found, seen.group) in {Whose.OURS, Whose.ADOPTABLE}


def _gone_first(resource: Resource[Any], found: Object, after: float | None = None) -> Await:
    words = f"waiting until {resource.kind} {found.metadata.name} is gone"
    return Await(_TERMINATING[resource.kind], words, after)
