"""Careless people and races, on real etcd: whatever they do, no copy of the data is thrown away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import pytest

from operators.etcd.certificates import Papers, change_secret, create_secret
from operators.etcd.troubles import eventually
from operators.etcd.worlds import PATIENCE, World, said, told, world
from stateward.core.errors import PeerError, UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.members.port import MemberApi
from stateward.etcd.model.names import labels
from stateward.etcd.objects import WHOLE_CONFIG_MAPS, WORKLOADS
from stateward.kube.client import MergePatch, Propagation, Selection
from stateward.kube.codec import plain
from stateward.kube.errors import Forbidden, NotFound
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.resources import VOLUME_CLAIMS, Resource

R = TypeVar("R")
NAME = "shop"


async def claims(it: World) -> dict[str, str]:
    return {claim.metadata.name: claim.metadata.uid for claim in await it.claims(NAME)}


async def test_16_a_sleeper_whose_status_was_emptied_keeps_its_data(plane: str) -> None:
    """Its one member starts late: others, told to begin anew, would be a cluster without it."""
    async with world(plane) as it, it.operating():
        await it.create(NAME, replicas=3)
        await it.ready(NAME)
        await it.edit(NAME, replicas=0)
        asleep = await it.ready(NAME)
        before = await claims(it)
        nothing = dict.fromkeys(plain(asleep.status))
        body = MergePatch({"status": nothing})
        await it.client.patch(ETCD_CLUSTERS, it.key(NAME), body, subresource="status")
        await it.edit(NAME, replicas=3)
        for _ in range(400):
            with suppress(UsageError):
                it.cluster.agent.faults.kill(it.key("shop-0"))
            await asyncio.sleep(0.02)
        awake = await it.ready(NAME)
        assert (await claims(it))["data-shop-0"] == before["data-shop-0"]
        assert asleep.status.last_known_members[0].id in {
            member.id for member in awake.status.last_known_members
        }


async def test_17_an_orphaned_cluster_that_is_made_again_grows(plane: str) -> None:
    """The claims of the old StatefulSet's template belong to a cluster that is gone."""
    async with world(plane) as it, it.operating():
        await it.create(NAME, replicas=1)
        found = await it.ready(NAME)
        await it.client.delete(
            ETCD_CLUSTERS, it.key(NAME), uid=found.metadata.uid, propagation=Propagation.ORPHAN
        )
        async with asyncio.timeout(PATIENCE):
            with suppress(NotFound):
                while True:
                    await it.get(NAME)
                    await asyncio.sleep(0.1)
        await it.create(NAME, replicas=3)
        again = await it.ready(NAME)
        assert again.status.cluster_id == found.status.cluster_id


class NoServices(PassThrough):
    """Refuses services, as a webhook or a quota would."""

    is_on = False

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        if self.is_on and call.writes and call.resource.plural == "services":
            raise Forbidden("admission webhook denied the request: no LoadBalancer here")
        return await perform()


async def test_0_a_service_that_is_refused_does_not_stop_repair(plane: str) -> None:
    rule = NoServices()
    async with world(plane) as it, it.operating(wrap=lambda to: InterceptedClient(to, rule)):
        await it.create(NAME, replicas=3, unhealthyMemberGracePeriod="5s")
        before = {member.id for member in (await it.ready(NAME)).status.last_known_members}
        rule.is_on = True
        await it.edit(NAME, serviceTemplate={"spec": {"type": "LoadBalancer"}})
        await it.cluster.agent.faults.wipe(it.key("data-shop-2"))
        it.cluster.agent.faults.kill(it.key("shop-2"))
        mended = await it.until(
            NAME,
            lambda now: (
                len(now.status.last_known_members) == 3
                and {member.id for member in now.status.last_known_members} != before
            ),
        )
        assert "denied" in told(mended)


#: Which labels somebody takes off a claim.
STRIPPED: dict[str, dict[str, object]] = {
    "data-shop-0": {"labels": {"app.kubernetes.io/instance": None}},
    "data-shop-1": {"labels": {"app.kubernetes.io/managed-by": None}},
    "data-shop-2": {"labels": None},
}


async def test_8a_claims_without_labels_get_them_again_and_leave_with_their_members(
    plane: str,
) -> None:
    async with world(plane) as it, it.operating():
        await it.create(NAME, replicas=3, unhealthyMemberGracePeriod="5s")
        ready = await it.ready(NAME)
        before = await claims(it)
        for name, change in STRIPPED.items():
            body = MergePatch({"metadata": change})
            await it.client.patch(VOLUME_CLAIMS, it.key(name), body)
        await eventually(lambda: has_claims(it, before, labels(NAME)))
        # A member that joins anew must not start on the old volume.
        await it.cluster.agent.faults.wipe(it.key("data-shop-2"))
        it.cluster.agent.faults.kill(it.key("shop-2"))
        known = ready.status.last_known_members
        await it.until(NAME, lambda now: now.status.last_known_members[2:] != known[2:])
        await it.ready(NAME)
        await it.edit(NAME, replicas=1)
        await it.ready(NAME)
        await eventually(lambda: has_claims(it, {"data-shop-0": before["data-shop-0"]}))


async def has_claims(
    it: World, wanted: dict[str, str], labelled: Mapping[str, str] | None = None
) -> bool:
    """Tell whether there are exactly some claims, by whatever labels, and all of them have some."""
    found = (await it.client.list(VOLUME_CLAIMS, Selection(it.namespace))).items
    names = {claim.metadata.name: claim.metadata.uid for claim in found}
    bare = [it for it in found if not it.metadata.labels.items() >= (labelled or {}).items()]
    return names == wanted and not bare


BARE = MergePatch({"metadata": {"labels": None, "ownerReferences": None}})


@pytest.mark.parametrize(
    ("resource", "name"),
    [(WHOLE_CONFIG_MAPS, "shop-cluster-state"), (WORKLOADS, "shop")],
    ids=["a config map", "a StatefulSet"],
)
async def test_7_8_what_lost_its_labels_and_its_owner_is_taken_back(
    plane: str, resource: Resource[Any], name: str
) -> None:
    async with world(plane) as it, it.operating():
        await it.create(NAME, replicas=1)
        ready = await it.ready(NAME)
        pods = [pod.metadata.uid for pod in await it.pods(NAME)]
        bare = await it.client.patch(resource, it.key(name), BARE)

        async def is_back() -> bool:
            found = await it.client.get(resource, it.key(name))
            owner = found.metadata.controller
            assert found.metadata.uid == bare.metadata.uid
            return owner is not None and owner.uid == ready.metadata.uid

        await eventually(is_back)
        await it.edit(NAME, replicas=2)
        await it.ready(NAME)
        assert [pod.metadata.uid for pod in await it.pods(NAME)][:1] == pods


async def test_1a_garbage_in_a_secret_is_told_and_nobody_is_touched(plane: str) -> None:
    """First of a cluster that is new, then of one that runs and has something to do."""
    async with world(plane) as it, it.operating():
        papers = Papers(it, NAME)
        await papers.hand_in("peer")
        right = papers.contents()["peer"]
        await create_secret(it, "peer", right | {"tls.key": b"garbage"})
        await it.create(NAME, replicas=1, security={"tls": papers.tls})
        held = await it.until(NAME, lambda now: said(now, "Ready") == ("False", "SecretInvalid"))
        assert "secret story/peer: tls.key must be" in held.status.blockers[0].message
        assert await it.pods(NAME) == []
        await change_secret(it, "peer", right)
        await it.ready(NAME)
        pods = [pod.metadata.uid for pod in await it.pods(NAME)]
        await change_secret(it, "peer", right | {"tls.crt": b"garbage"})
        held = await it.until(NAME, lambda now: said(now, "Ready") == ("False", "SecretInvalid"))
        assert "secret story/peer: tls.crt must be" in held.status.blockers[0].message
        assert said(held, "Available")[0] == "True", "it is asked and told of as before"
        await it.edit(NAME, replicas=3, options={"max-txn-ops": "256"})
        await asyncio.sleep(3)
        assert [pod.metadata.uid for pod in await it.pods(NAME)] == pods
        await change_secret(it, "peer", right)
        await it.ready(NAME)
        assert len(await it.pods(NAME)) == 3


async def test_3a_members_that_were_removed_by_hand_join_anew_when_a_person_says_so(
    plane: str,
) -> None:
    """One alone that had two others may be what an emptied disk left: only a person knows."""
    async with world(plane) as it:
        async with it.operating():
            await it.create(NAME, replicas=3)
            ready = await it.ready(NAME)
        before = await claims(it)
        door = it.door((await it.pods(NAME))[0])
        await door.put(b"key", b"value")
        for member in ready.status.last_known_members[1:]:
            await eventually(lambda id_=int(member.id, 16): is_removed(door, id_))
        async with it.operating():
            held = await it.until(NAME, lambda now: said(now, "Ready")[1] == "DataRewound")
            assert "quorumRecovery.acceptDataLoss" in held.status.blockers[0].hint
            assert held.status.last_known_members == ready.status.last_known_members
            assert await claims(it) == before
            await it.edit(NAME, quorumRecovery={"acceptDataLoss": True})
            again = await it.ready(NAME)
            assert again.status.cluster_id == ready.status.cluster_id
            assert again.status.last_known_members[0] == ready.status.last_known_members[0]
            assert len(again.status.last_known_members) == 3
            await eventually(partial(has, it.door((await it.pods(NAME))[2]), b"key", b"value"))


async def has(door: MemberApi, key: bytes, value: bytes) -> bool:
    """Tell whether a member has a value; who was just promoted may not know of it yet."""
    with suppress(PeerError):
        return await door.get(key) == value
    return False


async def is_removed(door: MemberApi, member_id: int) -> bool:
    """Remove a member; etcd wants some quiet between two changes, and tells nobody how much."""
    with suppress(PeerError):
        await door.remove(member_id)
        return True
    return False


async def test_3_two_halves_under_one_id_are_a_split_brain(plane: str) -> None:
    """Somebody forced both of two members while nobody looked: each leads itself."""
    async with world(plane) as it:
        async with it.operating():
            await it.create(NAME, replicas=2, unhealthyMemberGracePeriod="5s")
            await it.ready(NAME)
        before = await claims(it)
        force = MergePatch({"data": {"ETCD_FORCE_NEW_CLUSTER": "true"}})
        await it.client.patch(WHOLE_CONFIG_MAPS, it.key("shop-cluster-state"), force)
        for ordinal in (0, 1):
            it.cluster.agent.faults.kill(it.key(f"shop-{ordinal}"))
        await both_lead(it)
        async with it.operating():
            await it.until(NAME, lambda now: "SplitBrain" in told(now))
            await asyncio.sleep(8)  # longer than the grace time: nothing is repaired here
            assert await claims(it) == before


async def both_lead(it: World) -> None:
    """Wait until each of two members says that it leads."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(Exception):  # they are on their way
                statuses = [await it.glance(pod).status() for pod in await it.pods(NAME)]
                if len(statuses) == 2 and all(said.leader == said.member_id for said in statuses):
                    return
            await asyncio.sleep(0.2)
