"""One FoundationDB cluster that loses processes, pods and a node, one after another."""

from __future__ import annotations

from operators.fdb.fdb_hands import (
    CLUSTER,
    HOLD,
    coordinators,
    delete,
    is_kept,
    keep,
    mark,
    pods,
    sizes,
    uids,
    until,
)
from operators.fdb.fdb_worlds import World, world
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.names import ISOLATED
from stateward.kube import conditions


async def test_a_cluster_loses_this_and_that_and_keeps_its_data(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, automationOptions={"waitBetweenRemovalsSeconds": 0})
        await it.reconciled(CLUSTER)
        await keep(it)
        await a_coordinator_that_stays_away_is_followed_by_another(it)
        await all_coordinators_pods_are_deleted_at_once(it)
        await a_node_is_lost_and_comes_back(it)
        await a_pod_that_does_not_end_holds_nobody_up(it)


async def a_coordinator_that_stays_away_is_followed_by_another(it: World) -> None:
    lost = min(await coordinators(it))
    await mark(it, lost, annotations={ISOLATED: "true"})

    async def followed() -> bool:
        found = await coordinators(it)
        return lost not in found and len(found) == 3

    await until(it, "another coordinates", followed)
    assert lost in {one.metadata.name for one in await it.groups(CLUSTER)}, "nobody replaced it"
    assert await is_kept(it)
    await mark(it, lost, annotations={ISOLATED: None})
    await until(it, "it serves again", lambda: _all_well(it))


async def all_coordinators_pods_are_deleted_at_once(it: World) -> None:
    lost, before, claims = await coordinators(it), await uids(it), await sizes(it)
    await delete(it, lost)

    async def anew() -> bool:
        found = await pods(it)
        return all(
            name in found and found[name].ready and found[name].metadata.uid != before[name]
            for name in lost
        )

    await until(it, "other pods", anew)
    await until(it, "all serve again", lambda: _all_well(it))
    assert (await uids(it)).keys() == before.keys()
    assert await sizes(it) == claims
    assert await is_kept(it)


async def a_node_is_lost_and_comes_back(it: World) -> None:
    """Its processes end and it says nothing more; nobody is replaced unasked."""
    names, claims = (await uids(it)).keys(), await sizes(it)

    async def apart() -> bool:
        found, mine = await pods(it), await coordinators(it)
        return len({found[name].spec.node_name for name in mine}) == 3

    await until(it, "coordinators are on three nodes again", apart)
    lost = (await pods(it))[min(await coordinators(it))].spec.node_name
    await it.cluster.agent.faults.stop_node(lost)
    await it.until(CLUSTER, _is_degraded)
    await it.until(CLUSTER, _is_degraded_and_serves)
    assert await is_kept(it), "the others have it"
    await it.cluster.agent.faults.return_node(lost)
    await until(it, "all serve again", lambda: _all_well(it))
    assert (await uids(it)).keys() == names
    assert await sizes(it) == claims
    assert await is_kept(it)


async def a_pod_that_does_not_end_holds_nobody_up(it: World) -> None:
    stuck = min(await pods(it, "storage"))
    await mark(it, stuck, finalizers=[HOLD])
    await it.edit(CLUSTER, processGroupsToRemove=[stuck.removeprefix(f"{CLUSTER}-")])
    cluster = await it.until(CLUSTER, _is_reconciled_but_for_a_removal)
    assert len(await pods(it, "storage")) == 4
    assert (await pods(it))[stuck].metadata.deleting
    assert stuck in await sizes(it), "its claim goes after its pod"
    assert cluster.status.generations.has_pending_removal == cluster.metadata.generation
    await mark(it, stuck, finalizers=None)
    await it.reconciled(CLUSTER)
    assert stuck not in await uids(it)
    assert stuck not in await sizes(it)
    assert len(await it.ids(CLUSTER, "storage")) == 3
    assert await is_kept(it)


def _is_degraded(cluster: FoundationDBCluster) -> bool:
    return conditions.is_true(cluster.status.conditions, "Degraded")


def _is_degraded_and_serves(cluster: FoundationDBCluster) -> bool:
    return _is_degraded(cluster) and conditions.is_true(cluster.status.conditions, "Available")


def _is_reconciled_but_for_a_removal(cluster: FoundationDBCluster) -> bool:
    found, now = cluster.status.generations, cluster.metadata.generation
    return found.reconciled == now and found.has_pending_removal == now


async def _all_well(it: World) -> bool:
    """Tell whether all is as asked and every group says that it is ready."""
    cluster = await it.get(CLUSTER)
    ready = [conditions.is_true(one.status.conditions, "Ready") for one in await it.groups(CLUSTER)]
    told = cluster.status.generations.reconciled == cluster.metadata.generation
    return told and all(ready) and not _is_degraded(cluster)
