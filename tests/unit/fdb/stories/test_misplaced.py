"""Places that change under a database, or are lost while it moves; and wishes that contradict."""

from __future__ import annotations

import pytest

from fakes.fdb_places import Places, database, region
from fakes.fdb_stories import Story, played
from stateward.emulate.fdb import data
from stateward.kube.codec import Json
from unit.fdb.stories.test_topologies import (
    ALONE,
    BOTH,
    CENTERS,
    HALLS,
    SWAPPED,
    THREE_HALLS,
    three_centers,
    usable,
)


async def three_halls(it: Places) -> None:
    it.apply("az1", dataHall="az1", databaseConfiguration=THREE_HALLS)
    seed = await it.found("az1")
    for name in ("az2", "az3"):
        it.apply(name, seed, dataHall=name, databaseConfiguration=THREE_HALLS)
    await it.reconciled(*HALLS)
    it.story.write()


async def three_zones(it: Places) -> None:
    """Have one database on three Kubernetes clusters, each a zone."""
    seed = ""
    for index in range(3):
        key = "foundationdb.org/kubernetes-cluster"
        domain = {"key": key, "value": f"kc{index}", "zoneCount": 3, "zoneIndex": index}
        it.apply(f"kc{index}", seed, faultDomain=domain, processCounts={"stateless": 0})
        seed = seed or await it.found("kc0")
    await it.reconciled("kc0", "kc1", "kc2")
    it.story.write()


def localities(told: Story, name: str) -> set[str]:
    return {it.localities.get(name, "") for it in told.database.servers.values()}


@pytest.mark.parametrize("place", ["dc9", "dc1", ""])
def test_a_data_center_in_use_is_not_renamed(place: str) -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        before, lines = told.uids(), len(told.watcher.commands)
        it.change("dc2", dataCenter=place)
        await told.rest(300)
        words = it.told("dc2")
        if place:
            assert f"dataCenter must stay dc2, got {place}" in words
            assert "data center dc2 must have storage processes in 2 zones" in words
        else:
            assert "must be given with regions" in words
        # Who starts anew meanwhile is where it was.
        first = min(name for name in told.groups("storage") if name.startswith("dc2"))
        told.it.kill_process(told.pod(first))
        await told.rest(120)
        assert localities(told, "dcid") == set(CENTERS)
        assert told.uids() == before
        assert len(told.watcher.commands) == lines
        it.change("dc2", dataCenter="dc2")
        await it.reconciled(*CENTERS)
        assert not data.lacks_copies(told.database)

    played(story)


def test_a_hall_in_use_is_not_renamed() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_halls(it)
        it.change("az3", dataHall="az1")
        await told.rest(300)
        assert "dataHall must stay az3, got az1" in it.blockers("az3")
        assert "storage processes in 3 data halls, and they are in 2: az1, az2" in it.blockers(
            "az3"
        )
        assert localities(told, "data_hall") == set(HALLS)
        it.change("az3", dataHall="az3")
        await it.reconciled(*HALLS)

    played(story)


def test_a_lone_cluster_may_say_where_it_is() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        it.apply("dc1")
        await it.reconciled("dc1")
        told.write()
        it.change("dc1", dataCenter="dc1", dataHall="az1")
        await it.reconciled("dc1")
        assert localities(told, "dcid") == {"dc1"}
        it.change("dc1", dataCenter="dc7")
        await it.reconciled("dc1")
        assert localities(told, "dcid") == {"dc7"}

    played(story)


@pytest.mark.parametrize("lost", ["dc3", "dc1"])
def test_a_place_is_lost_while_the_other_region_becomes_the_first(lost: str) -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        keys = [told.pod(name) for name in told.groups() if name.startswith(lost)]
        it.change(*CENTERS, databaseConfiguration=SWAPPED)
        programs = [one for key in keys if (one := told.it.pods.program(key)) is not None]
        for one in programs:
            one.isolate(isolated=True)
        await told.rest(400)
        for one in programs:
            one.isolate(isolated=False)
        await it.reconciled(*CENTERS)
        await told.until("dc2 is the first", lambda: told.database.primary == "dc2")
        await told.until("all copies", lambda: not data.lacks_copies(told.database))
        it.change(*CENTERS, databaseConfiguration=BOTH)
        await it.reconciled(*CENTERS)

    played(story)


def test_the_region_that_writes_is_taken_away() -> None:
    far = database(1, region("dc2", 1, "dc3"))

    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        assert told.database.primary == "dc1"
        it.change(*CENTERS, databaseConfiguration=far)
        # The cluster of dc1 begins; dc2 goes on where the database is run by then.
        await it.reconciled(*CENTERS)
        assert told.database.primary == "dc2"
        assert told.database.settings is not None
        assert [one.center for one in told.database.settings.regions] == ["dc2"]
        assert not data.lacks_copies(told.database)
        it.change(*CENTERS, databaseConfiguration=ALONE)
        await it.reconciled(*CENTERS)
        assert told.database.primary == "dc1"

    played(story)


@pytest.mark.parametrize(
    ("one", "other"),
    [({"logs": 4}, {"logs": 3}), ({"resolvers": 2}, {"redundancy_mode": "triple"})],
    ids=["counts", "copies and counts"],
)
def test_clusters_that_ask_for_different_things_do_not_fight(one: Json, other: Json) -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_zones(it)
        before = len(it.configured())
        it.change("kc0", databaseConfiguration=one)
        it.change("kc1", databaseConfiguration=other)
        await told.rest(900)
        assert len(it.configured()) == before + 1, "the one that made the database decides"
        assert "the cluster without a seedConnectionString changes it" in it.told("kc1")
        assert "databaseConfiguration must be the same there" in it.told("kc1")
        assert not it.is_reconciled("kc1")
        it.change("kc1", databaseConfiguration={**dict.fromkeys(other), **one})
        it.change("kc2", databaseConfiguration=one)
        await it.reconciled("kc0", "kc1", "kc2")
        await told.until("who was too many is forgotten", lambda: not told.database.barred)
        assert len(it.configured()) == before + 1

    played(story)


def test_two_that_want_the_database_at_the_others_place_move_it_once() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        before = len(it.configured())
        it.change("dc1", databaseConfiguration=SWAPPED)
        await told.until("dc2 is the first", lambda: told.database.primary == "dc2")
        await told.rest(1200)
        assert [usable(line) for line in it.configured()[before:]] == ["2 dc1=0 dc2=1"]
        assert told.database.primary == "dc2"
        assert "somebody has moved the database to data center dc2" in it.told("dc2")
        assert not it.is_reconciled("dc2")
        # Whoever is changed last decides; and when all ask for the same, all is as asked.
        it.change("dc2", "dc3", databaseConfiguration=SWAPPED)
        await it.reconciled(*CENTERS)
        it.change("dc2", databaseConfiguration=BOTH)
        await told.until("dc1 is the first", lambda: told.database.primary == "dc1")
        it.change("dc1", "dc3", databaseConfiguration=BOTH)
        await it.reconciled(*CENTERS)
        steps = [usable(line) for line in it.configured()[before:]]
        assert steps == ["2 dc1=0 dc2=1", "2 dc1=1 dc2=0"]

    played(story)


@pytest.mark.parametrize(
    ("place", "counts", "words"),
    [
        ("dc3", {"log": 1}, "the satellites dc3 must have logs in 2 zones, and have them in 1"),
        ("dc2", {"storage": 1}, "data center dc2 must have storage processes in 2 zones"),
    ],
    ids=["satellite", "region"],
)
def test_a_place_keeps_what_the_database_needs_there(place: str, counts: Json, words: str) -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        recoveries, groups = len(told.recoveries), set(told.groups())
        it.change(place, processCounts=counts)
        await told.rest(300)
        kind = next(iter(counts))
        assert f"without the {kind} processes that are too many: {words}" in it.blockers(place)
        assert not it.is_reconciled(place)
        assert told.none_leaves()
        assert set(told.groups()) == groups
        assert len(told.recoveries) == recoveries, "the database is left as it is"
        it.change(place, processCounts={kind: None})
        await it.reconciled(*CENTERS)
        assert set(told.groups()) == groups

    played(story)
