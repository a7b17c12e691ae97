"""What people ask for beside a cluster: faults, a pause, other hands, an end."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, NAMESPACE, USER, Story, key_of, played, single, spec
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.names import CLUSTER_UID_LABEL
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS

KNOB = {"general": {"customParameters": ["knob_max_trace_lines=1000000"]}}


def first(it: Story, process_class: str) -> str:
    return next(iter(it.groups(process_class)))


# ------------------------------------------------------------------ faults
@pytest.mark.parametrize(
    "field",
    [
        pytest.param(lambda name: {"crashLoop": [name]}, id="crash loop"),
        pytest.param(
            lambda name: {
                "crashLoopContainers": [{"containerName": "foundationdb", "targets": [name]}]
            },
            id="crash loop of a container",
        ),
        pytest.param(lambda name: {"noSchedule": [name]}, id="no schedule"),
    ],
)
def test_a_fault_that_is_asked_for_comes_and_goes(field: Any) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.watcher.careless = True
        name = next(one for one in it.groups("stateless"))
        others = {one: uid for one, uid in it.uids().items() if one != name}
        it.change(buggify=field(name))
        await it.rest(300)
        if "noSchedule" not in field(name):  # nodes of this world do not look at affinities
            assert not it.is_reconciled
        assert others.items() <= it.uids().items()
        assert {*it.groups()} == {*others, name}, "nobody is replaced for it"
        it.change(buggify=None)
        await it.reconciled()
        assert others.items() <= it.uids().items()
        await it.at_rest()

    played(story)


def test_no_process_runs_while_that_is_asked_for() -> None:
    async def story(it: Story) -> None:
        await it.create(single(imageType="split"))
        before = {*it.groups()}
        it.change(buggify={"emptyMonitorConf": True})
        await it.rest(900)
        assert not it.database.servers
        assert not it.is_reconciled
        it.change(buggify=None)
        await it.reconciled()
        assert {*it.groups()} == before
        await it.at_rest()

    played(story)


def test_a_removal_that_is_blocked_goes_no_further_than_the_proof() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        name = first(it, "stateless")
        it.change(buggify={"blockRemoval": [name]}, processGroupsToRemove=[name])
        await it.rest(1200)
        assert name in it.groups()
        assert name in it.pods()
        it.change(buggify=None)
        await it.until("gone", lambda: name not in it.groups())
        await it.reconciled()

    played(story)


# ------------------------------------------------------------------ other hands
@pytest.mark.parametrize("which", ["storage", "log", "stateless"])
def test_a_group_that_somebody_deletes_is_replaced_first(which: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        name, many = first(it, which), len(it.groups(which))
        it.delete(PROCESS_GROUPS, it.pod(name).name)
        await it.rest(1)
        assert name in it.pods(), "its pod stays until another has its data"
        await it.until("gone", lambda: name not in it.groups())
        await it.reconciled()
        assert len(it.groups(which)) == many
        it.is_whole()
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.parametrize("deleted_first", [True, False])
def test_who_is_deleted_and_goes_with_what_it_holds_waits_for_its_turn(
    many: int, deleted_first: bool
) -> None:
    """Whoever deletes objects does not choose when: neither coordinators go, nor all copies."""

    async def story(it: Story) -> None:
        await it.create(spec())
        lost = it.coordinators()[:many]
        names = [it.pod(one).name for one in lost]
        for act in (deleted_first, not deleted_first):
            if act:
                for name in names:
                    it.delete(PROCESS_GROUPS, name)
            else:
                it.change(processGroupsToRemoveWithoutExclusion=lost)
            await it.rest(2)
        assert {*lost} <= {*it.pods()}
        await it.until("gone", lambda: not {*lost} & {*it.groups()})
        it.change(processGroupsToRemoveWithoutExclusion=None)
        await it.reconciled()
        await it.at_rest()

    played(story)


def test_all_groups_that_somebody_deletes_are_replaced() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before = {*it.groups()}
        for name in before:
            it.delete(PROCESS_GROUPS, it.pod(name).name)
        await it.until("gone", lambda: before.isdisjoint(it.groups()), 20_000)
        await it.reconciled()
        it.is_whole()
        await it.at_rest()

    played(story)


def test_groups_of_another_operators_status_are_taken_over_with_their_pods() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        await it.at_rest()
        before, claims = it.uids(), it.claims()
        volumes = {one.key: one.uid for one in it.it.world.api.list(VOLUME_CLAIMS).items}
        it.stop()
        await it.rest(1)
        forget_groups(it)
        await it.rest(30)
        assert it.groups() == {}
        it.start()
        await it.rest(60)
        await it.reconciled()
        assert it.uids() == before, "no pod is made anew"
        assert it.claims() == claims
        assert {one.key: one.uid for one in it.it.world.api.list(VOLUME_CLAIMS).items} == volumes
        assert it.recoveries == ["the database was created"]
        await it.at_rest()

    played(story)


def forget_groups(it: Story) -> None:
    """Leave what an operator leaves that has no objects for groups: all is the cluster's."""
    api, cluster = it.it.world.api, it.cluster
    owner = {
        "apiVersion": CLUSTERS.api_version,
        "kind": CLUSTERS.kind,
        "name": cluster["metadata"]["name"],
        "uid": cluster["metadata"]["uid"],
        "controller": True,
    }
    for kind in (PODS, VOLUME_CLAIMS):
        for one in api.list(kind).items:
            body: Json = {"metadata": {"ownerReferences": [owner]}}
            if kind is VOLUME_CLAIMS:
                body["metadata"]["labels"] = {CLUSTER_UID_LABEL: None}
            api.patch(kind, one.key, MergePatch(body), USER)
    for group in it.groups().values():
        api.patch(PROCESS_GROUPS, key_of(group), MergePatch({"metadata": {"finalizers": []}}), USER)
        it.delete(PROCESS_GROUPS, group["metadata"]["name"])


# ------------------------------------------------------------------ a pause
def test_a_cluster_that_is_skipped_is_only_looked_at() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(skip=True)
        await it.rest(60)
        before, commands = it.uids(), len(it.watcher.commands)
        it.change(processes=KNOB, processCounts={"stateless": 5})
        await it.rest(600)
        assert it.uids() == before
        assert len(it.watcher.commands) == commands
        assert it.condition("Paused")["status"] == "True"
        await it.at_rest()
        it.change(skip=False)
        await it.reconciled()
        assert len(it.groups("stateless")) == 5
        await it.at_rest()

    played(story)


def test_when_a_pause_is_over_all_groups_are_looked_at_at_once() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(skip=True)
        await it.rest(60)
        keys = {name: it.pod(name) for name in it.groups("stateless")}
        for key in keys.values():
            it.delete(PODS, key.name)
        await it.until("gone", lambda: not it.pods("stateless"))
        await it.rest(20)
        it.change(skip=False)
        await it.until("made", lambda: it.pods("stateless").keys() == keys.keys(), within=5)
        await it.reconciled()

    played(story)


def test_a_pause_in_the_middle_of_a_removal_holds_it() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        name = first(it, "storage")
        it.it.stick(it.pod(name), 60)
        it.change(processGroupsToRemove=[name])
        await it.until("going", lambda: "deletionTimestamp" in it.groups()[name]["metadata"], 3600)
        it.change(skip=True)
        await it.rest(300)
        assert f"shop-{name}-data" in it.claims()
        it.change(skip=False)
        await it.until("gone", lambda: name not in it.groups())
        await it.reconciled()

    played(story)


# ------------------------------------------------------------------ mistakes
@pytest.mark.parametrize(
    ("wrong", "mended"),
    [
        pytest.param(
            {"processes": {"general": {"customParameters": ["datadir=/elsewhere"]}}},
            {"processes": {"general": {"customParameters": None}}},
            id="a parameter that is ours",
        ),
        pytest.param({"version": "6.3.25"}, {"version": "7.3.63"}, id="a version too old"),
        pytest.param({"version": "7.1.57"}, {"version": "7.3.63"}, id="a downgrade"),
        pytest.param(
            {"processGroupsToRemove": ["*"]}, {"processGroupsToRemove": []}, id="all shall go"
        ),
        pytest.param(
            {"seedConnectionString": "nonsense"}, {"seedConnectionString": None}, id="no string"
        ),
    ],
)
def test_a_spec_that_is_wrong_disrupts_nothing_and_is_mended(
    wrong: dict[str, Any], mended: dict[str, Any]
) -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        before, commands = it.uids(), len(it.watcher.commands)
        try:
            it.change(**wrong)
        except Exception:  # noqa: BLE001 - it was refused at the door, which is as good
            return
        await it.rest(600)
        assert not it.is_reconciled
        assert it.status["blockers"]
        assert it.uids() == before
        assert len(it.watcher.commands) == commands
        assert it.database.recovery.serves
        it.change(**mended)
        await it.reconciled()
        assert it.uids() == before
        await it.at_rest()

    played(story)


@pytest.mark.parametrize(
    "mangle",
    [
        pytest.param(lambda _text: "", id="empty"),
        pytest.param(lambda text: text[: len(text) // 2], id="half"),
        pytest.param(lambda _text: "{}", id="nothing in it"),
        pytest.param(lambda text: text.replace('"processes"', '"progresses"'), id="no processes"),
        pytest.param(
            lambda text: text.replace('"configuration"', '"something"'), id="no configuration"
        ),
    ],
)
def test_while_the_database_says_nonsense_nothing_is_destroyed(mangle: Any) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before, claims, commands = it.uids(), it.claims(), len(it.watcher.commands)
        it.it.mangle = mangle
        name = first(it, "storage")
        it.change(processGroupsToRemove=[name], processes=KNOB)
        await it.rest(1800)
        assert before.items() <= it.uids().items()
        assert claims <= it.claims()
        assert len(it.watcher.commands) == commands
        assert not it.is_reconciled
        it.it.mangle = None
        await it.reconciled()
        await it.until("gone", lambda: name not in it.groups())
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ the end
@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_a_cluster_that_is_deleted_leaves_its_claims_or_nothing(policy: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(deletionPolicy=policy))
        claims = it.claims()
        assert claims
        it.delete(CLUSTERS, KEY.name)
        await it.until("all is gone", lambda: it.left() == [])
        await it.rest(120)
        assert it.claims() == (claims if policy == "Retain" else set())
        assert not it.it.world.api.list(CLUSTERS).items

    played(story, whole=False)


def test_a_policy_may_be_changed_before_the_end() -> None:
    async def story(it: Story) -> None:
        await it.create(single(deletionPolicy="Delete"))
        claims = it.claims()
        it.change(deletionPolicy="Retain")
        await it.reconciled()
        it.delete(CLUSTERS, KEY.name)
        await it.until("all is gone", lambda: it.left() == [])
        await it.rest(120)
        assert it.claims() == claims

    played(story, whole=False)


def test_a_cluster_that_is_deleted_while_groups_leave_keeps_no_finalizers() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        name = first(it, "storage")
        it.change(processGroupsToRemove=[name])
        await it.until(
            "its pod is gone", lambda: it.it.world.api.store.get(PODS.name, pod(name)) is None
        )
        it.delete(CLUSTERS, KEY.name)
        await it.until("all is gone", lambda: it.left() == [])

    def pod(name: str) -> ObjectKey:
        return ObjectKey(NAMESPACE, f"shop-{name}")

    played(story, whole=False)
