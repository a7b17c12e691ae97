"""One FoundationDB cluster that is asked to be another, again and again; its data stays."""

from __future__ import annotations

import os
from itertools import groupby

from operators.fdb.fdb_hands import (
    CLUSTER,
    coordinators,
    is_kept,
    keep,
    pods,
    sizes,
    uids,
    watched,
)
from operators.fdb.fdb_worlds import World, world
from stateward.app.fdb.available import NAMED
from stateward.fdb.model.names import MAIN_CONTAINER
from stateward.kube.objects.pods import Pod

EARLIER, LATER = "7.3.63", "7.3.69"
LARGE = {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "2G"}}}}}


async def test_a_cluster_becomes_another_step_by_step(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(
            CLUSTER, version=EARLIER, automationOptions={"waitBetweenRemovalsSeconds": 0}
        )
        await it.reconciled(CLUSTER)
        await keep(it)
        await a_listed_group_goes_with_what_it_holds(it)
        await a_larger_volume_is_another_group(it)
        await another_image_is_another_pod_zone_by_zone(it)
        await a_setting_is_one_command(it)


async def a_listed_group_goes_with_what_it_holds(it: World) -> None:
    excluded, before = it.asked("exclude"), await it.ids(CLUSTER, "storage")
    gone = min(before)
    await it.edit(CLUSTER, processGroupsToRemoveWithoutExclusion=[gone])
    await it.reconciled(CLUSTER)
    after = await it.ids(CLUSTER, "storage")
    assert len(after) == 3
    assert before - after == {gone}
    assert f"{CLUSTER}-{gone}" not in await sizes(it)
    assert it.asked("exclude") == excluded, "nobody waits until its data is elsewhere"
    assert len(await coordinators(it)) == 3
    assert await is_kept(it), "others have it"


async def a_larger_volume_is_another_group(it: World) -> None:
    before, others = await uids(it, "storage"), await uids(it, "log")
    await it.edit(CLUSTER, processes={"storage": LARGE})
    await it.reconciled(CLUSTER)
    after = await uids(it, "storage")
    assert len(after) == 3
    assert after.keys().isdisjoint(before)
    assert await uids(it, "log") == others, "what did not change stays"
    found = await sizes(it)
    assert found.keys() == {*after, *others}, "the claims go with their groups"
    assert {found[name] for name in after} == {"2G"}
    assert await is_kept(it)
    assert "There are currently no servers" in await it.typed(CLUSTER, "exclude")


async def another_image_is_another_pod_zone_by_zone(it: World) -> None:
    storage, claims = await uids(it, "storage"), await sizes(it)
    system = {**await uids(it, "log"), **await uids(it, "stateless")}
    async with watched(it, "storage") as zones:
        await it.edit(CLUSTER, version=LATER)
        cluster = await it.reconciled(CLUSTER)
    after = await pods(it)
    assert {_version(pod) for pod in after.values()} == {LATER}
    assert NAMED in os.environ or cluster.status.running_version == LATER
    anew = await uids(it, "storage")
    assert anew.keys() == storage.keys(), "in place"
    assert not {*anew.values()} & {*storage.values()}
    assert {name: claims[name] for name in storage}.items() <= (await sizes(it)).items()
    assert after.keys().isdisjoint(system), "the transaction system is replaced"
    assert len(after) == len(storage) + len(system)
    assert zones.together == [], "never pods of two zones at once"
    apart = [node for node, _ in groupby(zones.order)]
    assert sorted(apart) == sorted({*zones.home.values()}), "each zone once"
    assert len(apart) > 1
    assert await is_kept(it)


def _version(pod: Pod) -> str:
    """Return the version that the image of a pod's database names."""
    images = {one.name: one.image for one in pod.spec.containers}
    return images[MAIN_CONTAINER].rpartition(":")[2]


async def a_setting_is_one_command(it: World) -> None:
    before, asked = await uids(it), it.asked("configure")
    await it.edit(CLUSTER, databaseConfiguration={"logs": 4})
    cluster = await it.reconciled(CLUSTER)
    live = cluster.status.database_configuration
    assert live is not None
    assert live.logs == 4
    assert it.asked("configure") == asked + 1
    assert len(await it.ids(CLUSTER, "log")) == 5
    assert before.items() <= (await uids(it)).items(), "nobody had to go for it"
    assert await is_kept(it)
