"""A zone is under maintenance while its pods are made anew, and never longer."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, spec
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.codec import Json

IMAGE = "7.3.69"
ON = {"maintenanceModeOptions": {"UseMaintenanceModeChecker": True}}
RESET = {"maintenanceModeOptions": {"resetMaintenanceMode": True}}


def body(**options: Any) -> Json:
    return spec(automationOptions={**options})


def told(it: Story) -> list[str]:
    """Return what the database was told of maintenance, in order."""
    return [line for line in it.watcher.commands if line.startswith("maintenance ")]


def begun(it: Story) -> list[str]:
    return [line.split()[2] for line in told(it) if line.startswith("maintenance on")]


def zones(it: Story, process_class: str = "storage") -> set[str]:
    return {one["status"]["faultDomain"] for one in it.groups(process_class).values()}


def record(it: Story) -> Json:
    found: Json = it.status.get("maintenanceModeInfo", {})
    return found


def reasons(it: Story) -> set[str]:
    return {one["guard"] for one in it.status.get("blockers", ())}


async def settled(it: Story) -> None:
    await it.reconciled()
    await it.until("gone", it.none_leaves)


# ------------------------------------------------------------------ ours
def test_each_zone_is_under_maintenance_while_its_pods_are_made_anew() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**ON))
        names = {*it.groups("storage")}
        it.change(version=IMAGE)
        await settled(it)
        assert names == {*it.groups("storage")}, "in place"
        assert {*begun(it)} == zones(it)
        assert len(begun(it)) == len(zones(it)), "each once"
        lines = told(it)
        assert lines[1::2] == ["maintenance off"] * len(zones(it)), lines
        assert it.database.maintained() is None
        assert not record(it)
        it.is_whole()
        await it.at_rest()

    played(story)


def test_while_it_is_on_no_data_is_copied_for_who_is_away() -> None:
    """Without it the database begins to heal; with it the same pods come back to their data."""
    moved: dict[bool, float] = {}

    def version(on: bool) -> Any:
        async def story(it: Story) -> None:
            await it.create(body(**(ON if on else {})))
            it.it.nodes.hindrance.slow += 200.0
            it.change(version=IMAGE)
            await it.until("one is away", lambda: bool(it.database.missing))
            most = 0.0
            for _ in range(150):
                await it.rest(1)
                most = max(most, float(it.database.shards.is_moving()))
            moved[on] = most
            it.it.nodes.hindrance.slow -= 200.0
            await settled(it)

        return story

    played(version(on=True))
    played(version(on=False))
    assert moved == {True: 0.0, False: 1.0}


def test_pods_of_a_zone_that_go_one_by_one_go_under_one_maintenance() -> None:
    async def story(it: Story) -> None:
        more = body(**ON, deletionMode="ProcessGroup")
        await it.create({**more, "processCounts": {"storage": 6, "stateless": 1}})
        it.change(version=IMAGE)
        await settled(it)
        assert {*begun(it)} == zones(it)
        assert len(begun(it)) == len(zones(it)), begun(it)
        assert it.database.maintained() is None
        assert not record(it)

    played(story, nodes=3)


def test_who_wants_it_not_is_told_nothing() -> None:
    async def story(it: Story) -> None:
        await it.create(body())
        it.change(version=IMAGE)
        await settled(it)
        assert told(it) == []

    played(story)


def test_zones_without_storage_need_none() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**ON, podUpdateStrategy="Delete"))
        template = {"spec": {"containers": [{"name": "foundationdb", "env": [{"name": "A"}]}]}}
        it.change(
            processes={"log": {"podTemplate": template}, "stateless": {"podTemplate": template}}
        )
        await settled(it)
        assert told(it) == []

    played(story, nodes=9)


def test_it_is_renewed_while_a_pod_is_not_back_and_then_no_more() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**merged(ON, 120)))
        it.it.nodes.hindrance.no_image += 1
        it.change(version=IMAGE)
        await it.until("it begins", lambda: bool(begun(it)))
        await it.until("it is over", lambda: it.database.maintained() is None, within=900)
        first = begun(it)[0]
        assert begun(it) == [first] * len(begun(it)), "of no other zone"
        assert 2 <= len(begun(it)) <= 3
        await it.until("it is no longer on record", lambda: not record(it), within=200)
        await it.until("it has failed", lambda: _fails(it), within=200)
        assert "maintenance off" not in told(it), "by its own time"
        it.it.nodes.hindrance.no_image -= 1
        await settled(it)
        assert it.database.maintained() is None

    played(story)


def merged(options: Json, seconds: int) -> Json:
    inner = {**options["maintenanceModeOptions"], "maintenanceModeTimeSeconds": seconds}
    return {"maintenanceModeOptions": inner}


def _fails(it: Story) -> bool:
    return any(
        _wrong(one) & {"PodFailing", "PodPending", "MissingProcesses"}
        for one in it.groups("storage").values()
    )


def _wrong(group: Json) -> set[str]:
    return {it["type"] for it in group["status"]["conditions"] if it["status"] == "True"}


def _is_ordered(group: Json) -> bool:
    return bool(group["spec"].get("obsoletePod"))


@pytest.mark.parametrize("moment", ["it is on record", "it is on", "a pod is to go"])
def test_who_takes_the_option_away_in_the_middle_has_it_ended(moment: str) -> None:
    async def story(it: Story) -> None:
        await it.create(body(**ON))
        it.it.nodes.hindrance.slow += 20.0
        it.change(version=IMAGE)
        holds = {
            "it is on record": lambda: bool(record(it)),
            "it is on": lambda: bool(begun(it)),
            "a pod is to go": lambda: any(map(_is_ordered, it.groups("storage").values())),
        }
        await it.until(moment, holds[moment])
        off = {"UseMaintenanceModeChecker": False}
        it.change(automationOptions={"maintenanceModeOptions": off})
        await settled(it)
        assert len(begun(it)) <= 1
        assert told(it)[1:] == ["maintenance off"] * len(begun(it))
        await it.until("it is off the record", lambda: not record(it), within=120)
        assert it.database.maintained() is None
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ others'
def foreign(it: Story, seconds: float = 900.0) -> str:
    zone = min(zones(it))
    it.database.begin_maintenance(zone, seconds)
    return zone


@pytest.mark.parametrize("options", [{}, ON], ids=["off", "on"])
def test_what_others_told_is_respected(options: Json) -> None:
    async def story(it: Story) -> None:
        await it.create(body(**options, podUpdateStrategy="Delete"))
        zone, before = foreign(it), it.uids()
        it.change(version=IMAGE)
        await it.rest(600)
        assert it.database.maintained() is not None, "it is not ended"
        keepers = {**it.groups("storage"), **it.groups("log")}
        other = {name for name, one in keepers.items() if one["status"]["faultDomain"] != zone}
        after = it.uids()
        assert all(after[name] == before[name] for name in other), "nothing is taken elsewhere"
        assert "ZoneUnderMaintenance" in reasons(it)
        (words,) = [
            one["message"]
            for one in it.status["blockers"]
            if one["guard"] == "ZoneUnderMaintenance" and "maintenance off" in one["hint"]
        ]
        assert zone in words
        assert " s more" in words
        assert told(it) == []
        await it.until("it is over", lambda: it.database.maintained() is None)
        await settled(it)
        assert zone not in begun(it)

    played(story, nodes=9)


def test_who_lets_others_be_at_work_longer_in_our_zone_keeps_it() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**ON))
        it.change(version=IMAGE)
        await it.until("it begins", lambda: it.database.maintained() is not None)
        zone = begun(it)[0]
        it.database.begin_maintenance(zone, 3000.0)
        await it.rest(1200)
        found = it.database.maintained()
        assert found is not None
        assert found.zone == zone
        assert told(it) == [f"maintenance on {zone} 600"]
        assert not record(it)
        await settled(it)

    played(story)


def test_others_who_take_over_are_not_ended() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**ON))
        it.change(version=IMAGE)
        await it.until("it begins", lambda: it.database.maintained() is not None)
        it.database.begin_maintenance("elsewhere", 600.0)
        await it.rest(500)
        found = it.database.maintained()
        assert found is not None
        assert found.zone == "elsewhere"
        await settled(it)
        assert it.database.maintained() is None

    played(story)


def test_what_others_told_is_ended_where_that_is_asked_for_and_all_there_started_anew() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**RESET))
        zone = foreign(it, 5000.0)
        await it.rest(300)
        assert told(it) == [], "nobody there has started anew"
        here = next(
            n for n, one in it.groups("storage").items() if one["status"]["faultDomain"] == zone
        )
        _end(it, here)
        await it.until("it is ended", lambda: it.database.maintained() is None, within=600)
        assert told(it) == ["maintenance off"]
        await settled(it)
        await it.at_rest()

    played(story)


def _end(it: Story, group: str) -> None:
    """Have the containers of a pod end, as a reboot does."""
    lodger = it.it.nodes.lodger(it.pod(group))
    assert lodger is not None
    it.it.nodes.kill(lodger)


def test_a_zone_that_nobody_is_in_is_left_to_its_own_time() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**RESET))
        it.database.begin_maintenance("nosuchzone", 400.0)
        await it.rest(300)
        assert it.database.maintained() is not None
        assert it.is_reconciled
        assert "nosuchzone" in it.status["blockers"][0]["message"]
        await it.until("it is over", lambda: it.database.maintained() is None)
        assert told(it) == []
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ the end of the cluster
@pytest.mark.parametrize("how", ["skip", "delete"])
def test_who_stops_in_the_middle_leaves_it_to_its_own_time(how: str) -> None:
    async def story(it: Story) -> None:
        await it.create(body(**ON))
        it.change(version=IMAGE)
        await it.until("it begins", lambda: bool(begun(it)))
        if how == "delete":
            database = it.database
            it.delete(CLUSTERS, "shop")
            await it.rest(700)
            it.it.realm.advance()
            assert database.maintained() is None
            return
        it.change(skip=True)
        await it.rest(700)
        assert it.database.maintained() is None
        it.change(skip=False)
        await settled(it)
        assert not record(it)

    played(story, whole=how != "delete")
