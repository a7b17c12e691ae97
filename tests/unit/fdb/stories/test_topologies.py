"""One database in several data centers or halls: an object for each, and one operator."""

from __future__ import annotations

from typing import Any

from fakes.fdb_places import Places, database, region
from fakes.fdb_stories import Story, played
from stateward.emulate.fdb import data
from stateward.kube.codec import Json

BOTH = database(2, region("dc1", 1, "dc3"), region("dc2", 0, "dc3"))
SWAPPED = database(2, region("dc1", 0, "dc3"), region("dc2", 1, "dc3"))
ALONE = database(1, region("dc1", 1, "dc3"))
CENTERS = ("dc1", "dc2", "dc3")
HALLS = ("az1", "az2", "az3")
THREE_HALLS: Json = {"redundancy_mode": "three_data_hall"}


async def three_centers(it: Places, **more: Any) -> None:
    """Have two data centers with data and one with logs, each an object of its own."""
    it.apply("dc1", dataCenter="dc1", databaseConfiguration=BOTH, **more)
    seed = await it.found("dc1")
    for center in ("dc2", "dc3"):
        it.apply(center, seed, dataCenter=center, databaseConfiguration=BOTH, **more)
    await it.reconciled(*CENTERS)
    it.story.write()


def usable(line: str) -> str:
    """Return what a command says of regions, as ``2 dc1=1 dc2=0``; satellites are left out."""
    words = dict(it.split("=", 1) for it in line.split() if "=" in it)
    parts = words["regions"].replace("\\", "").replace('"', "").split("{id:")[1:]
    mains = [it.split(",")[:2] for it in parts if "satellite:1" not in it]
    said = sorted(f"{name}={rest.split(':')[1].strip('}]')}" for name, rest in mains)
    return " ".join([words["usable_regions"], *said])


def test_the_first_data_center_serves_alone_and_the_others_follow() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        it.apply("dc1", dataCenter="dc1", databaseConfiguration=BOTH)
        await told.until("dc1 serves", lambda: it.status("dc1").get("configured", False))
        await told.rest(200)
        assert told.database.recovery.serves
        assert "the satellites dc3 must have logs in 2 zones" in it.blockers("dc1")
        seed = await it.found("dc1")
        it.apply("dc3", seed, dataCenter="dc3", databaseConfiguration=BOTH)
        await told.rest(400)
        assert "data center dc2 must have storage processes in 2 zones" in it.blockers("dc1")
        assert told.database.settings is not None
        assert told.database.settings.usable_regions == 1
        it.apply("dc2", seed, dataCenter="dc2", databaseConfiguration=BOTH)
        await it.reconciled(*CENTERS)
        told.write()
        assert it.coordinators("dcid") == {"dc1": 3, "dc2": 3, "dc3": 3}
        lines = it.configured()
        assert [it for it in lines if " new " in it] == lines[:1]
        steps = [usable(line) for line in lines]
        assert steps == ["1 dc1=1", "1 dc1=1 dc2=-1", "2 dc1=1 dc2=-1", "2 dc1=1 dc2=0"]
        await told.at_rest()

    played(story)


def test_the_other_region_becomes_the_first_and_one_goes() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        before = len(it.configured())
        assert told.database.primary == "dc1"
        it.change(*CENTERS, databaseConfiguration=SWAPPED)
        await it.reconciled(*CENTERS)
        assert [usable(line) for line in it.configured()[before:]] == ["2 dc1=0 dc2=1"]
        await told.until("dc2 is the first", lambda: told.database.primary == "dc2")
        assert not told.watcher.deleted_pods
        before = len(it.configured())
        it.change(*CENTERS, databaseConfiguration=ALONE)
        await it.reconciled(*CENTERS)
        steps = [usable(line) for line in it.configured()[before:]]
        assert steps == ["2 dc1=1 dc2=-1", "1 dc1=1 dc2=-1", "1 dc1=1"]
        assert told.database.primary == "dc1"
        assert set(it.coordinators("dcid")) <= {"dc1", "dc3"}
        await told.at_rest()

    played(story)


def test_a_change_of_mind_in_the_middle() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        before = len(it.configured())
        it.change(*CENTERS, databaseConfiguration=ALONE)
        await told.until("one step is taken", lambda: len(it.configured()) == before + 2)
        it.change(*CENTERS, databaseConfiguration=BOTH)
        await it.reconciled(*CENTERS)
        steps = [usable(line) for line in it.configured()[before:]]
        assert steps == ["2 dc1=1 dc2=-1", "1 dc1=1 dc2=-1", "2 dc1=1 dc2=-1", "2 dc1=1 dc2=0"]
        assert not data.lacks_copies(told.database)

    played(story)


def test_two_clusters_that_differ_do_not_undo_each_other() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        before = len(it.configured())
        it.change("dc2", databaseConfiguration=SWAPPED)
        await told.rest(900)
        assert len(it.configured()) == before
        assert "data center dc1 changes it" in it.told("dc2")

    played(story)


# ------------------------------------------------------------------ data halls
def test_three_halls_begin_as_triple_and_say_which_is_missing() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        it.apply("az1", dataHall="az1", databaseConfiguration=THREE_HALLS)
        seed = await it.found("az1")
        it.apply("az2", seed, dataHall="az2", databaseConfiguration=THREE_HALLS)
        await told.rest(600)
        assert told.database.settings is not None
        assert told.database.settings.redundancy == "triple"
        assert "must have storage processes in 3 data halls, and they are in 2: az1, az2" in (
            it.blockers("az1")
        )
        it.apply("az3", seed, dataHall="az3", databaseConfiguration=THREE_HALLS)
        await it.reconciled(*HALLS)
        told.write()
        assert told.database.settings.redundancy == "three_data_hall"
        assert it.coordinators("data_hall") == {"az1": 3, "az2": 3, "az3": 3}
        await told.at_rest()

    played(story)


# ------------------------------------------------------------------ several Kubernetes clusters
def test_every_kubernetes_cluster_is_a_zone() -> None:
    async def story(told: Story) -> None:
        it = Places(told)

        def domain(index: int) -> Json:
            key = "foundationdb.org/kubernetes-cluster"
            return {"key": key, "value": f"kc{index}", "zoneCount": 3, "zoneIndex": index}

        it.apply("kc0", faultDomain=domain(0), processCounts={"stateless": 0})
        seed = await it.found("kc0")
        for index in (1, 2):
            it.apply(f"kc{index}", seed, faultDomain=domain(index), processCounts={"stateless": 0})
        await it.reconciled("kc0", "kc1", "kc2")
        told.write()
        assert it.coordinators("zoneid") == {"kc0": 1, "kc1": 1, "kc2": 1}
        prefixes = sorted(name.split("-")[0] for name in told.groups("storage"))
        assert prefixes == ["kc0", "kc1", "kc2"], "3 are divided among 3"
        assert len(told.groups("log")) == 4
        await told.at_rest()

    played(story)
