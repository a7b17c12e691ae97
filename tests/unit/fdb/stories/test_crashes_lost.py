"""The operator dies at a call while something breaks, or ends: another takes over, as it should.

Where it dies is said in :mod:`fakes.fdb_crashes`; at every call with ``make crashes``.
"""

from __future__ import annotations

import pytest

from fakes.fdb_crashes import PLAIN, Crashes, crashed, ended, made
from fakes.fdb_stories import KEY, Story, single, spec
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.names import ISOLATED
from stateward.kube.client import MergePatch
from stateward.kube.resources import PODS
from stateward.local.rules.writes import Author

#: Two copies of everything, three coordinators, and nobody more than they need.
DOUBLE = spec(
    databaseConfiguration={"logs": 2}, processCounts={"storage": 3, "log": 2, "stateless": 1}
)


# ------------------------------------------------------------------ coordinators
@pytest.mark.parametrize("force", [False, True])
def test_while_all_coordinators_are_away(force: bool) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, DOUBLE)
        groups, claims = {*it.groups()}, it.claims()
        for name in it.coordinators():
            it.it.delete_pod(it.pod(name), force=force)
        crashes.begin(it)
        await it.rest(200)
        await ended(it)
        assert {*it.groups()} == groups
        assert it.claims() == claims

    assert crashed(story, Crashes(reads=5, writes_too=3)) >= 3


def test_while_the_process_of_a_coordinator_comes_back() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, DOUBLE)
        before = it.uids()
        crashes.begin(it)
        it.it.kill_process(it.pod(it.coordinators()[0]))
        await it.rest(60)
        await ended(it)
        assert it.uids() == before

    assert crashed(story, Crashes(reads=2, writes_too=1)) >= 3


def test_while_a_coordinator_stays_away_and_another_follows() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, DOUBLE)
        lost, groups = it.coordinators()[0], {*it.groups()}
        crashes.begin(it)
        annotate(it, lost, "true")
        await it.until("followed", lambda: lost not in it.coordinators(), 900)
        assert len(it.coordinators()) == 3
        annotate(it, lost, None)
        await it.rest(60)
        await ended(it)
        assert {*it.groups()} == groups, "nobody asked for its replacement"

    assert crashed(story, Crashes(reads=5, writes_too=3)) >= 3


def annotate(it: Story, group: str, value: str | None) -> None:
    """Say that somebody looks into a pod, or no longer."""
    patch = MergePatch({"metadata": {"annotations": {ISOLATED: value}}})
    it.it.world.api.patch(PODS, it.pod(group), patch, Author("user"))


# ------------------------------------------------------------------ nodes, pods, sidecars
def test_while_groups_of_a_lost_node_are_replaced() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        replaced = {"enabled": True, "failureDetectionTimeSeconds": 60}
        await made(it, {**DOUBLE, "automationOptions": {"replacements": replaced}})
        many, lost = len(it.groups()), it.pod(next(iter(it.groups("storage"))))
        node = it.it.node_of(lost)
        crashes.begin(it)
        it.it.lose_node(node, dark=True)
        await it.until("one shall go", lambda: not it.none_leaves())
        await it.rest(60)
        assert it.watcher.deleted_claims == [], "its pod cannot end"
        it.it.find_node(node)
        await it.until("its claim is gone", lambda: f"{lost.name}-data" not in it.claims())
        await ended(it)
        assert len(staying(it)) == many, "none too many"

    assert crashed(story, Crashes(reads=90, writes_too=7)) > 3


def staying(it: Story, process_class: str = "") -> set[str]:
    """Return the groups that shall stay."""
    return {name for name, one in it.groups(process_class).items() if not one["spec"].get("remove")}


def test_while_a_pod_does_not_end() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        stuck = next(iter(it.groups("storage")))
        key = it.pod(stuck)
        it.it.stick(key)
        crashes.begin(it)
        it.change(processGroupsToRemove=[stuck])
        await it.until("going", lambda: it.status["generations"].get("hasPendingRemoval", 0) > 0)
        await ended(it)
        assert f"shop-{stuck}-data" in it.claims(), "its claim goes after its pod"
        it.it.delete_pod(key, force=True)
        await it.until("its claim is gone", lambda: f"shop-{stuck}-data" not in it.claims())
        await ended(it)
        assert len(staying(it, "storage")) == 1

    assert crashed(story, Crashes(reads=90, writes_too=7)) > 3


def test_while_a_sidecar_is_silent() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, {**PLAIN, "imageType": "split"})
        silent = next(iter(it.groups("log")))  # of one that coordinates, fdbcli would hear nothing
        before = it.uids()
        it.it.unreachable[it.pod(silent).name] += 1
        crashes.begin(it)
        it.change(processes={"general": {"customParameters": ["knob_max_trace_lines=1000000"]}})
        await it.rest(120)
        assert not it.is_reconciled
        assert not [line for line in it.watcher.commands if line.startswith("kill")]
        it.it.unreachable.clear()
        await ended(it)
        assert it.uids() == before

    assert crashed(story, Crashes(reads=90, writes_too=7)) > 3


# ------------------------------------------------------------------ other hands, and the end
def test_while_a_group_that_somebody_deleted_is_replaced() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        name = next(iter(it.groups("log")))
        crashes.begin(it)
        it.delete(PROCESS_GROUPS, it.pod(name).name)
        await it.until("its claim is gone", lambda: f"shop-{name}-data" not in it.claims())
        await ended(it)

    assert crashed(story, Crashes(reads=60, writes_too=5)) >= 3


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_while_a_cluster_is_deleted(policy: str) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, single(deletionPolicy=policy))
        claims = it.claims()
        assert claims
        crashes.begin(it)
        it.delete(CLUSTERS, KEY.name)
        await it.until("all is gone", lambda: it.left() == [])
        await it.rest(60)
        assert it.left() == []
        assert it.claims() == (claims if policy == "Retain" else set())
        assert not it.it.world.api.list(CLUSTERS).items
        assert it.watcher.wrong == []

    assert crashed(story, Crashes(reads=9)) > 3
