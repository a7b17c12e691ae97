"""A cluster comes and goes, and people do to its objects what they should not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from operators.etcd.witness import Witness, member_ids, told, uids
from operators.etcd.worlds import PATIENCE, World, said, world
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build.claims import FINALIZER
from stateward.etcd.objects import WHOLE_BUDGETS, WHOLE_CONFIG_MAPS, WHOLE_SERVICES, WORKLOADS
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.errors import NotFound
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.resources import PODS, VOLUME_CLAIMS, Resource

R = TypeVar("R")
#: With one of one's own, a larger volume restarts nobody.
QUOTA = {"quota-backend-bytes": "1000000000"}
PARTS = (PODS, VOLUME_CLAIMS, WORKLOADS, WHOLE_CONFIG_MAPS, WHOLE_SERVICES, WHOLE_BUDGETS)


async def left_of(it: World, name: str) -> set[str]:
    """Return the kinds of which a cluster has something."""
    return {part.kind for part in PARTS if await it._of(part, name)}


async def until_left(it: World, name: str, kinds: set[str]) -> None:
    """Wait until there is nothing else left of a cluster."""

    async def holds() -> bool:
        return await left_of(it, name) == kinds

    try:
        await eventually(holds)
    except TimeoutError:
        left = [one.metadata for part in PARTS for one in await it._of(part, name)]
        pytest.fail(f"there is still {left}")


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.1)


async def put(it: World, name: str, key: str, value: str) -> None:
    await it.door((await it.pods(name))[0]).put(key.encode(), value.encode())


async def value(it: World, name: str, key: str) -> str | None:
    found = await it.door((await it.pods(name))[0]).get(key.encode())
    return None if found is None else found.decode()


# -------------------------------------------------------------------------- its end


async def test_a_deleted_cluster_takes_everything_with_it(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        assert await left_of(it, "shop") == {part.kind for part in PARTS}
        await it.delete("shop")
        await until_left(it, "shop", set())


async def test_a_cluster_that_goes_before_it_stood_leaves_nothing_either(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)

        async def has_claims() -> bool:
            return len(await it.claims("shop")) == 3

        await eventually(has_claims)
        await it.delete("shop")
        await until_left(it, "shop", set())


async def test_18_kept_volumes_are_gone_on_from(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        first = await it.ready("shop")
        await it.edit("shop", retainVolumesOnDelete=True)
        await eventually(partial(claims_are_owned, it, first, owned=False))
        await put(it, "shop", "promised", "kept")
        ids, claims = await member_ids(it, "shop"), uids(await it.claims("shop"))
        await it.delete("shop")
        await until_left(it, "shop", {"PersistentVolumeClaim"})
        await it.create("shop", replicas=3)
        second = await it.ready("shop")
        assert second.status.cluster_id == first.status.cluster_id
        assert await member_ids(it, "shop") == ids
        assert uids(await it.claims("shop")) == claims
        assert await value(it, "shop", "promised") == "kept"
        for retain in (True, False):  # minds change
            await it.edit("shop", retainVolumesOnDelete=retain)
            await eventually(partial(claims_are_owned, it, second, owned=not retain))
        await it.delete("shop")  # this time nobody asked for them to stay
        await until_left(it, "shop", set())


async def test_volumes_can_be_kept_asleep(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=1)
        first = await it.ready("shop")
        await put(it, "shop", "promised", "kept")
        await it.edit("shop", replicas=0)
        await it.until("shop", lambda its: said(its, "Ready") == ("True", "Asleep"))
        await it.edit("shop", retainVolumesOnDelete=True)
        await eventually(partial(claims_are_owned, it, first, owned=False))
        await it.delete("shop")
        await until_left(it, "shop", {"PersistentVolumeClaim"})
        await it.create("shop", replicas=1)
        await it.ready("shop")
        assert await value(it, "shop", "promised") == "kept"


async def test_volumes_can_be_kept_without_a_quorum(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        first = await it.ready("shop")
        for name in ("shop-1", "shop-2"):
            it.cluster.agent.faults.pause(it.key(name))
        await it.until("shop", lambda its: said(its, "Quorate")[1] == "QuorumLost")
        await it.edit("shop", retainVolumesOnDelete=True)
        await eventually(partial(claims_are_owned, it, first, owned=False))
        assert said(await it.get("shop"), "Quorate")[1] == "QuorumLost"


async def test_a_cluster_that_goes_waits_for_the_volumes_that_stay(plane: str) -> None:
    """Its operator died after it had put the finalizer on; the next one ends what it began."""
    async with world(plane) as it:
        async with it.operating():
            await it.create("shop", replicas=3)
            first = await it.ready("shop")
        await it.edit("shop", retainVolumesOnDelete=True)
        held = {"metadata": {"finalizers": [FINALIZER]}}
        await it.client.patch(ETCD_CLUSTERS, it.key("shop"), MergePatch(held))
        await it.delete("shop")
        assert await claims_are_owned(it, first, owned=True)
        async with it.operating():
            await until_left(it, "shop", {"PersistentVolumeClaim"})
            assert len(await it.claims("shop")) == 3
            assert not (await it.client.list(ETCD_CLUSTERS)).items


async def claims_are_owned(it: World, cluster: EtcdCluster, *, owned: bool) -> bool:
    uid = cluster.metadata.uid
    found = [one.metadata.owner_references for one in await it.claims("shop")]
    return all((uid in {one.uid for one in owners}) == owned for owners in found)


async def test_17_members_that_were_left_running_are_taken_over_again(plane: str) -> None:
    """As after `kubectl delete --cascade=orphan`, which is how an object itself is made anew."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        first = await it.ready("shop")
        pods, ids = uids(await it.pods("shop")), await member_ids(it, "shop")
        await it.client.delete(
            ETCD_CLUSTERS,
            it.key("shop"),
            uid=first.metadata.uid,
            propagation=Propagation.ORPHAN,
        )

        async def is_gone() -> bool:
            return not (await it.client.list(ETCD_CLUSTERS)).items

        await eventually(is_gone)
        await it.create("shop", replicas=3)
        second = await it.ready("shop")
        assert second.status.cluster_id == first.status.cluster_id
        assert await member_ids(it, "shop") == ids
        assert uids(await it.pods("shop")) == pods
        await eventually(partial(claims_are_owned, it, second, owned=True))
        await it.delete("shop")
        await until_left(it, "shop", set())


async def test_18_one_of_the_same_name_at_once_has_nothing_of_the_old(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        first = await it.ready("shop")
        await put(it, "shop", "old", "data")
        claims = uids(await it.claims("shop"))
        await it.delete("shop")
        await it.create("shop", replicas=3)
        second = await it.ready("shop")
        assert second.status.cluster_id != first.status.cluster_id
        assert await value(it, "shop", "old") is None
        assert not set(uids(await it.claims("shop")).values()) & set(claims.values())
        assert len(await member_ids(it, "shop")) == 3


async def test_clusters_whose_names_begin_alike_leave_each_other_alone(plane: str) -> None:
    """A pod of ``a`` is called as the cluster ``a-1`` is."""
    async with world(plane) as it, it.operating():
        await it.create("a", replicas=2)
        await it.create("a-1", replicas=2)
        one, other = await it.ready("a"), await it.ready("a-1")
        assert one.status.cluster_id != other.status.cluster_id
        await put(it, "a", "whose", "a")
        await put(it, "a-1", "whose", "a-1")
        pods, claims = uids(await it.pods("a")), uids(await it.claims("a"))
        assert pods.keys() == {"a-0", "a-1"}
        await it.edit("a-1", replicas=1)
        await it.ready("a-1")
        await it.delete("a-1")
        await until_left(it, "a-1", set())
        assert (uids(await it.pods("a")), uids(await it.claims("a"))) == (pods, claims)
        assert await value(it, "a", "whose") == "a"
        assert said(await it.get("a"), "Ready")[0] == "True"


# -------------------------------------------------------------------------- what people do


@pytest.mark.parametrize("left", [Propagation.BACKGROUND, Propagation.ORPHAN])
async def test_16_17_a_deleted_statefulset_comes_back_with_its_members(
    plane: str, left: Propagation
) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        before = await it.ready("shop")
        await put(it, "shop", "promised", "kept")
        ids, pods = await member_ids(it, "shop"), uids(await it.pods("shop"))
        old = await it.client.get(WORKLOADS, it.key("shop"))
        await it.client.delete(WORKLOADS, it.key("shop"), uid=old.metadata.uid, propagation=left)
        await until_new(it, WORKLOADS, "shop", old.metadata.uid)
        after = await it.ready("shop")
        assert after.status.cluster_id == before.status.cluster_id
        assert await member_ids(it, "shop") == ids
        assert await value(it, "shop", "promised") == "kept"
        if left is Propagation.ORPHAN:
            assert uids(await it.pods("shop")) == pods, "nobody was restarted"


async def until_new(it: World, resource: Resource[Any], name: str, uid: str) -> Any:
    """Wait for an object that has taken another one's place."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                found = await it.client.get(resource, it.key(name))
            except NotFound:
                found = None
            if found is not None and found.metadata.uid != uid and not found.metadata.deleting:
                return found
            await asyncio.sleep(0.1)


async def until_holds(it: World, resource: Resource[Any], name: str, holds: Callable) -> None:
    """Wait until something is true of an object."""

    async def is_so() -> bool:
        return holds(await it.client.get(resource, it.key(name)))

    await eventually(is_so)


AROUND = {
    "shop-cluster-state": WHOLE_CONFIG_MAPS,
    "shop-headless": WHOLE_SERVICES,
    "shop": WHOLE_SERVICES,
}
#: By hand: where, what, and how to see that it is as before.
EDITS: list[tuple[Resource[Any], str, dict[str, Any], Callable[[Any], bool]]] = [
    (
        WHOLE_CONFIG_MAPS,
        "shop-cluster-state",
        {"data": {"ETCD_INITIAL_CLUSTER_STATE": "new"}},
        lambda its: its.data["ETCD_INITIAL_CLUSTER_STATE"] == "existing",
    ),
    (
        WHOLE_CONFIG_MAPS,
        "shop-cluster-state",
        {"data": {"ETCD_INITIAL_CLUSTER": "nonsense", "ETCD_FORCE_NEW_CLUSTER": "true"}},
        lambda its: its.data["ETCD_FORCE_NEW_CLUSTER"] == "false",
    ),
    (
        WHOLE_CONFIG_MAPS,
        "shop-cluster-state",
        {"data": {"ETCD_INITIAL_CLUSTER_TOKEN": "another"}},
        lambda its: its.data["ETCD_INITIAL_CLUSTER_TOKEN"].startswith("story-shop-"),
    ),
    (
        WHOLE_SERVICES,
        "shop-headless",
        {"spec": {"publishNotReadyAddresses": False}},
        lambda its: its.spec.get("publishNotReadyAddresses") is True,
    ),
    (
        WHOLE_SERVICES,
        "shop",
        {"spec": {"selector": {"app.kubernetes.io/instance": "another"}}},
        lambda its: its.spec["selector"]["app.kubernetes.io/instance"] == "shop",
    ),
    (
        WHOLE_SERVICES,
        "shop",
        {"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}},
        lambda its: its.metadata.labels["app.kubernetes.io/managed-by"] == "etcd-operator",
    ),
    (
        WHOLE_BUDGETS,
        "shop",
        {"spec": {"minAvailable": 0}},
        lambda its: its.spec["minAvailable"] == 2,
    ),
    (
        WORKLOADS,
        "shop",
        {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 1}}}},
        lambda its: its.spec["template"]["spec"]["terminationGracePeriodSeconds"] == 30,
    ),
]


async def test_0_what_people_change_is_put_right_and_then_nothing_is_written(plane: str) -> None:
    async with world(plane) as it:
        witness = Witness(it)
        async with it.operating(wrap=witness.between):
            await it.create("shop", replicas=3)
            await it.ready("shop")
            pods = uids(await it.pods("shop"))
            for resource, name, body, is_right in EDITS:
                await it.client.patch(resource, it.key(name), MergePatch(body))
                await until_holds(it, resource, name, is_right)
            for name, resource in (*AROUND.items(), ("shop", WHOLE_BUDGETS)):
                found = await it.client.get(resource, it.key(name))
                await it.client.delete(resource, it.key(name), uid=found.metadata.uid)
                await until_new(it, resource, name, found.metadata.uid)
            await it.ready("shop")
            assert uids(await it.pods("shop")) == pods, "no member was touched"
            await asyncio.sleep(1)
            witness.writes.clear()
            await asyncio.sleep(10)
            assert witness.writes == []


@pytest.mark.parametrize("size", [0, 1])
async def test_16_17_pods_that_somebody_scaled_away_come_back(plane: str, size: int) -> None:
    async with world(plane) as it:
        witness = Witness(it)
        async with it.operating(wrap=witness.between):
            await it.create("shop", replicas=3)
            await it.ready("shop")
            await put(it, "shop", "promised", "kept")
            ids, pods = await member_ids(it, "shop"), uids(await it.pods("shop"))
            body = MergePatch({"spec": {"replicas": size}})
            await it.client.patch(WORKLOADS, it.key("shop"), body)
            await it.until("shop", lambda its: said(its, "Ready")[0] != "True")
            await it.ready("shop")
            assert await member_ids(it, "shop") == ids
            assert await value(it, "shop", "promised") == "kept"
            changed = {
                name for name, uid in uids(await it.pods("shop")).items() if uid != pods[name]
            }
            assert changed, "somebody was away"
            assert changed <= {f"shop-{n}" for n in range(size, 3)}, "and nobody else is restarted"
        assert not witness.forced, "force would drop the others"


async def test_paused_means_that_nothing_is_done(plane: str) -> None:
    async with world(plane) as it:
        witness = Witness(it)
        async with it.operating(wrap=witness.between):
            await it.create("shop", replicas=1)
            await it.ready("shop")
            await it.edit("shop", paused=True)
            await it.until("shop", lambda its: said(its, "Paused")[0] == "True")
            witness.writes.clear()
            service = await it.client.get(WHOLE_SERVICES, it.key("shop"))
            await it.client.delete(WHOLE_SERVICES, it.key("shop"), uid=service.metadata.uid)
            await it.edit("shop", replicas=3, options={"max-txn-ops": "256"})
            await asyncio.sleep(3)
            assert set(witness.writes) <= {"patch etcdclusters.etcd.aenix.io/status story/shop"}
            assert len(await it.pods("shop")) == 1
            await it.edit("shop", paused=False)
            await it.ready("shop")
            assert len(await member_ids(it, "shop")) == 3
            assert await it.client.get(WHOLE_SERVICES, it.key("shop"))


# -------------------------------------------------------------------------- volumes


def storage(size: str) -> dict[str, Any]:
    spec = {"resources": {"requests": {"storage": size}}}
    return {"volumeClaimTemplate": {"spec": spec}}


async def test_20_volumes_grow_and_nobody_is_restarted_for_them(plane: str) -> None:
    """But for the quota, which follows the volume: with one of one's own, only volumes change."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3, storage=storage("4Gi"), options=QUOTA)
        await it.ready("shop")
        old = await it.client.get(WORKLOADS, it.key("shop"))
        pods = uids(await it.pods("shop"))
        await it.edit("shop", storage=storage("5Gi"))
        new = await until_new(it, WORKLOADS, "shop", old.metadata.uid)
        await it.ready("shop")

        async def are_larger() -> bool:
            asked = [one.spec.resources.requests["storage"] for one in await it.claims("shop")]
            return asked == ["5Gi"] * 3

        await eventually(are_larger)
        template = new.spec["volumeClaimTemplates"][0]["spec"]
        assert template["resources"]["requests"]["storage"] == "5Gi"
        assert uids(await it.pods("shop")) == pods
        assert {"GrowClaim", "RecreateWorkload"} <= set(await told(it, "shop"))


class _NoNewWorkload(PassThrough):
    """An operator that never gets to make a StatefulSet anew: it dies before."""

    def __init__(self) -> None:
        self.deleted = asyncio.Event()

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        if call.resource.plural == WORKLOADS.plural and call.writes and self.deleted.is_set():
            return await asyncio.Future()
        answer = await perform()
        if (call.verb, call.resource.plural) == ("delete", WORKLOADS.plural):
            self.deleted.set()
        return answer


async def test_20_a_cluster_that_goes_between_two_workloads_leaves_nothing(plane: str) -> None:
    async with world(plane) as it:
        fate = _NoNewWorkload()
        async with it.operating(wrap=lambda client: InterceptedClient(client, fate)):
            await it.create("shop", replicas=3, storage=storage("4Gi"), options=QUOTA)
            await it.ready("shop")
            pods = uids(await it.pods("shop"))
            await it.edit("shop", storage=storage("5Gi"))
            await fate.deleted.wait()

            async def is_bare() -> bool:
                return "StatefulSet" not in await left_of(it, "shop")

            await eventually(is_bare)
            assert uids(await it.pods("shop")) == pods
            await it.delete("shop")
            await until_left(it, "shop", set())


async def test_9_on_emptydir_a_deleted_pod_joins_anew(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(
            "shop", replicas=3, storage={"emptyDir": {}}, unhealthyMemberGracePeriod="2s"
        )
        await it.ready("shop")
        await put(it, "shop", "promised", "kept")
        ids = await member_ids(it, "shop")
        pod = (await it.pods("shop"))[1]
        await it.client.delete(PODS, pod.metadata.key, uid=pod.metadata.uid)
        await it.until("shop", lambda its: said(its, "Ready")[0] != "True")
        await it.ready("shop")
        after = await member_ids(it, "shop")
        assert {name for name in ids if after[name] != ids[name]} == {"shop-1"}
        assert await value(it, "shop", "promised") == "kept"
        assert {"RemoveMember", "AddLearner", "Promote"} <= set(await told(it, "shop"))
