"""What each change of a live cluster is: a command, a restart, other pods, other groups, or a no.

The same table is in docs/foundationdb/topologies.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from fakes.fdb_stories import Story, merged, played, single, spec
from stateward.emulate.fdb.configuration.engines import outdated
from stateward.kube.codec import Json


class Way(NamedTuple):
    """A change, and how it is made: commands, whether groups, and whether pods are others."""

    before: Json
    change: Json
    configures: int = 0
    groups: bool = False
    pods: bool = False


def asked(**fields: Any) -> Json:
    return {"databaseConfiguration": fields}


TRIPLE = asked(redundancy_mode="triple")
BY_ADDRESS: Json = {"routing": {"useDNSInClusterFile": False}}
NAMED: Json = {"routing": {"useDNSInClusterFile": True}}
HASTY: Json = {"automationOptions": {"waitBetweenRemovalsSeconds": 0}}

#: Changes that are made, and how.
MADE = {
    "counts are a command": Way({}, asked(logs=4, resolvers=2), configures=1),
    "more copies are a command": Way({}, TRIPLE, configures=1),
    "memory to ssd is a command": Way(
        asked(storage_engine="memory"),
        asked(storage_engine="ssd-2", storage_migration_type="aggressive"),
        configures=1,
    ),
    "an engine goes over gradually": Way(
        {},
        asked(
            storage_engine="ssd-redwood-1",
            storage_migration_type="gradual",
            perpetual_storage_wiggle=1,
        ),
        configures=1,
    ),
    "another prefix is other groups": Way(
        {}, {"processGroupIDPrefix": "b"}, groups=True, pods=True
    ),
    "another source of addresses is other groups": Way(
        {}, {"routing": {"publicIPSource": "service"}}, groups=True, pods=True
    ),
    "addresses of pods again are other groups": Way(
        {"routing": {"publicIPSource": "service"}},
        {"routing": {"publicIPSource": "pod"}},
        groups=True,
        pods=True,
    ),
    "names in the cluster file": Way(BY_ADDRESS, NAMED, pods=True),
    "addresses in the cluster file": Way(NAMED, BY_ADDRESS, pods=True),
}


@pytest.mark.parametrize("name", MADE)
def test_a_change_is_made_in_its_way(name: str) -> None:
    way = MADE[name]

    async def story(it: Story) -> None:
        await it.create(spec(**merged(HASTY, way.before)))
        before, groups = it.uids("storage"), set(it.groups("storage"))
        lines = len(_configured(it))
        it.change(**way.change)
        await it.reconciled()
        await it.until("who goes is gone", it.none_leaves)
        await it.until("and forgotten", lambda: not it.database.barred)
        await it.until("and no data is in another engine", lambda: not outdated(it.database))
        assert len(_configured(it)) - lines == way.configures, _configured(it)[lines:]
        assert groups.isdisjoint(it.groups("storage")) == way.groups
        anew = any(it.uids("storage").get(one) != uid for one, uid in before.items())
        assert anew == way.pods
        await it.at_rest()

    played(story)


def test_coordinators_go_by_names_and_back() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**BY_ADDRESS))
        assert not any(one.is_name for one in it.database.string.coordinators)
        before = it.uids("storage")
        it.change(**NAMED)
        await it.reconciled()
        named = [line for line in _moved(it) if ".svc." in line]
        assert len(named) == 1, "all of them at once, when every pod has its name"
        assert all(one.is_name for one in it.database.string.coordinators)
        assert it.uids("storage").keys() == before.keys(), "the same groups"
        it.change(**BY_ADDRESS)
        await it.reconciled()
        assert not any(one.is_name for one in it.database.string.coordinators)
        await it.until("who went is forgotten", lambda: not it.database.barred)
        await it.at_rest()

    played(story)


def test_a_prefix_changes_as_many_groups_at_a_time_as_may_be() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(automationOptions={"maxConcurrentReplacements": 1}))
        most = 0

        def goes_on() -> bool:
            nonlocal most
            marked = [
                one["spec"]
                for one in it.groups().values()
                if one["spec"].get("remove") and not one["spec"].get("excluded")
            ]
            most = max(most, len(marked))
            return all(name.startswith("b-") for name in it.groups())

        it.change(processGroupIDPrefix="b")
        await it.until("all are others", goes_on, within=40_000)
        assert most == 1
        await it.reconciled()

    played(story)


# ------------------------------------------------------------------ what is refused
class No(NamedTuple):
    """A cluster, a change that is refused, by which guard, with which words and which hint."""

    body: Callable[..., Json]
    change: Json
    guard: str
    says: str
    hint: str


REFUSED = {
    "more copies than zones": No(
        spec,
        TRIPLE,
        "enough_zones",
        "triple must have 3 zones with storage processes",
        "set databaseConfiguration.redundancy_mode back to double",
    ),
    "halls that are not there": No(
        spec,
        {"dataHall": "az1", **asked(redundancy_mode="three_data_hall")},
        "enough_places",
        "must have storage processes in 3 data halls",
        "a FoundationDBCluster for each",
    ),
    "an engine that nothing goes over to": No(
        single,
        asked(storage_engine="ssd-redwood-1"),
        "engine_can_change",
        "storage_engine must stay ssd-2 while storage_migration_type is disabled",
        "back to ssd-2",
    ),
    "a gradual change that nobody makes": No(
        single,
        asked(storage_engine="ssd-rocksdb-v1", storage_migration_type="gradual"),
        "engine_can_change",
        "perpetual_storage_wiggle must be 1 or more",
        "perpetual_storage_wiggle to 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why_and_harms_nobody(name: str) -> None:
    no = REFUSED[name]
    nodes = 3 if no.change == TRIPLE else 6

    async def story(it: Story) -> None:
        await it.create(no.body(lockOptions={"disableLocks": True}))
        lines, engine = len(_configured(it)), _settings(it)
        it.change(**no.change)
        await it.rest(900)
        assert not it.is_reconciled
        told = [one for one in it.status["blockers"] if one["guard"] == no.guard]
        assert told, it.status["blockers"]
        assert no.says in told[0]["message"]
        assert no.hint in told[0]["hint"]
        assert len(_configured(it)) == lines
        assert _settings(it) == engine

    played(story, nodes=nodes)


def test_with_one_copy_a_pod_without_a_volume_stays() -> None:
    none = {"spec": {"resources": {"requests": {"storage": "0"}}}}

    async def story(it: Story) -> None:
        body = single(
            processes={"general": {"volumeClaimTemplate": none}},
            automationOptions={"podUpdateStrategy": "Delete"},
        )
        await it.create(body)
        before = it.uids()
        it.change(version="7.3.69")
        await it.rest(900)
        told = [one for one in it.status["blockers"] if one["guard"] == "no_last_copy_goes"]
        assert told, it.status["blockers"]
        assert "the only copy" in told[0]["message"]
        assert {name: it.uids()[name] for name in before if "stateless" not in name} == {
            name: uid for name, uid in before.items() if "stateless" not in name
        }
        it.change(processGroupsToRemove=[name for name in before if "stateless" not in name])
        await it.reconciled()
        await it.until("who went is forgotten", lambda: not it.database.barred)

    played(story)


def _moved(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("coordinators")]


def _configured(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("configure")]


def _settings(it: Story) -> Json:
    assert it.database.settings is not None
    return dict(it.database.settings.values)


@pytest.mark.parametrize(
    ("before", "change"),
    [(BY_ADDRESS, {"version": "7.3.69"}), (NAMED, BY_ADDRESS), (BY_ADDRESS, NAMED)],
    ids=["another image", "names are given up", "names come"],
)
def test_the_only_coordinator_is_replaced_where_a_new_pod_would_not_be_found(
    before: Json, change: Json
) -> None:
    """A pod that is made anew has another address, and nobody would know who coordinates."""

    async def story(it: Story) -> None:
        body = single(**before, automationOptions={"podUpdateStrategy": "Delete"})
        await it.create(body)
        (storage,) = it.groups("storage")
        it.change(**change)
        await it.reconciled()
        await it.until("who goes is gone", it.none_leaves)
        assert storage not in it.groups("storage"), "others coordinate before it goes"
        await it.until("who went is forgotten", lambda: not it.database.barred)
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("strategy", ["Delete", "ReplaceTransactionSystem"])
def test_others_do_not_have_to_go_for_the_only_coordinator(strategy: str) -> None:
    """They wait for other pods themselves: whoever of them coordinated would have to go next."""

    async def story(it: Story) -> None:
        some = {"processCounts": {"storage": 3, "log": 1, "stateless": 1}}
        body = single(**BY_ADDRESS, **some, automationOptions={"podUpdateStrategy": strategy})
        await it.create(body)
        before = {*it.groups("storage")}
        await it.rest(600)  # coordinators may change at once
        it.change(version="7.3.69")
        await it.reconciled()
        await it.until("who goes is gone", it.none_leaves)
        assert len(before - {*it.groups("storage")}) == 1

    played(story)
