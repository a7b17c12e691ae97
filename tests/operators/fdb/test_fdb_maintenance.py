"""Zones under maintenance, with processes in pods and a client that reads and writes throughout."""

from __future__ import annotations

from itertools import groupby

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, uids, until, watched
from operators.fdb.fdb_worlds import PACE, World, world
from stateward.kube.codec import Json

EARLIER, LATER = "7.3.63", "7.3.69"
#: Seconds of the database, which may live faster than the world.
SECONDS = 120 * int(PACE)
OPTIONS: Json = {
    "waitBetweenRemovalsSeconds": 0,
    "maintenanceModeOptions": {
        "UseMaintenanceModeChecker": True,
        "maintenanceModeTimeSeconds": SECONDS,
    },
}


async def test_a_zone_is_under_maintenance_while_its_pods_are_made_anew(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, version=EARLIER, automationOptions=OPTIONS)
        await it.reconciled(CLUSTER)
        await ours_come_and_go(it)
        await others_are_respected(it)


async def ours_come_and_go(it: World) -> None:
    storage = await uids(it, "storage")
    async with shopping(it, CLUSTER) as client, watched(it, "storage") as zones:
        await it.edit(CLUSTER, version=LATER)
        await it.until(CLUSTER, lambda now: now.status.maintenance_mode_info is not None)
        cluster = await it.reconciled(CLUSTER)
    anew = await uids(it, "storage")
    assert anew.keys() == storage.keys(), "in place"
    assert not {*anew.values()} & {*storage.values()}
    assert zones.together == [], "never pods of two zones at once"
    homes = {*zones.home.values()}
    assert it.asked("maintenance") >= 2 * len(homes), "each is begun and ended"
    assert sorted(node for node, _ in groupby(zones.order)) == sorted(homes)
    assert cluster.status.maintenance_mode_info is None
    assert "No ongoing maintenance." in await it.typed(CLUSTER, "maintenance")
    assert await client.lost() == []


async def others_are_respected(it: World) -> None:
    """A person works in a zone: nothing is taken from any other until the time is over."""
    groups = await it.groups(CLUSTER, "storage")
    zone = min(one.status.fault_domain for one in groups)
    elsewhere = {one.metadata.name for one in groups if one.status.fault_domain != zone}
    before = await uids(it, "storage")
    await it.typed(CLUSTER, f"maintenance on {zone} {SECONDS}")
    async with shopping(it, CLUSTER) as client:
        await it.edit(CLUSTER, version=EARLIER)
        cluster = await it.until(
            CLUSTER,
            lambda now: "ZoneUnderMaintenance" in {one.guard for one in now.status.blockers},
        )
        (said,) = [it for it in cluster.status.blockers if it.guard == "ZoneUnderMaintenance"]
        assert zone in said.message
        after = await uids(it, "storage")
        assert all(after[name] == before[name] for name in elsewhere)
        assert zone in await it.typed(CLUSTER, "maintenance"), "it is not ended"
        await it.typed(CLUSTER, "maintenance off")

        async def is_over() -> bool:
            return not {*before.values()} & {*(await uids(it, "storage")).values()}

        await until(it, "all storage pods are made anew", is_over)
        await it.reconciled(CLUSTER)
    assert await client.lost() == []
