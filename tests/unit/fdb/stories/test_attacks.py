"""What people, tools and bad luck do to a cluster that is well; nothing is lost by any of it."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, NAME, USER, Story, played, single, spec
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model import names
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS, VOLUME_CLAIMS
from stateward.local.rules.deletion import DeleteOptions, Propagation


def guards(it: Story) -> list[str]:
    """Return what holds something back, by its names."""
    return [one["guard"] for one in it.status.get("blockers", ())]


def patch(it: Story, group: str, body: Json) -> None:
    """Write into the object of a group, as kubectl does."""
    it.it.world.api.patch(PROCESS_GROUPS, it.pod(group), MergePatch(body), USER)


def strip(it: Story, group: str) -> None:
    """Delete the object of a group at once, whatever keeps it."""
    key = it.pod(group)
    patch(it, group, {"metadata": {"finalizers": None}})
    it.it.world.api.delete(PROCESS_GROUPS, key, DeleteOptions())


def orphan(it: Story) -> None:
    """Delete the cluster and keep what it has: kubectl delete --cascade=orphan."""
    options = DeleteOptions(propagation=Propagation.ORPHAN)
    it.it.world.api.delete(CLUSTERS, KEY, options)


def claims(it: Story) -> dict[str, str]:
    """Return the UIDs of claims by their names."""
    every = (one.document() for one in it.it.world.api.list(VOLUME_CLAIMS).items)
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in every}


# ------------------------------------------------------------------ groups that are taken away
@pytest.mark.parametrize("which", ["storage", "log", ""])
def test_groups_that_are_gone_without_their_volumes_are_back_on_them(which: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before, ids = claims(it), set(it.groups())
        for group in it.groups(which):
            strip(it, group)
        await it.until("they are gone", lambda: set(it.groups()) != ids or not it.groups())
        await it.until("they are back", lambda: set(it.groups()) == ids, within=60)
        await it.until("they run", lambda: set(it.pods()) == ids, within=600)
        await it.reconciled()
        assert claims(it) == before
        assert set(it.groups()) == ids
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_a_group_that_was_about_to_go_is_back_and_goes_as_it_should(policy: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts={"storage": 4}, deletionPolicy=policy))
        going = next(iter(it.groups("storage")))
        it.change(processGroupsToRemove=[going])
        await it.until("data leaves it", lambda: bool(it.database.barred))
        it.change(processGroupsToRemove=None)
        strip(it, going)
        await it.until("it is back", lambda: going in it.groups(), within=60)
        await it.until("it is gone", lambda: going not in it.groups())
        await it.reconciled()
        await it.until("nobody is excluded", lambda: not it.database.barred)
        assert len(it.claims()) == len(it.groups("storage")) + len(it.groups("log"))

    played(story)


def test_a_group_that_nobody_owns_is_owned_again() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before = it.uids()
        for group in (next(iter(it.groups("storage"))), next(iter(it.groups("stateless")))):
            patch(it, group, {"metadata": {"ownerReferences": None}})
        await it.rest(60)
        await it.reconciled()
        uid = it.cluster["metadata"]["uid"]
        for one in it.groups().values():
            assert [it["uid"] for it in one["metadata"]["ownerReferences"]] == [uid]
        assert it.uids() == before
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("body", [single(), spec(), spec(deletionPolicy="Delete")])
def test_a_cluster_that_is_deleted_without_what_it_has_is_made_again(body: Json) -> None:
    async def story(it: Story) -> None:
        await it.create(body)
        pods, before, database = it.uids(), claims(it), it.database
        orphan(it)
        await it.rest(60)
        assert it.uids() == pods
        it.apply(body)
        await it.reconciled()
        assert it.database is database
        assert (it.uids(), claims(it)) == (pods, before)
        assert guards(it) == []
        assert sum(line.startswith("configure") for line in it.watcher.commands) == 1
        await it.at_rest()
        it.delete(CLUSTERS, NAME)
        await it.until("all is gone", lambda: not it.left())
        assert (claims(it) == {}) is (body.get("deletionPolicy") == "Delete")

    played(story, whole=False)


def test_beside_groups_that_run_on_no_other_database_is_begun() -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        before, pods = claims(it), it.uids()
        orphan(it)
        await it.rest(60)
        it.apply(single(), annotations={names.LEFT_VOLUMES: "ignore"})
        await it.rest(300)
        assert guards(it) == ["VolumesLeft"]
        assert "run on" in it.condition("Ready")["message"]
        assert it.uids() == pods
        it.delete(CLUSTERS, NAME)
        await it.rest(60)
        for group in it.groups():
            it.delete(PROCESS_GROUPS, it.pod(group).name)
        await it.until("they are gone", lambda: not it.groups(), within=300)
        assert claims(it) == before

    played(story, whole=False)


def test_a_volume_that_no_group_can_have_is_told_and_kept() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        going = next(iter(it.groups("log")))
        it.change(skip=True)
        strip(it, going)
        empty: Json = {
            "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "0"}}}}
        }
        it.change(processes={"log": empty}, skip=False)
        await it.until("it is told", lambda: "VolumesUnused" in guards(it), within=600)
        await it.rest(900)
        (told,) = [one for one in it.status["blockers"] if one["guard"] == "VolumesUnused"]
        name = names.claim_name(f"{NAME}-{going}")
        assert name in told["message"]
        assert name in it.claims()
        it.delete(VOLUME_CLAIMS, name)
        await it.reconciled()

    played(story)


# ------------------------------------------------------------------ memory that is lost
def wipe(it: Story, *, config: bool, groups: bool = False) -> None:
    """Have the status say nothing: a merge patch of it to {}; and more of what remembers."""
    body = {"status": dict.fromkeys(it.status)}
    it.it.world.api.patch(CLUSTERS, KEY, MergePatch(body), USER, subresource="status")
    if config:
        it.delete(CONFIG_MAPS, names.config_map_name(NAME))
    if groups:
        for group in it.groups():
            strip(it, group)


@pytest.mark.parametrize("config", [False, True])
@pytest.mark.parametrize("is_silent", [False, True])
def test_a_status_that_is_wiped_is_written_again(*, config: bool, is_silent: bool) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        old = it.status["connectionString"]
        nodes = {it.it.node_of(it.pod(group)) for group in it.coordinators()}
        if is_silent:
            for node in nodes:
                it.it.lose_node(node, dark=True)
            await it.rest(120)
        wipe(it, config=config)
        await it.rest(600)
        assert it.status["connectionString"] == old
        if is_silent:
            for node in nodes:
                it.it.find_node(node)
        await it.reconciled()
        assert it.status["connectionString"] == old
        assert len(it.it.realm.databases) == 1
        assert sum(line.startswith("configure new") for line in it.watcher.commands) == 1

    played(story, nodes=9)


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("config", [False, True])
def test_whatever_is_lost_while_nobody_looks_no_other_database_is_begun(
    *, config: bool, groups: bool
) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        old, before = it.status["connectionString"], claims(it)
        it.stop()
        await it.rest(30)
        wipe(it, config=config, groups=groups)
        await it.rest(30)
        it.start()
        await it.rest(900)
        if config:
            assert guards(it) == ["StatusUnreadable"]
            told = {"status": {"connectionString": old}}
            it.it.world.api.patch(CLUSTERS, KEY, MergePatch(told), USER, subresource="status")
        await it.reconciled()
        assert it.status["connectionString"] == old
        assert claims(it) == before
        assert len(it.it.realm.databases) == 1
        assert sum(line.startswith("configure new") for line in it.watcher.commands) == 1

    played(story)


# ------------------------------------------------------------------ wishes that cannot come true
@pytest.mark.parametrize(("few", "nodes"), [({}, 2), ({"storage": 3, "log": 3}, 3)])
def test_more_copies_than_there_are_zones_for_are_told_and_not_asked_for(
    few: dict[str, Any], nodes: int
) -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        more = {"databaseConfiguration": {"redundancy_mode": "triple", "logs": None}}
        it.change(**more, processCounts={"storage": None, "log": None, "stateless": 1, **few})
        await it.rest(900)
        assert guards(it) == ["CoordinatorsHeld", "enough_zones"]
        assert f"{nodes} could have a coordinator" in it.condition("Ready")["message"]
        assert it.database.recovery.serves
        it.change(databaseConfiguration={"redundancy_mode": "single", "logs": 1})
        await it.reconciled()
        await it.until("who is too many is gone", lambda: not it.database.barred)
        commands = [line for line in it.watcher.commands if line.startswith("configure")]
        assert not [line for line in commands if "triple" in line]

    played(story, nodes=nodes)


def test_nobody_to_have_data_is_refused_and_nobody_is_asked_to_go() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processCounts={"storage": -1})
        await it.rest(600)
        assert guards(it) == ["SpecInvalid"]
        assert it.none_leaves()
        it.change(processCounts={"storage": None})
        await it.reconciled()

    played(story)


@pytest.mark.parametrize("which", ["log", "stateless"])
def test_none_of_a_class_that_others_stand_in_for_is_none(which: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processCounts={which: -1})
        await it.reconciled()
        await it.until("they are gone", lambda: not it.groups(which))

    played(story)


def test_a_version_that_is_none_is_told_in_words_and_changes_nothing() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before = it.uids()
        it.change(version="07.3.63")  # what a server cannot see in a text of three numbers
        await it.rest(600)
        assert guards(it) == ["SpecInvalid"]
        assert "as in 7.3.63, got '07.3.63'" in it.condition("Ready")["message"]
        assert it.database.recovery.serves
        assert it.uids() == before

    played(story)
