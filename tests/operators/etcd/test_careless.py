"""Careless people and races, on real etcd: whatever they do, no copy of the data is thrown away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from operators.etcd.worlds import World, told, world
from stateward.core.errors import UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.objects import WHOLE_CONFIG_MAPS
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import plain
from stateward.kube.errors import Forbidden, NotFound
from stateward.kube.interception import Call, InterceptedClient, PassThrough

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
        awake = await it.ready(NAME, within=120)
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
        async with asyncio.timeout(60):
            with suppress(NotFound):
                while True:
                    await it.get(NAME)
                    await asyncio.sleep(0.1)
        await it.create(NAME, replicas=3)
        again = await it.ready(NAME, within=120)
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
            within=120,
        )
        assert "denied" in told(mended)


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
    async with asyncio.timeout(60):
        while True:
            with suppress(Exception):  # they are on their way
                statuses = [await it.door(pod).status() for pod in await it.pods(NAME)]
                if len(statuses) == 2 and all(said.leader == said.member_id for said in statuses):
                    return
            await asyncio.sleep(0.2)
