"""Bugs about volumes, about what users want, and about what stands around the members."""

from __future__ import annotations

from contextlib import suppress

from stateward.core.outcome import DONE, Outcome
from stateward.etcd import volumes
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build import budget, claims
from stateward.etcd.caches import INSTANCE
from stateward.etcd.decide import configs, guards, moves, sizes, space
from stateward.etcd.model.view import ClaimSeen, View
from stateward.etcd.moves import intent, objects, step
from stateward.etcd.moves import volumes as keeping
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import EnsureObjects
from stateward.etcd.objects import Getter
from stateward.etcd.reading import claim_seen
from stateward.etcd.seen import Seen
from stateward.kube.client import MergePatch, Selection
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.sim.mutants.planting import Mind, Patch, bug

# -------------------------------------------------------------------------- volumes


@bug(
    "M25",
    "the claim of a removed member stays, and a new one starts on it; that a joining member's old"
    " claim is freed before, and a crashing learner's afterwards, is taken away too",
    "pravega/zookeeper-operator#513",
    *("5to3", "sleep", "edit"),
)
def keep_old_claims(patch: Patch) -> None:
    """Forget volumes of the past."""

    def nothing(_: View) -> None:
        return None

    def grow(view: View) -> moves.Move | None:
        joining = sizes.next_to_join(view)
        if joining is None or joining.claim is None:
            return inner(view)
        config = configs.of_the_list(view, joining.ordinal)
        if view.config != config:
            return moves.WriteConfig(config, f"{joining.name} is about to join")
        return moves.AddLearner(joining.ordinal, joining.name, joining.peer_url)

    inner = sizes.grow
    patch.put_row("QUORUM", "13a", nothing)
    patch.put_row("QUORUM", "6b", nothing)
    patch.put_row("QUORUM", "10,12", lambda view: grow(view) if _is_well(view) else None)
    patch.put(sizes, "_is_dropped", lambda _view, _replica: False)


def _is_well(view: View) -> bool:
    return guards.all_members_well(view)


@bug(
    "M26",
    "a claim is deleted by its name, whichever claim has it by then",
    "pravega/zookeeper-operator#312, k8ssandra/cass-operator#402",
    *("5to3",),
)
def delete_by_name(patch: Patch) -> None:
    """Delete without saying which."""

    async def delete(tools: Tools, seen: Seen, move: moves.DeleteClaim) -> Outcome | None:
        with suppress(NotFound):
            await tools.client.delete(VOLUME_CLAIMS, _key(seen, move.claim.name), uid="")
        return None

    patch.put_item(step.VERBS, moves.DeleteClaim, delete)


def _key(seen: Seen, name: str) -> ObjectKey:
    return ObjectKey(seen.cluster.metadata.namespace, name)


@bug(
    "M27",
    "a claim is deleted only by an operator that saw its pod with a deletionTimestamp",
    "k8ssandra/cass-operator#398",
    *("5to3:AF", "edit:AF"),
)
def delete_on_sight(patch: Patch) -> None:
    """Wait for a sight that may never come."""
    seen_leaving: Mind[set[str]] = Mind(set)
    inner = sizes.drop_claims

    def drop_claims(view: View) -> moves.Move | None:
        leaving = seen_leaving.now()
        gone = (it for it in view.replicas if it.listed is None and it.pod is not None)
        leaving |= {it.claim.uid for it in gone if it.pod and it.pod.deleting and it.claim}
        move = inner(view)
        if isinstance(move, moves.DeleteClaim) and move.claim.uid not in leaving:
            return None
        return move

    patch.put(sizes, "drop_claims", drop_claims)
    patch.put_row("QUORUM", "13a", drop_claims)


@bug(
    "M29",
    "volumes are to be larger: the StatefulSet is written first, and whether claims must grow is"
    " told by comparing with it",
    "rabbitmq/cluster-operator#782",
    *("larger:A:delete statefulsets",),
)
def compare_with_what_is_written_first(patch: Patch) -> None:
    """Write one thing, then the other, and look only at the first."""

    def grow_claims(view: View) -> moves.Move | None:
        workload = view.workload
        if workload is None or not workload.outgrown:
            return None
        return moves.RecreateWorkload(workload.uid, "its volumes shall be larger")

    async def recreate(tools: Tools, seen: Seen, move: moves.RecreateWorkload) -> None:
        await objects.recreate_workload(tools, seen, move)
        size = {"resources": {"requests": {"storage": seen.view.wanted_size}}}
        for it in seen.view.replicas:
            if it.claim is not None:
                body = {"metadata": {"uid": it.claim.uid}, "spec": size}
                key = _key(seen, it.claim.name)
                await tools.client.patch(VOLUME_CLAIMS, key, MergePatch(body))

    patch.put(space, "grow_claims", grow_claims)
    patch.put_row("QUORUM", "20", grow_claims)
    patch.put_item(step.VERBS, moves.RecreateWorkload, recreate)


# -------------------------------------------------------------------------- what is wanted


@bug(
    "M30",
    "what the user wants is believed as the cache has it, also before something is taken away",
    "pravega/zookeeper-operator#314, rabbitmq/cluster-operator#653",
    *("edit:DF", "3to5:DF", "5to3:DF"),
)
def trust_the_cache(patch: Patch) -> None:
    """Do not ask once more."""

    async def is_unchanged(_client: Getter, _cluster: EtcdCluster) -> bool:
        return True

    patch.put(intent, "is_unchanged", is_unchanged)


@bug(
    "M31",
    "a cluster that goes is cleared away by its name: a finalizer holds it, and the claims that"
    " have its label are deleted, whosever they are by then",
    "rabbitmq/cluster-operator#648",
    *("recreate:DFG",),
)
def clear_away_by_name(patch: Patch) -> None:
    """Clean up after whoever had the name."""

    async def settle(
        self: keeping.KeepVolumes, cluster: EtcdCluster
    ) -> tuple[EtcdCluster, Outcome]:
        metadata, client = cluster.metadata, self._client
        held = claims.FINALIZER in metadata.finalizers
        if not metadata.deleting:
            if not held:
                cluster = await self._write(cluster, (*metadata.finalizers, claims.FINALIZER))
            return cluster, DONE
        chosen = Selection(metadata.namespace, labels=f"{INSTANCE}={metadata.name}")
        for it in (await client.list(VOLUME_CLAIMS, chosen)).items:
            with suppress(NotFound):
                await client.delete(VOLUME_CLAIMS, it.metadata.key, uid=it.metadata.uid)
        rest = tuple(it for it in metadata.finalizers if it != claims.FINALIZER)
        with suppress(NotFound, Conflict):
            cluster = await self._write(cluster, rest)
        return cluster, DONE

    patch.put(keeping.KeepVolumes, "settle", settle)


@bug(
    "M38",
    "a change of the size is not looked at before the size that was wanted earlier is reached",
    "pingcap/tidb-operator#4946",
    *("edit:K", "3to5:K"),
)
def finish_what_was_begun(patch: Patch) -> None:
    """Keep to a target, however unreachable."""
    targets: Mind[dict[str, int]] = Mind(dict)

    def wanted(view: View) -> int:
        held, spec = targets.now(), view.cluster.spec.replicas
        target = held.setdefault(view.cluster.metadata.uid, spec)
        reached = len(view.voters) == max(target, 1) and guards.all_members_well(view)
        if view.has_quorum and reached:
            target = held[view.cluster.metadata.uid] = spec
        return target

    async def is_unchanged(_client: Getter, _cluster: EtcdCluster) -> bool:
        return True

    patch.put(View, "wanted", property(wanted))
    patch.put(intent, "is_unchanged", is_unchanged)


# -------------------------------------------------------------------------- around the members


@bug(
    "M35",
    "the disruption budget says how many may go, as a share, and not how many must stay",
    "cozystack/etcd-operator d56e6ca",
    *("bootstrap", "3to5:K"),
)
def relative_budget(patch: Patch) -> None:
    """Let go of a share that is no quorum's."""

    def share(_cluster: EtcdCluster, _voters: int, _members: int) -> dict[str, object]:
        return {"maxUnavailable": "50%"}

    patch.put(budget, "_share", share)


@bug(
    "M36",
    "of objects that are made one after the other (a Percona operator's secrets for TLS, our"
    " services and budget) all are taken to be there when the first is",
    "percona K8SPXC-896, K8SPXC-897",
    *("one:A:services", "bootstrap:A:services"),
)
def first_means_all(patch: Patch) -> None:
    """Look only at the first."""
    inner = EnsureObjects.run

    async def run(self: EnsureObjects, seen: Seen) -> Outcome:
        first = seen.wanted[0]
        if any(live.metadata.name == first.key.name for _, live in seen.live):
            return DONE
        return await inner(self, seen)

    patch.put(EnsureObjects, "run", run)


@bug(
    "M39",
    "claims are selected by their role alone; that their names must begin with the cluster's, which"
    " would tell them apart, is taken away too",
    "FoundationDB operator before 1.0, rabbitmq/cluster-operator PR 1864",
    *("two", "recreate"),
)
def select_everybody(patch: Patch) -> None:
    """Take everybody's volumes for one's own."""

    def watched(self: volumes.Volumes, cluster: ObjectMeta, _template: str) -> dict[int, ClaimSeen]:
        found = {}
        for claim in self.cache:
            if claim.metadata.namespace == cluster.namespace:
                ordinal = int(claim.metadata.name.rpartition("-")[2])
                found[ordinal] = claim_seen(claim, ordinal, cluster.name)
        return found

    patch.put(volumes.Volumes, "watched", watched)


BUGS = (
    keep_old_claims,
    delete_by_name,
    delete_on_sight,
    compare_with_what_is_written_first,
    trust_the_cache,
    clear_away_by_name,
    relative_budget,
    first_means_all,
    finish_what_was_begun,
    select_everybody,
)
