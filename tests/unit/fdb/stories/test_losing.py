"""Something breaks: processes, pods, nodes, sidecars. What can be mended is, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, NAMESPACE, USER, Story, played, single, spec
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.names import ISOLATED
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author


def annotate(it: Story, group: str, value: str | None) -> None:
    """Say that somebody looks into a pod, or no longer."""
    patch = MergePatch({"metadata": {"annotations": {ISOLATED: value}}})
    it.it.world.api.patch(PODS, it.pod(group), patch, Author("user"))


def test_a_process_that_ends_comes_back_by_itself() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before, string = it.uids(), it.database.string
        it.it.kill_process(it.pod(it.coordinators()[0]))
        await it.rest(120)
        await it.reconciled()
        assert it.uids() == before
        assert it.database.string == string
        await it.at_rest()

    played(story)


def test_a_coordinator_that_stays_away_is_followed_by_another() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        lost = it.coordinators()[0]
        annotate(it, lost, "true")
        await it.until("followed", lambda: lost not in it.coordinators(), 900)
        assert len(it.coordinators()) == 3
        assert lost in it.groups(), "nobody asked for its replacement"
        annotate(it, lost, None)
        await it.rest(60)
        await it.reconciled()
        await it.at_rest()

    played(story)


def test_a_coordinator_whose_node_is_dark_is_followed_by_another() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        lost = it.coordinators()[0]
        node = it.it.node_of(it.pod(lost))
        it.it.lose_node(node, dark=True)
        await it.until("followed", lambda: lost not in it.coordinators(), 900)
        assert len(it.coordinators()) == 3
        it.it.find_node(node)
        await it.rest(120)
        await it.reconciled()
        assert lost in it.groups()
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("force", [False, True])
def test_all_coordinators_pods_are_deleted_at_once(force: bool) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        lost, claims = it.coordinators(), it.claims()
        for name in lost:
            it.it.delete_pod(it.pod(name), force=force)
        await it.rest(120)
        await it.reconciled()
        assert it.claims() == claims
        assert {*lost} <= {*it.groups()}
        await it.at_rest()

    played(story)


def test_all_coordinators_pods_are_deleted_that_go_by_addresses() -> None:
    """Their addresses are others then: the database is not found, and nothing is thrown away."""

    async def story(it: Story) -> None:
        await it.create(spec(routing={"useDNSInClusterFile": False}))
        lost, claims = it.coordinators(), it.claims()
        for name in lost:
            it.it.delete_pod(it.pod(name))
        await it.rest(900)
        assert it.claims() == claims
        assert {*lost} <= {*it.groups()}
        assert not it.is_reconciled
        assert it.condition("Available")["status"] != "True"

    played(story, whole=False)


def test_a_lost_node_holds_all_until_it_is_back() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        names, claims = {*it.groups()}, it.claims()
        it.it.lose_node("node-1", dark=True)
        await it.rest(1800)
        assert not it.is_reconciled
        assert {*it.groups()} == names, "replacing is not allowed, so nobody is replaced"
        assert it.condition("Degraded")["status"] == "True"
        it.it.find_node("node-1")
        await it.rest(120)
        await it.reconciled()
        assert {*it.groups()} == names
        assert it.claims() == claims
        await it.at_rest()

    played(story)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"maxConcurrentReplacements": 10}, id="many at a time"),
        pytest.param({"faultDomainBasedReplacements": True}, id="one zone at a time"),
    ],
)
def test_groups_of_a_lost_node_are_replaced_where_that_is_allowed(options: dict[str, Any]) -> None:
    """All copies are elsewhere by then; but their pods cannot end, so their claims stay."""

    async def story(it: Story) -> None:
        await it.create(spec(automationOptions=replaced(**options)))
        lost, many = on_node(it, "node-1"), len(it.groups())
        assert len(lost) > 1
        it.it.lose_node("node-1", dark=True)
        await it.until("marked", lambda: {*it.groups()} - staying(it) == lost)
        await it.until("replaced", lambda: len(staying(it)) == many)
        await it.reconciled()
        assert it.status["generations"]["hasPendingRemoval"] > 0
        assert it.condition("FullyReplicated")["status"] == "True"
        assert it.watcher.deleted_claims == []
        it.it.find_node("node-1")
        await it.until("gone", lambda: lost.isdisjoint(it.groups()))
        await it.reconciled()
        await it.at_rest()

    played(story)


def test_groups_of_a_lost_node_go_with_what_they_hold_if_that_is_asked_for() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        lost = on_node(it, "node-1")
        it.it.lose_node("node-1", dark=True)
        await it.rest(400)
        it.change(processGroupsToRemoveWithoutExclusion=sorted(lost))
        await it.reconciled()
        assert it.status["generations"]["hasPendingRemoval"] > 0, "their pods cannot end"
        it.it.find_node("node-1")
        await it.until("gone", lambda: lost.isdisjoint(it.groups()))
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("back", ["node", "never"])
def test_as_many_are_replaced_at_a_time_as_may_be(back: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(automationOptions=replaced()))
        lost = on_node(it, "node-1")
        assert len(lost) > 1
        it.it.lose_node("node-1", dark=True)
        await it.rest(1800)
        assert len({*it.groups()} - staying(it)) == 1
        if back == "node":
            it.it.find_node("node-1")
            await it.until("one is gone", it.none_leaves)
            await it.reconciled()
            await it.at_rest()

    played(story, whole=back == "node")


def replaced(**more: Any) -> dict[str, Any]:
    """Return what allows replacements, soon."""
    return {"replacements": {"enabled": True, "failureDetectionTimeSeconds": 60, **more}}


def on_node(it: Story, name: str) -> set[str]:
    """Return the groups whose pods are on a node."""
    return {group for group in it.groups() if it.it.node_of(it.pod(group)) == name}


def staying(it: Story) -> set[str]:
    """Return the groups that shall stay."""
    return {name for name, group in it.groups().items() if not group["spec"].get("remove")}


def test_a_pod_that_does_not_end_holds_nobody_up() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        stuck, other = [*it.groups("storage")][:2]
        key = it.pod(stuck)
        it.it.stick(key)
        it.change(processGroupsToRemove=[stuck])
        await it.until("going", lambda: it.status["generations"].get("hasPendingRemoval", 0) > 0)
        await it.reconciled()
        generation = it.cluster["metadata"]["generation"]
        assert it.status["generations"] == {
            "reconciled": generation,
            "hasPendingRemoval": generation,
        }
        # Everything else goes on.
        it.change(processGroupsToRemove=[stuck, other], processCounts={"stateless": 4})
        await it.reconciled()
        await it.until("the other is gone", lambda: other not in it.groups())
        assert stuck in it.groups()
        assert f"shop-{stuck}-data" in it.claims(), "its claim goes after its pod"
        it.it.world.api.delete(PODS, key, DeleteOptions(grace_seconds=0))
        await it.until("gone", lambda: stuck not in it.groups())
        await it.rest(700)
        await it.at_rest()

    played(story)


def test_a_sidecar_that_is_silent_is_told_and_waited_for() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType="split"))
        silent = next(iter(it.groups("log")))  # of one that coordinates, fdbcli would hear nothing
        recoveries = len(it.recoveries)
        it.it.unreachable[it.pod(silent).name] += 1
        it.change(processes={"general": {"customParameters": ["knob_max_trace_lines=1000000"]}})
        await it.rest(900)
        assert not it.is_reconciled
        assert len(it.recoveries) == recoveries, "nobody is started anew until all can be"
        found = it.groups()[silent]["status"]["conditions"]
        assert "SidecarUnreachable" in [one["type"] for one in found if one["status"] == "True"]
        it.it.unreachable.clear()
        await it.reconciled()
        assert len(it.recoveries) == recoveries + 1
        await it.at_rest()

    played(story)


def test_a_silent_sidecar_does_not_matter_once_its_group_shall_go() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType="split"))
        silent = next(iter(it.groups("log")))
        it.it.unreachable[it.pod(silent).name] += 1
        it.change(
            processes={"general": {"customParameters": ["knob_max_trace_lines=1000000"]}},
            processGroupsToRemove=[silent],
        )
        await it.reconciled()
        await it.until("gone", lambda: silent not in it.groups())
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("which", ["storage", "log", "stateless"])
def test_a_pod_that_somebody_deletes_is_made_anew(which: str) -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        name = next(iter(it.groups(which)))
        before = it.uids()[name]
        it.it.delete_pod(it.pod(name))
        await it.rest(60)
        await it.reconciled()
        assert it.uids()[name] != before
        await it.at_rest()

    played(story)


def test_a_container_that_ends_starts_again() -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        before = it.uids()
        it.it.kill_container(ObjectKey(NAMESPACE, it.pod(next(iter(it.groups("storage")))).name))
        await it.rest(120)
        await it.reconciled()
        assert it.uids() == before
        await it.at_rest()

    played(story)


def test_a_status_that_is_lost_while_the_database_is_silent_costs_no_pod() -> None:
    """It is no database that is yet to be made, in which nobody would miss a pod."""

    async def story(it: Story) -> None:
        await it.create(spec(automationOptions={"podUpdateStrategy": "Delete"}))
        before = it.uids()
        it.stop()
        it.it.mangle = lambda _text: ""
        lost = MergePatch({"status": dict.fromkeys(it.status)})
        it.it.world.api.patch(CLUSTERS, KEY, lost, USER, subresource="status")
        it.change(version="7.3.69")
        it.start()
        await it.rest(900)
        assert it.uids() == before
        assert it.condition("Available")["status"] == "Unknown"
        it.it.mangle = None
        await it.reconciled()
        assert not {*it.uids().values()} & {*before.values()}
        await it.at_rest()

    played(story)
