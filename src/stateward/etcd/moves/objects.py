"""Verbs that ask Kubernetes: pods, claims, what members start with."""

from __future__ import annotations

from contextlib import suppress

from stateward.core.outcome import Blocked, Outcome, Retry, Wait
from stateward.etcd.build import claims
from stateward.etcd.build.config import TOKEN, config_map, config_of, token
from stateward.etcd.caches import INSTANCE
from stateward.etcd.decide import configs, moves
from stateward.etcd.model.names import CLUSTER_UID_LABEL, LEFT_BY, config_key, labels
from stateward.etcd.model.view import ClaimSeen, Config, PodSeen
from stateward.etcd.moves import intent, volumes
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import newest
from stateward.etcd.objects import WHOLE_CONFIG_MAPS, WORKLOADS
from stateward.etcd.seen import Seen
from stateward.kube import drift
from stateward.kube.client import Apply, MergePatch, Propagation, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, Forbidden, Invalid, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import PODS, VOLUME_CLAIMS


async def write_config(tools: Tools, seen: Seen, move: moves.WriteConfig) -> Outcome | None:
    """Write what members start with; force only where no other pod can start."""
    if move.config.force_new_cluster and not await _is_alone(tools, seen, move):
        return Wait("PodsLeaving", "waiting until only one member can start: it is to be forced")
    if not move.config.existing and await _has_unseen_claims(tools, seen):
        return Retry(1.0, "VolumesUnseen", "there are volumes that we did not see: looking again")
    config, version = move.config, seen.config
    if seen.view.config is None:
        # It was changed so that we did not know it, or we did not see it yet. Whoever wrote that
        # these members exist had seen them: nobody is told to begin any more.
        version, found = await _unseen(tools, seen)
        if found is not None and found.existing and not config.existing:
            config = found
    document = drift.sealed(config_map(seen.cluster, config))
    return await tools.applier.apply(WHOLE_CONFIG_MAPS, document, seen=version)


async def _has_unseen_claims(tools: Tools, seen: Seen) -> bool:
    """Tell, past the cache, whether there are volumes beside those that we judged by."""
    key = seen.cluster.metadata.key
    chosen = Selection(key.namespace, labels=f"{INSTANCE}={key.name}")
    there = {it.metadata.uid for it in (await tools.client.list(VOLUME_CLAIMS, chosen)).items}
    return not there <= {it.claim.uid for it in seen.view.replicas if it.claim is not None}


async def _unseen(tools: Tools, seen: Seen) -> tuple[ObjectMeta | None, Config | None]:
    """Return version and content of a config that speaks of this cluster, past the cache."""
    try:
        found = await tools.client.get(WHOLE_CONFIG_MAPS, config_key(seen.cluster.metadata.key))
    except NotFound:
        return None, None
    owner = found.metadata.controller
    ours = owner is None or owner.uid == seen.cluster.metadata.uid
    if not ours or found.data.get(TOKEN) != token(seen.cluster):
        return None, None
    return found.metadata, config_of(found.data)


async def write_workload(tools: Tools, seen: Seen, move: moves.WriteWorkload) -> Outcome | None:
    """Write the StatefulSet, or only its size."""
    live = seen.pods.live
    size: Json = {"replicas": move.replicas}
    if move.start or (live is not None and live.spec.get("ordinals")):
        size["ordinals"] = {"start": move.start}
    version = await newest(tools.client, WORKLOADS, live.metadata) if live is not None else None
    if version is not None and move.size_only:
        exactly = {"uid": version.uid, "resourceVersion": version.resource_version}
        body = {"metadata": exactly, "spec": size}
        await tools.client.patch(WORKLOADS, version.key, MergePatch(body))
        return None
    document = dict(seen.pods.document)
    templates = live.spec.get("volumeClaimTemplates") if live else list(seen.pods.claim_templates)
    document["spec"] = document["spec"] | size
    if templates:
        document["spec"]["volumeClaimTemplates"] = templates
    return await tools.applier.apply(WORKLOADS, document, seen=version, compared=seen.pods.document)


async def recreate_workload(
    tools: Tools, seen: Seen, move: moves.RecreateWorkload
) -> Outcome | None:
    """Delete the StatefulSet and leave its pods; the next look makes it anew.

    Before that the pods are tied to the cluster: if it goes meanwhile, nobody else takes them. If
    it went while we did that, its pods are to go with the StatefulSet, and not to be left.
    """
    for it in seen.view.replicas:
        if it.pod is not None and not it.pod.deleting:
            await _tie_pod(tools, seen, it.pod)
    if not await intent.is_unchanged(tools.client, seen.cluster):
        return changed()
    with suppress(NotFound):
        await tools.client.delete(
            WORKLOADS, seen.cluster.metadata.key, uid=move.uid, propagation=Propagation.ORPHAN
        )
    return None


async def _tie_pod(tools: Tools, seen: Seen, pod: PodSeen) -> None:
    if seen.cluster.metadata.uid in pod.owners:
        return
    metadata = ObjectMeta(name=pod.name, namespace=seen.cluster.metadata.namespace, uid=pod.uid)
    body = claims.going_with(seen.cluster, metadata, PODS)
    with suppress(NotFound, Conflict, Invalid):  # it is gone, or another one has its name
        await tools.client.patch(PODS, metadata.key, Apply(body, claims.CLAIM_MANAGER, force=True))


async def delete_pod(tools: Tools, seen: Seen, move: moves.DeletePod) -> None:
    """Delete exactly the pod that we mean, or that version of it."""
    key, version = _key(seen, move.pod.name), move.pod.version if move.as_seen else ""
    with suppress(NotFound):
        await tools.client.delete(PODS, key, uid=move.pod.uid, resource_version=version)


async def is_there(tools: Tools, seen: Seen, claim: ClaimSeen) -> bool:
    """Tell whether a claim is there, past the cache: pods are seen sooner than claims at times."""
    try:
        found = await tools.client.get(VOLUME_CLAIMS, _key(seen, claim.name))
    except NotFound:
        return False
    return found.metadata.uid == claim.uid


async def is_silent(tools: Tools, seen: Seen, pod: PodSeen) -> bool:
    """Tell whether a pod is the one that we asked in vain, and has not become ready since.

    Past the cache: a pod that was made anew has another address, and may be well for long.
    """
    try:
        found = await tools.client.get(PODS, _key(seen, pod.name))
    except NotFound:
        return False
    return found.metadata.uid == pod.uid and found.ready <= pod.ready


async def delete_claim(tools: Tools, seen: Seen, move: moves.DeleteClaim) -> Outcome | None:
    """Delete exactly the claim that we mean, when no pod can need it."""
    pod = seen.view.cluster.metadata.name + f"-{move.claim.ordinal}"
    if move.under is not None:
        if not await is_silent(tools, seen, move.under):
            return changed()  # another pod may be well on the claim that this one never had
    else:
        try:
            await tools.client.get(PODS, _key(seen, pod))
        except NotFound:
            pass
        else:
            return Wait("PodsLeaving", f"waiting for {pod} to leave before its volume goes")
    with suppress(NotFound):
        await tools.client.delete(VOLUME_CLAIMS, _key(seen, move.claim.name), uid=move.claim.uid)
    return None


async def leave_claim(tools: Tools, seen: Seen, move: moves.LeaveClaim) -> None:
    """Note on a claim whose data it holds."""
    note = {LEFT_BY: f"{move.member_id:x}"}
    body = {"metadata": {"uid": move.claim.uid, "annotations": note}}
    with suppress(NotFound, Conflict, Invalid):  # it is gone, or another one has its name
        await tools.client.patch(VOLUME_CLAIMS, _key(seen, move.claim.name), MergePatch(body))


async def own_claim(tools: Tools, seen: Seen, move: moves.OwnClaim) -> None:
    """Write whom a claim goes with."""
    metadata = ObjectMeta(
        name=move.claim.name, namespace=seen.cluster.metadata.namespace, uid=move.claim.uid
    )
    if not move.owned:
        with suppress(Invalid):  # somebody else was faster; we look again
            await volumes.untie(tools.client, seen.cluster.metadata.uid, metadata)
    body = claims.going_with(seen.cluster, metadata) if move.owned else claims.staying(metadata)
    # From now on it holds this cluster's data, also when it was left by an earlier one. The other
    # labels are the template's; somebody may have taken them off, and then nobody watches it.
    cluster = seen.cluster.metadata
    body["metadata"]["labels"] = labels(cluster.name) | {CLUSTER_UID_LABEL: cluster.uid}
    apply = Apply(body, claims.CLAIM_MANAGER, force=True)
    with suppress(NotFound, Conflict, Invalid):  # it is gone, or another one has its name
        await tools.client.patch(VOLUME_CLAIMS, metadata.key, apply)


async def grow_claim(tools: Tools, seen: Seen, move: moves.GrowClaim) -> Outcome | None:
    """Ask for a larger volume."""
    body = {
        "metadata": {"uid": move.claim.uid},
        "spec": {"resources": {"requests": {"storage": move.size}}},
    }
    try:
        await tools.client.patch(VOLUME_CLAIMS, _key(seen, move.claim.name), MergePatch(body))
    except NotFound:
        return None
    except (Forbidden, Invalid) as error:
        return Blocked(
            "VolumeCannotGrow",
            f"volume claim {move.claim.name} must grow to {move.size}: {error.message}",
            "use a StorageClass with allowVolumeExpansion, or set the size back",
        )
    return None


async def _is_alone(tools: Tools, seen: Seen, move: moves.WriteConfig) -> bool:
    """Tell, past the cache, whether there is no pod and none to come but of the forced member."""
    key = seen.cluster.metadata.key
    chosen = Selection(key.namespace, labels=f"{INSTANCE}={key.name}")
    pods = {it.metadata.name for it in (await tools.client.list(PODS, chosen)).items}
    forced = {it.name for it in seen.view.replicas if configs.lists(move.config, it)}
    try:
        size = (await tools.client.get(WORKLOADS, key)).spec.get("replicas", 1)
    except NotFound:
        size = 0
    return pods <= forced and size <= 1


def changed() -> Retry:
    """Say that the user changed their mind between our looking and our acting."""
    return Retry(0.1, "Changed", "the cluster changed meanwhile; looking again")


def _key(seen: Seen, name: str) -> ObjectKey:
    return ObjectKey(seen.cluster.metadata.namespace, name)
