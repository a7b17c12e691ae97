"""What people write into process groups, and orders that come at a bad time: nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.fdb_stories import NAME, USER, Story, played, spec
from stateward.core.moments import to_rfc3339
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model import names
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.resources import PODS
from stateward.local.rules.deletion import DeleteOptions

MANY = {"stateless": 3, "storage": 6, "log": 4}
ENV: Json = {"containers": [{"name": "foundationdb", "env": [{"name": "X", "value": "1"}]}]}
ANOTHER = {"general": {"podTemplate": {"spec": ENV}}}


def write(it: Story, group: str, **fields: Any) -> None:
    """Write into the spec of a group, as kubectl does."""
    patch = MergePatch({"spec": fields})
    it.it.world.api.patch(PROCESS_GROUPS, it.pod(group), patch, USER)


def copies(it: Story) -> int:
    """Return of how many servers that are there the data with the fewest has copies."""
    database = it.database
    return database.shards.fewest_copies(database.servers)


async def watched(it: Story, seconds: int, fewest: int) -> None:
    """Let time pass, and see that there are always so many copies."""
    for _ in range(seconds):
        await asyncio.sleep(1)
        assert copies(it) >= fewest


def claimed(it: Story, ahead: float = 0.0) -> dict[str, Any]:
    """Return what somebody writes who says that nothing is left on a group."""
    moment = to_rfc3339(it.it.world.clock.now() + ahead)
    return {"remove": True, "excluded": True, "exclusionTimestamp": moment}


# ------------------------------------------------------------------ written by hand
def test_a_group_that_somebody_marks_goes_as_it_should() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts={"storage": 4}))
        going = next(iter(it.groups("storage")))
        write(it, going, remove=True)
        await watched(it, 300, 2)
        await it.until("it is gone", lambda: going not in it.groups())
        await it.until("nobody is excluded", lambda: not it.database.barred)
        await it.reconciled()

    played(story)


@pytest.mark.parametrize("ahead", [0.0, 86400.0])
@pytest.mark.parametrize("deletes", [False, True])
def test_that_somebody_says_that_nothing_is_left_is_no_proof(
    *, ahead: float, deletes: bool
) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts={"storage": 4}))
        pods, claims, storage = it.uids(), it.claims(), list(it.groups("storage"))
        for group in storage:
            write(it, group, **claimed(it, ahead))
            if deletes:
                it.delete(PROCESS_GROUPS, it.pod(group).name)
        for _ in range(60):
            await asyncio.sleep(1)
            assert pods.items() <= it.uids().items()
            assert claims <= it.claims()
        await watched(it, 600, 2)
        await it.until("they are gone", lambda: not set(storage) & set(it.groups()))
        await it.until("nobody is excluded", lambda: not it.database.barred)
        await it.reconciled()

    played(story, nodes=9)


def test_nor_is_it_one_while_its_pod_is_away_or_nobody_can_be_asked() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        claims, storage = it.claims(), list(it.groups("storage"))
        for group in storage:
            it.it.delete_pod(it.pod(group))
        for group in storage:
            write(it, group, **claimed(it))
            it.delete(PROCESS_GROUPS, it.pod(group).name)
        await it.rest(60)
        assert claims <= it.claims()
        for group in storage:  # somebody sees what was done
            write(it, group, remove=False, excluded=False, exclusionTimestamp=None)
        await it.reconciled()
        await it.until("nobody is excluded", lambda: not it.database.barred)

    played(story, nodes=9)


def test_what_was_said_while_the_operator_was_away_is_no_proof_either() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts={"storage": 4}))
        storage = list(it.groups("storage"))
        it.stop()
        for group in storage:
            write(it, group, **claimed(it, 60))
            it.delete(PROCESS_GROUPS, it.pod(group).name)
        await it.rest(60)
        it.start()
        await watched(it, 600, 2)
        await it.until("they are gone", lambda: not set(storage) & set(it.groups()))
        await it.until("nobody is excluded", lambda: not it.database.barred)
        await it.reconciled()

    played(story, nodes=9)


# ------------------------------------------------------------------ several zones at once
@pytest.mark.parametrize("seed", [1, 4])
def test_who_goes_with_what_it_holds_goes_zone_by_zone(seed: int) -> None:
    async def story(it: Story) -> None:
        at_once = {"removalMode": "All", "waitBetweenRemovalsSeconds": 0}
        await it.create(spec(processCounts=MANY, automationOptions=at_once))
        going = [one for one in it.groups("storage") if one not in it.coordinators()]
        it.change(processGroupsToRemoveWithoutExclusion=going)
        await watched(it, 1200, 1)
        await it.until("they are gone", lambda: not set(going) & set(it.groups()))
        await it.reconciled()

    played(story, nodes=9, seed=seed)


def test_a_turn_does_not_outlast_others() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts=MANY))
        some = [one for one in it.groups("storage") if one not in it.coordinators()]
        first, *_, last = sorted(some, key=lambda one: it.groups()[one]["status"]["faultDomain"])
        it.change(processGroupsToRemoveWithoutExclusion=[last])
        await it.until(
            "it may go", lambda: bool(it.groups()[last]["spec"].get("exclusionTimestamp"))
        )
        it.change(automationOptions={"removalMode": "None"})
        await it.rest(300)
        it.change(
            processGroupsToRemoveWithoutExclusion=[first, last],
            automationOptions={"removalMode": "Zone"},
        )
        await it.until("another goes", lambda: first not in it.uids())
        it.delete(PROCESS_GROUPS, it.pod(last).name)
        await watched(it, 300, 1)
        await it.until("both are gone", lambda: not {first, last} & set(it.groups()))
        await it.reconciled()

    played(story, nodes=9)


def test_who_goes_with_what_it_holds_has_a_pod_until_its_turn() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts=MANY))
        going = [one for one in it.groups("storage") if one not in it.coordinators()]
        it.change(processGroupsToRemoveWithoutExclusion=going)
        await it.until(
            "all shall go",
            lambda: all(it.groups()[one]["spec"].get("exclusionSkipped") for one in going),
        )
        for one in going:
            it.it.world.api.delete(PODS, it.pod(one), DeleteOptions(grace_seconds=0))
        await it.until("some data is nowhere", lambda: copies(it) == 0, within=60)
        await it.until("it is back", lambda: copies(it) == 2, within=600)
        await it.until("they are gone", lambda: not set(going) & set(it.groups()))
        await it.reconciled()

    played(story, nodes=9)


def test_a_pod_that_somebody_looks_into_is_no_cause_to_write_all_the_time() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts=MANY))
        going = next(one for one in it.groups("storage") if one not in it.coordinators())
        look_into = MergePatch({"metadata": {"annotations": {names.ISOLATED: "true"}}})
        it.it.world.api.patch(PODS, it.pod(going), look_into, USER)
        it.change(processGroupsToRemove=[going])
        group = it.pod(going)
        await it.until(
            "it goes", lambda: "deletionTimestamp" in it.groups()[going]["metadata"], within=3600
        )
        await it.rest(120)
        await it.at_rest(600)
        enough = MergePatch({"metadata": {"annotations": {names.ISOLATED: None}}})
        it.it.world.api.patch(PODS, group, enough, USER)
        await it.until("it is gone", lambda: going not in it.groups(), within=3600)
        await it.reconciled()

    played(story, nodes=9)


# ------------------------------------------------------------------ orders of before
def test_who_was_made_anew_once_may_coordinate_again() -> None:
    async def story(it: Story) -> None:
        counts = {"stateless": 3, "storage": 5, "log": 4}
        options = {"podUpdateStrategy": "Delete"}
        await it.create(spec(processCounts=counts, automationOptions=options))
        before = it.uids()
        it.change(processes=ANOTHER)
        await it.reconciled()
        assert set(before.values()).isdisjoint(it.uids().values())
        await it.rest(700)
        lost = it.coordinators()[0]
        it.it.lose_node(it.it.node_of(it.pod(lost)), dark=True)
        await it.until("another coordinates", lambda: lost not in it.coordinators(), 1800)
        assert len(it.coordinators()) == 3

    played(story, nodes=9, whole=False)


def test_an_order_of_before_is_not_carried_out_when_a_zone_is_down() -> None:
    async def story(it: Story) -> None:
        counts = {"stateless": 3, "storage": 5, "log": 4}
        options = {"podUpdateStrategy": "Delete"}
        await it.create(spec(processCounts=counts, automationOptions=options))
        storage = it.groups("storage")

        def ordered() -> list[str]:
            uids = it.uids("storage")
            every = it.groups("storage").items()
            return [name for name, one in every if one["spec"].get("obsoletePod") == uids.get(name)]

        def end(_change: Any) -> None:
            if ordered():
                it.it.world.loop.call_soon(it.stop)

        it.it.world.api.store.listen(end, PROCESS_GROUPS.name)
        it.change(processes=ANOTHER)
        await it.until("one is ordered to go", lambda: bool(ordered()))
        orders, before = ordered(), it.uids("storage")
        nodes = {it.it.node_of(it.pod(one)) for one in orders}
        await it.rest(300)
        other = next(one for one in storage if it.it.node_of(it.pod(one)) not in nodes)
        it.it.lose_node(it.it.node_of(it.pod(other)), dark=True)
        await it.rest(5)
        it.start()
        await watched(it, 120, 1)
        assert {one: it.uids()[one] for one in orders} == {one: before[one] for one in orders}
        assert it.database.recovery.serves

    played(story, nodes=9, whole=False)


def test_volumes_of_who_goes_are_kept_if_the_policy_says_so_by_then() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(deletionPolicy="Delete"))
        going = list(it.groups("storage"))
        it.change(processGroupsToRemove=going, lockOptions={"disableLocks": False})
        await it.until(
            "marked", lambda: all(it.groups()[one]["spec"].get("remove") for one in going)
        )
        it.change(deletionPolicy="Retain")
        await it.rest(600)
        before = it.claims()
        it.delete(CLUSTERS, NAME)
        await it.until("all is gone", lambda: not it.left())
        await it.rest(60)
        assert it.claims() == before

    played(story, nodes=9, whole=False)
