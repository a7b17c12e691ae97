"""Zones under maintenance, with processes in pods and a client that reads and writes throughout."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, uids, watched
from operators.fdb.fdb_person import Person, with_kubectl
from operators.fdb.fdb_worlds import PACE, World, small, world
from stateward.kube.codec import Json

#: Seconds of the database, which may live faster than the world.
SECONDS = 120 * int(PACE)
OPTIONS: Json = {
    "waitBetweenRemovalsSeconds": 0,
    "maintenanceModeOptions": {
        "UseMaintenanceModeChecker": True,
        "maintenanceModeTimeSeconds": SECONDS,
    },
}


def changed(value: str) -> Json:
    """Return the usual processes, but for a variable of pods with data: these are made anew."""
    general: Json = small()["processes"]["general"]
    pod = general["podTemplate"]["spec"]
    [usual] = pod["containers"]
    container = {**usual, "env": [*usual["env"], {"name": "ROUND", "value": value}]}
    return {"storage": {"podTemplate": {"spec": {**pod, "containers": [container]}}}}


async def test_a_zone_is_under_maintenance_while_its_pods_are_made_anew(
    plane: str, tmp_path: Path
) -> None:
    async with world(plane) as it, it.operating():
        person = with_kubectl(it, tmp_path)
        await it.create(CLUSTER, automationOptions=OPTIONS)
        await person.ready()
        await ours_come_and_go(it, person)
        await others_are_respected(it, person)


async def ours_come_and_go(it: World, person: Person) -> None:
    storage = await uids(it, "storage")
    async with shopping(it, CLUSTER) as client, watched(it, "storage") as zones:
        await person.patch(processes=changed("1"))
        await person.wait("jsonpath={.status.maintenanceModeInfo.zoneID}")
        await person.ready()
        assert await client.recoveries() == 0, "pods with data have no part in commits"
    cluster = await it.get(CLUSTER)
    anew = await uids(it, "storage")
    assert anew.keys() == storage.keys(), "in place"
    assert not {*anew.values()} & {*storage.values()}
    assert zones.together == [], "never pods of two zones at once"
    homes = {*zones.home.values()}
    assert it.asked("maintenance") >= 2 * len(homes), "each is begun and ended"
    assert sorted(node for node, _ in groupby(zones.order)) == sorted(homes)
    assert cluster.status.maintenance_mode_info is None
    assert "No ongoing maintenance." in await it.typed(CLUSTER, "maintenance")


async def others_are_respected(it: World, person: Person) -> None:
    """A person works in a zone: nothing is taken from any other until the time is over."""
    groups = await it.groups(CLUSTER, "storage")
    zone = min(one.status.fault_domain for one in groups)
    elsewhere = {one.metadata.name for one in groups if one.status.fault_domain != zone}
    before = await uids(it, "storage")
    await it.typed(CLUSTER, f"maintenance on {zone} {SECONDS}")
    async with shopping(it, CLUSTER):
        await person.patch(processes=changed("2"))
        assert zone in await person.blocked("ZoneUnderMaintenance")
        after = await uids(it, "storage")
        assert all(after[name] == before[name] for name in elsewhere)
        assert zone in await it.typed(CLUSTER, "maintenance"), "it is not ended"
        await it.typed(CLUSTER, "maintenance off")
        await person.ready()
    assert not {*before.values()} & {*(await uids(it, "storage")).values()}
