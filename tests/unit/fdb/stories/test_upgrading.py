"""A cluster becomes another line of releases: all of its processes change at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_stories import Story, played, single, spec
from stateward.core.version import Version
from stateward.emulate.fdb.asking.clients import Client
from stateward.emulate.fdb.servers import Disk
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass

OLD, NEW = "7.1.61", "7.3.63"


def images(it: Story, container: str = "foundationdb") -> set[str]:
    """Return the tags of a container in all pods that stay."""
    staying = [name for name, one in it.groups().items() if not one["spec"].get("remove")]
    return {
        one["image"].rpartition(":")[2]
        for name, pod in it.pods().items()
        if name in staying
        for one in pod["spec"]["containers"]
        if one["name"] == container
    }


def kills(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("kill")]


def running(it: Story) -> set[str]:
    return {str(one.version) for one in it.database.servers.values()}


@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_all_change_at_once(image_type: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, imageType=image_type))
        await it.rest(120)
        before = len(it.recoveries)
        pods = it.uids()
        it.change(version=NEW)
        await it.until("restarted", lambda: bool(kills(it)))
        assert images(it) == {OLD}, "no pod changes before all processes have"
        assert it.uids() == pods
        await it.until("seen", lambda: it.status.get("runningVersion") == NEW)
        assert len(it.recoveries) - before == 1
        assert not it.is_reconciled
        await it.reconciled()
        assert running(it) == {NEW}
        assert images(it) == {NEW}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ what holds it back
def blockers(it: Story) -> dict[str, str]:
    """Return what holds something back, with its words."""
    return {one["guard"]: one["message"] for one in it.status.get("blockers", ())}


def staged(it: Story) -> set[str]:
    """Return the versions of sidecars."""
    return {one.removesuffix("-1") for one in images(it, "foundationdb-kubernetes-sidecar")}


async def is_untouched(it: Story, uids: dict[str, str]) -> None:
    """See that the cluster lives on as it was: nobody was restarted, and no pod is another."""
    assert kills(it) == []
    assert it.uids() == uids
    assert running(it) == {OLD}
    assert images(it) == {OLD}


@pytest.mark.parametrize(
    ("version", "reason", "words"),
    [
        ("7.4.5", "UpgradeSkipsVersions", "skips 7.3"),
        ("7.2.9", "UpgradePathUnknown", "along 7.1, 7.3, 7.4"),
        ("8.0.0", "UpgradePathUnknown", "from 7.1.61 to 8.0.0"),
    ],
)
def test_a_way_that_is_none_is_refused_and_the_cluster_lives_on(
    version: str, reason: str, words: str
) -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        uids = it.uids()
        it.change(version=version)
        await it.until("told", lambda: reason in blockers(it))
        assert words in blockers(it)[reason]
        assert it.condition("Ready")["reason"] == reason
        await it.rest(700)
        await is_untouched(it, uids)
        assert staged(it) == {OLD}
        gone = next(iter(it.groups("stateless")))
        it.change(processGroupsToRemove=[gone])
        await it.until("healed meanwhile", lambda: gone not in it.groups())
        it.change(version=OLD)
        await it.reconciled()

    played(story)


def client(it: Story, version: str, log_group: str = "web") -> None:
    """Have somebody use the database with a library of one version."""
    it.database.client_comes(Client("10.9.9.9:500", (Version.parse(version),), log_group))


def test_clients_that_could_not_follow_hold_it_back_before_anything_changes() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        uids = it.uids()
        client(it, OLD)
        it.change(version=NEW)
        await it.until("told", lambda: "ClientsIncompatible" in blockers(it))
        assert "10.9.9.9:500 (web)" in blockers(it)["ClientsIncompatible"]
        await it.rest(300)
        await is_untouched(it, uids)
        assert staged(it) == {OLD}
        it.change(ignoreUpgradabilityChecks=True)
        await it.reconciled()
        assert running(it) == {NEW}
        await it.until("gone", it.none_leaves)

    played(story)


def test_a_client_that_comes_late_holds_the_restart_back() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, minimumUptimeSecondsForBounce=900))
        uids = it.uids()
        it.change(version=NEW)
        await it.until("staged", lambda: staged(it) == {NEW})
        client(it, OLD)
        await it.until("told", lambda: "ClientsIncompatible" in blockers(it))
        await it.rest(1200)
        assert kills(it) == []
        assert it.uids() == uids
        it.database.client_goes("10.9.9.9:500")
        await it.reconciled()
        assert running(it) == {NEW}
        await it.until("gone", it.none_leaves)

    played(story)


# ------------------------------------------------------------------ the way back
@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_before_the_restart_there_is_a_way_back_on_which_nobody_restarts(image_type: str) -> None:
    async def story(it: Story) -> None:
        slow = {"minimumUptimeSecondsForBounce": 900, "imageType": image_type}
        await it.create(single(version=OLD, **slow))
        before, uids = len(it.recoveries), it.uids()
        it.change(version=NEW)
        await it.until("staged", lambda: staged(it) == {NEW})
        await it.rest(60)
        it.change(version=OLD)
        await it.reconciled()
        await is_untouched(it, uids)
        assert staged(it) == {OLD}
        assert len(it.recoveries) == before
        it.database.recover("somebody kills all")
        for pod in it.pods().values():  # whoever starts now starts as what runs
            it.it.realm.kill(f"{pod['status']['podIP']}:4501", (7, 1))
        await it.rest(120)
        assert running(it) == {OLD}
        await it.reconciled()

    played(story)


def test_after_the_restart_there_is_no_way_back_and_the_cluster_goes_on() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        it.change(version=NEW)
        await it.until("restarted", lambda: bool(kills(it)))
        it.change(version=OLD)
        await it.until("told", lambda: "DowngradeRefused" in blockers(it))
        assert it.status["runningVersion"] == NEW
        await it.until("pods follow", lambda: images(it) == {NEW})
        await it.rest(900)
        assert running(it) == {NEW}
        assert len(kills(it)) == 1
        it.change(version=NEW)
        await it.reconciled()
        await it.until("gone", it.none_leaves)

    played(story)


def test_another_target_before_the_restart_is_staged_anew() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, minimumUptimeSecondsForBounce=900))
        it.change(version=NEW)
        await it.until("staged", lambda: staged(it) == {NEW})
        it.change(version="7.3.69")
        await it.until("staged anew", lambda: staged(it) == {"7.3.69"})
        await it.reconciled()
        assert running(it) == {"7.3.69"}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)

    played(story)


def test_a_second_upgrade_begins_when_the_first_is_finished() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        it.change(version=NEW)
        await it.until("restarted", lambda: bool(kills(it)))
        it.change(version="7.4.5")
        await it.until("restarted again", lambda: len(kills(it)) == 2)
        assert images(it) == {NEW}, "all pods had changed to the first before"
        await it.reconciled()
        assert running(it) == images(it) == {"7.4.5"}
        await it.until("gone", it.none_leaves)

    played(story)


# ------------------------------------------------------------------ what goes wrong
def test_a_pod_that_cannot_have_the_programs_is_named_and_nobody_restarts() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        uids = it.uids()
        it.change(version=NEW, sidecarContainer={"imageConfigs": [NOWHERE]})
        await it.until("told", lambda: "StagingFails" in blockers(it))
        assert "storage-" in blockers(it)["StagingFails"]
        assert "cannot get the programs of" in it.status["doing"]
        assert it.status["progress"] == {"step": "StagingUpgrade", "of": 3}
        await it.rest(700)
        await is_untouched(it, uids)
        it.change(sidecarContainer={"imageConfigs": []})
        await it.reconciled()
        assert running(it) == {NEW}
        await it.until("gone", it.none_leaves)

    played(story)


NOWHERE = {"version": NEW, "baseImage": "registry.example/none", "tag": "typo"}


def test_a_process_that_starts_while_pods_are_staged_is_not_waited_for() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, minimumUptimeSecondsForBounce=900))
        it.change(version=NEW)
        await it.until("staged", lambda: staged(it) == {NEW})
        await it.rest(60)
        ahead = it.pods("stateless").popitem()[1]["status"]["podIP"]
        it.it.realm.kill(f"{ahead}:4501", (7, 1))
        await it.reconciled()
        assert running(it) == {NEW}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)

    played(story)


def test_a_process_that_was_left_behind_is_started_anew() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD))
        behind = next(iter(it.groups("storage")))
        it.change(version=NEW, buggify={"ignoreDuringRestart": [behind]})
        await it.until("restarted", lambda: bool(kills(it)))
        uid = it.uids()[behind]
        await it.until("made anew", lambda: it.uids().get(behind, uid) != uid)
        it.change(buggify=None)
        await it.reconciled()
        assert running(it) == {NEW}
        await it.until("gone", it.none_leaves)

    played(story)


def test_processes_of_somebody_else_hold_it_back_before_anything_changes() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        uids = it.uids()
        alien = next(iter(it.database.servers.values()))
        stranger = replace(
            alien,
            addresses=(Address("10.77.0.1", 4501),),
            disk=Disk("f" * 32),
            told_class=ProcessClass.STATELESS,
            localities={**alien.localities, "instance_id": "dc2-stateless-1"},
        )
        it.database.join(stranger)
        it.change(version=NEW)
        await it.until("told", lambda: "ForeignProcesses" in blockers(it))
        assert "dc2-stateless-1" in blockers(it)["ForeignProcesses"]
        await it.rest(700)
        await is_untouched(it, uids)
        assert staged(it) == {OLD}, "who starts meanwhile must be able to join"
        it.database.leave(stranger.disk.process_id)
        await it.reconciled()
        await it.until("gone", it.none_leaves)

    played(story)


def test_a_change_of_pods_in_the_middle_has_its_turn_afterwards() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, minimumUptimeSecondsForBounce=900))
        it.change(version=NEW)
        await it.until("staging", lambda: NEW in staged(it))
        labels: dict[str, Any] = {"podTemplate": {"spec": {"terminationGracePeriodSeconds": 7}}}
        it.change(processes={"general": labels})
        await it.reconciled()
        assert running(it) == {NEW}
        grace = {pod["spec"]["terminationGracePeriodSeconds"] for pod in it.pods().values()}
        assert grace == {7}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)

    played(story)


def test_a_patch_release_is_rolled_and_may_be_taken_back() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD))
        for version in ("7.1.67", OLD):
            it.change(version=version)
            await it.reconciled()
            assert running(it) == images(it) == {version}
        assert kills(it) == []
        await it.until("gone", it.none_leaves)

    played(story)
