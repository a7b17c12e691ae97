"""Volumes that shall outlive their cluster are untied from it: asleep, broken, paused or going.

Untying only protects, so it asks neither for a quorum nor for a spec that can be honoured. While a
claim is still tied a finalizer holds the cluster, so that nobody deletes it a moment too early.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build import claims
from stateward.etcd.caches import INSTANCE, of_cluster
from stateward.etcd.moves.refused import refusal
from stateward.kube.client import Client, JsonPatch, MergePatch, Selection
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.meta import ObjectMeta
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.runtime.cache import Cache

STEP = "KeepVolumes"
#: Seconds.
_TROUBLED = 2.0
_UNTYING = Retry(0.2, "UntyingVolumes", "volume claims are being untied: they outlive the cluster")


class KeepVolumes:
    """Unties the claims of a cluster that shall outlive it."""

    def __init__(self, client: Client, cache: Cache[PersistentVolumeClaim]) -> None:
        self._client = client
        self._cache = cache

    async def settle(self, cluster: EtcdCluster) -> tuple[EtcdCluster, Outcome]:
        """Return the cluster as it then is, and what is left to do: the pass goes on with both."""
        try:
            tied = _tied(cluster, await self._claims(cluster))
            if not cluster.spec.retain_volumes_on_delete or not tied:
                return await self._let_go(cluster)
            held, trouble = await self._hold(cluster)
            return held, await self._untie_all(held, tied) or trouble
        except ApiError as error:
            return cluster, refusal("EtcdCluster", error) or _later(error)
        except PeerError as error:
            return cluster, _later(error)

    async def _claims(self, cluster: EtcdCluster) -> Iterable[PersistentVolumeClaim]:
        """Return the claims; past the cache where a wish is new, or is not called settled yet.

        A cache may not know them. Then a wish would be called observed while claims are tied, or
        the finalizer go, and who deletes the cluster would delete them.
        """
        metadata = cluster.metadata
        is_new = cluster.status.observed_generation != metadata.generation
        if not cluster.spec.retain_volumes_on_delete or not (is_new or _is_held(cluster)):
            return of_cluster(self._cache, metadata.key)
        chosen = Selection(metadata.namespace, labels=f"{INSTANCE}={metadata.name}")
        return (await self._client.list(VOLUME_CLAIMS, chosen)).items

    async def _hold(self, cluster: EtcdCluster) -> tuple[EtcdCluster, Outcome]:
        """Put the finalizer on; when that cannot be, untying is all the more urgent."""
        metadata = cluster.metadata
        if _is_held(cluster) or metadata.deleting:
            return cluster, _UNTYING
        try:
            return await self._write(cluster, (*metadata.finalizers, claims.FINALIZER)), _UNTYING
        except ApiError as error:
            return cluster, refusal("EtcdCluster", error) or _later(error)

    async def _let_go(self, cluster: EtcdCluster) -> tuple[EtcdCluster, Outcome]:
        """Take the finalizer off, once no claim is tied that shall stay."""
        if not _is_held(cluster):
            return cluster, DONE
        rest = tuple(it for it in cluster.metadata.finalizers if it != claims.FINALIZER)
        try:
            return await self._write(cluster, rest), DONE
        except NotFound:
            return cluster, DONE

    async def _untie_all(self, cluster: EtcdCluster, tied: list[ObjectMeta]) -> Outcome | None:
        """Untie claims, each by itself; say what is in the way of the first that stays tied."""
        troubles: list[Outcome] = []
        for claim in tied:
            try:
                await untie(self._client, cluster.metadata.uid, claim)
            except ApiError as error:
                troubles.append(_still_tied(claim, error) or _later(error))
            except PeerError as error:
                troubles.append(_later(error))
        return troubles[0] if troubles else None

    async def _write(self, cluster: EtcdCluster, finalizers: tuple[str, ...]) -> EtcdCluster:
        """Write the whole list, and only onto the very version that we read it from."""
        metadata = cluster.metadata
        about = {
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
            "finalizers": list(finalizers),
        }
        return await self._client.patch(
            ETCD_CLUSTERS, metadata.key, MergePatch({"metadata": about})
        )


def _is_held(cluster: EtcdCluster) -> bool:
    return claims.FINALIZER in cluster.metadata.finalizers


async def untie(client: Client, owner: str, claim: ObjectMeta) -> None:
    """Take an owner off a claim, whoever put it on: the StatefulSet's controller may have."""
    with suppress(NotFound, Conflict):  # it is gone, or somebody was faster; we look again
        live = await client.get(VOLUME_CLAIMS, claim.key)
        owners = [it.uid for it in live.metadata.owner_references]
        if owner in owners:
            operations = claims.untied(claim, owners.index(owner), owner)
            await client.patch(VOLUME_CLAIMS, claim.key, JsonPatch(operations))


def _tied(cluster: EtcdCluster, found: Iterable[PersistentVolumeClaim]) -> list[ObjectMeta]:
    """Return the claims that go with the cluster. One that is going already cannot be kept."""
    uid = cluster.metadata.uid
    return [
        it.metadata
        for it in found
        if not it.metadata.deleting and uid in {by.uid for by in it.metadata.owner_references}
    ]


def _still_tied(claim: ObjectMeta, error: ApiError) -> Blocked | None:
    if refusal("", error) is None:
        return None
    return Blocked(
        "VolumesTied",
        f"volume claim {claim.name} shall outlive the cluster and still goes with it:"
        f" {error.message}",
        "do not delete the cluster yet; let the operator patch persistentvolumeclaims",
    )


def _later(error: PeerError) -> Retry:
    return Retry(_TROUBLED, error.reason, f"volume claims are to be untied: {error.message}")
