"""Volumes that outlive their cluster: they are asked about, come back, stay, or go."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, KEYS, NAME, NAMESPACE, USER, Story, played, single, spec
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model import names
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, VOLUME_CLAIMS
from stateward.local.rules.deletion import DeleteOptions
from stateward.sim.faults import Fault

CONFIG = ObjectKey(NAMESPACE, "shop-config")


def claims(it: Story) -> dict[str, Json]:
    """Return the claims by their names."""
    every = it.it.world.api.list(VOLUME_CLAIMS).items
    return {one.key.name: one.document() for one in every}


def config(it: Story) -> Json | None:
    stored = it.it.world.api.store.get(CONFIG_MAPS.name, CONFIG)
    return None if stored is None else stored.document()


def annotate(it: Story, value: str | None) -> None:
    body = {"metadata": {"annotations": {names.LEFT_VOLUMES: value}}}
    it.it.world.api.patch(CLUSTERS, KEY, MergePatch(body), USER)


def reason(it: Story) -> str:
    return next((one["guard"] for one in it.status.get("blockers", ())), "")


async def left(it: Story, body: Json) -> tuple[dict[str, Json], Database]:
    """Make a cluster with data and delete it; return its claims and its database."""
    await it.create(body)
    before, database = claims(it), it.database
    it.delete(CLUSTERS, NAME)
    kinds = (CLUSTERS, PROCESS_GROUPS, PODS)
    await it.until(
        "all is gone", lambda: not any(it.it.world.api.list(kind).items for kind in kinds)
    )
    await it.rest(60)
    return before, database


async def asked(it: Story, body: Json, **metadata: Any) -> None:
    """Make the cluster again, and see that it asks."""
    it.apply(body, **metadata)
    await it.until("it asks", lambda: reason(it) == "VolumesLeft", within=120)


def there(it: Story, database: Database) -> dict[bytes, bytes]:
    it.it.realm.advance()
    version = database.store.at(it.it.world.clock.now())
    return dict(database.store.span(b"order/", b"order0", version))


def ids(before: dict[str, Json]) -> set[str]:
    return {one["metadata"]["labels"][names.GROUP_ID_LABEL] for one in before.values()}


# ------------------------------------------------------------------ what is left
def test_what_is_left_is_the_claims_and_how_their_database_is_found() -> None:
    async def story(it: Story) -> None:
        before, database = await left(it, single())
        assert set(claims(it)) == set(before)
        kept = config(it)
        assert kept is not None
        assert kept["data"]["cluster-file"] == str(database.string)
        assert kept["data"]["running-version"] == "7.3.63"
        assert "ownerReferences" not in kept["metadata"]

    played(story, whole=False)


def test_with_delete_nothing_is_left() -> None:
    async def story(it: Story) -> None:
        await left(it, single(deletionPolicy="Delete"))
        assert claims(it) == {}
        assert config(it) is None

    played(story, whole=False)


@pytest.mark.parametrize(("first", "then"), [("Delete", "Retain"), ("Retain", "Delete")])
def test_the_config_map_is_tied_and_untied_as_the_policy_says(first: str, then: str) -> None:
    async def story(it: Story) -> None:
        await it.create(single(deletionPolicy=first))
        it.change(deletionPolicy=then)
        await it.reconciled()
        found = config(it)
        assert found is not None
        assert bool(found["metadata"].get("ownerReferences")) is (then == "Delete")
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ asked
def test_a_cluster_of_the_same_name_asks_and_makes_nothing() -> None:
    async def story(it: Story) -> None:
        before, _ = await left(it, spec())
        kept = config(it)
        await asked(it, spec())
        await it.rest(600)
        assert it.groups() == {}
        assert claims(it) == before
        assert config(it) == kept
        (blocker,) = it.status["blockers"]
        assert blocker["message"].startswith(f"{len(before)} volumes of an earlier cluster")
        uid = it.cluster["metadata"]["uid"]
        for words in (
            "kubectl -n default annotate --overwrite fdb shop foundationdb.org/left-volumes=adopt",
            "kubectl -n default annotate --overwrite fdb shop foundationdb.org/left-volumes=ignore",
            "kubectl -n default delete pvc,configmap -l 'app.kubernetes.io/managed-by="
            "stateward-fdb,app.kubernetes.io/instance=shop,stateward.dev/cluster-uid!=" + uid,
        ):
            assert words in blocker["hint"]
        assert it.condition("Ready")["reason"] == "VolumesLeft"
        assert it.condition("Progressing")["status"] == "False"
        assert it.status["doing"].startswith(f"{len(before)} volumes")
        await it.at_rest()

    played(story, whole=False)


# ------------------------------------------------------------------ adopted
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(single(), id="single"),
        pytest.param(spec(), id="double"),
        pytest.param(spec(imageType="split"), id="split"),
        pytest.param(spec(processGroupIDPrefix="dc1"), id="prefix"),
        pytest.param(spec(storageServersPerPod=2), id="several servers in a pod"),
    ],
)
def test_adopted_volumes_bring_the_same_database_back(body: Json) -> None:
    async def story(it: Story) -> None:
        before, database = await left(it, body)
        await asked(it, body)
        annotate(it, "adopt")
        await it.reconciled()
        assert it.database is database
        assert there(it, database) == KEYS
        holding = {one for one in it.groups() if "stateless" not in one}
        assert holding == ids(before)
        uid = it.cluster["metadata"]["uid"]
        for name, one in claims(it).items():
            assert one["metadata"]["uid"] == before[name]["metadata"]["uid"]
            assert one["metadata"]["labels"][names.CLUSTER_UID_LABEL] == uid
        assert sum(line.startswith("configure new") for line in it.watcher.commands) == 1
        assert reason(it) == ""
        await it.at_rest()

    played(story)


def test_a_cluster_that_says_adopt_from_the_beginning_is_not_asked() -> None:
    async def story(it: Story) -> None:
        _, database = await left(it, single())
        it.apply(single(), annotations={names.LEFT_VOLUMES: "adopt"})
        await it.reconciled()
        assert it.database is database

    played(story)


def test_what_was_adopted_once_is_left_and_adopted_again() -> None:
    async def story(it: Story) -> None:
        before, database = await left(it, single())
        for _ in range(2):
            it.apply(single(), annotations={names.LEFT_VOLUMES: "adopt"})
            await it.reconciled()
            assert it.database is database
            assert set(claims(it)) == set(before)
            it.delete(CLUSTERS, NAME)
            await it.until("gone", lambda: not it.it.world.api.list(PROCESS_GROUPS).items)
        it.apply(single(), annotations={names.LEFT_VOLUMES: "adopt"})
        await it.reconciled()

    played(story)


#: As many calls as it takes to have the smallest cluster back; more hit a cluster at rest.
CALLS = 45
ENDS = ("crash-before", "crash-after", "crash-answered")


@pytest.mark.parametrize(
    "number",
    [pytest.param(it, marks=[pytest.mark.long] if it % 3 else []) for it in range(1, CALLS + 1)],
)
def test_whenever_the_operator_dies_meanwhile_the_database_comes_back(number: int) -> None:
    async def story(it: Story) -> None:
        before, database = await left(it, single())
        await asked(it, single())
        weather = it.it.world.weather
        weather.planned[weather.calls + number] = [Fault.parse(f"{ENDS[number % 3]}:3")]
        annotate(it, "adopt")
        await it.reconciled()
        assert it.database is database
        assert ids(before) <= set(it.groups())
        assert set(claims(it)) == set(before)
        assert sum(line.startswith("configure new") for line in it.watcher.commands) == 1

    played(story)


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_a_cluster_that_is_made_again_at_once_waits_for_the_one_before(policy: str) -> None:
    async def story(it: Story) -> None:
        await it.create(single(deletionPolicy=policy))
        before, database = claims(it), it.database
        it.it.stick(it.pod(next(iter(it.groups("storage")))), seconds=300)
        it.delete(CLUSTERS, NAME)
        it.apply(single(), annotations={names.LEFT_VOLUMES: "adopt"})
        await it.rest(200)
        assert it.condition("Ready")["reason"] == "LeftoverLeaving"
        await it.reconciled()
        running = [one for one in it.it.realm.databases if one.settings and one.recovery.serves]
        assert (running == [database]) is (policy == "Retain")
        assert (set(claims(it)) == set(before)) is (policy == "Retain")
        await it.at_rest()

    played(story, whole=False)


@pytest.mark.parametrize("is_named", [True, False])
def test_whoever_was_about_to_go_goes_then(*, is_named: bool) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts={"storage": 4}))
        name = next(iter(it.groups("storage")))
        it.change(processGroupsToRemove=[name])
        await it.until("data leaves it", lambda: bool(it.database.barred))
        database = it.database
        it.delete(CLUSTERS, NAME)
        await it.until("gone", lambda: not it.it.world.api.list(PROCESS_GROUPS).items)
        named = {"processGroupsToRemove": [name]} if is_named else {}
        body = spec(processCounts={"storage": 4}, **named)
        it.apply(body, annotations={names.LEFT_VOLUMES: "adopt"})
        await it.reconciled()
        await it.until("it goes", lambda: name not in it.groups())
        await it.reconciled()
        assert it.database is database
        assert len(it.groups("storage")) == 4

    played(story)


def test_counts_are_as_the_spec_says_afterwards() -> None:
    async def story(it: Story) -> None:
        _, database = await left(it, spec(processCounts={"storage": 5}))
        body = spec(processCounts={"storage": 3, "log": 5})
        it.apply(body, annotations={names.LEFT_VOLUMES: "adopt"})
        await it.reconciled()
        await it.until("some go", lambda: len(it.groups("storage")) == 3)
        assert len(it.groups("log")) == 5
        assert it.database is database
        await it.reconciled()

    played(story)


def test_a_database_whose_coordinators_had_addresses_is_not_found_and_nothing_is_lost() -> None:
    by_address = spec(routing={"useDNSInClusterFile": False})

    async def story(it: Story) -> None:
        before, database = await left(it, by_address)
        found = config(it)
        assert found is not None
        await asked(it, by_address)
        annotate(it, "adopt")
        await it.until("it tells", lambda: reason(it) == "DatabaseMoved")
        await it.rest(900)
        assert reason(it) == "DatabaseMoved"
        assert it.status["doing"].startswith("the database is looked for at 10.")
        assert not it.is_reconciled
        now = config(it)
        assert now is not None
        assert now["data"]["cluster-file"] == found["data"]["cluster-file"]
        assert set(claims(it)) == set(before)
        assert there(it, database) == KEYS
        assert sum(line.startswith("configure new") for line in it.watcher.commands) == 1

    played(story, whole=False)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (single(version="7.1.61"), "same minor release"),
        (
            single(
                processes={
                    "log": {
                        "volumeClaimTemplate": {
                            "spec": {"resources": {"requests": {"storage": "0"}}}
                        }
                    }
                }
            ),
            "class log no volumes",
        ),
    ],
)
def test_what_does_not_fit_the_spec_is_not_adopted_until_it_does(body: Json, why: str) -> None:
    async def story(it: Story) -> None:
        _, database = await left(it, single())
        await asked(it, body, annotations={names.LEFT_VOLUMES: "adopt"})
        await it.rest(300)
        (blocker,) = it.status["blockers"]
        assert why in blocker["message"]
        assert it.groups() == {}
        it.change(version="7.3.63", processes={"log": None})
        await it.reconciled()
        assert it.database is database

    played(story)


# ------------------------------------------------------------------ several clusters
def test_what_clusters_of_other_names_left_is_none_of_ours() -> None:
    async def story(it: Story) -> None:
        before, _ = await left(it, single())
        kept = config(it)
        other = ObjectKey(NAMESPACE, "shop-log")
        document = {
            "apiVersion": CLUSTERS.api_version,
            "kind": CLUSTERS.kind,
            "metadata": {
                "name": other.name,
                "namespace": NAMESPACE,
                "annotations": {names.LEFT_VOLUMES: "adopt"},
            },
            "spec": single(),
        }
        it.it.world.api.create(CLUSTERS, NAMESPACE, document, USER)

        def is_made() -> bool:
            status = it.it.world.api.get(CLUSTERS, other).document().get("status", {})
            return bool(status.get("generations", {}).get("reconciled"))

        await it.until("it is made", is_made)
        await it.rest(120)
        assert {name: claims(it)[name] for name in before} == before
        assert config(it) == kept
        assert len([one for one in it.it.realm.databases if one.settings]) == 2

    played(story, whole=False)


def test_volumes_of_a_still_earlier_cluster_stay_where_they_are() -> None:
    async def story(it: Story) -> None:
        first, _ = await left(it, single())
        it.apply(single(), annotations={names.LEFT_VOLUMES: "ignore"})
        await it.reconciled()
        second = set(claims(it)) - set(first)
        it.delete(CLUSTERS, NAME)
        await it.until("gone", lambda: not it.it.world.api.list(PROCESS_GROUPS).items)
        it.apply(single(), annotations={names.LEFT_VOLUMES: "adopt"})
        await it.reconciled()
        assert set(claims(it)) == set(first) | second
        assert {name: claims(it)[name] for name in first} == first
        holding = {f"shop-{one}-data" for one in it.groups() if "stateless" not in one}
        assert holding == second
        await it.at_rest()

    played(story, whole=False)


# ------------------------------------------------------------------ ignored
def test_ignored_volumes_stay_beside_a_new_database() -> None:
    async def story(it: Story) -> None:
        before, database = await left(it, spec())
        await asked(it, spec())
        annotate(it, "ignore")
        await it.reconciled()
        now = claims(it)
        assert {name: now[name] for name in before} == before
        assert not ids(before) & set(it.groups())
        (new,) = [one for one in it.it.realm.databases if one.settings and one is not database]
        assert there(it, new) == {}
        assert there(it, database) == KEYS
        assert reason(it) == ""
        await it.at_rest()

    played(story, whole=False)


# ------------------------------------------------------------------ purged
def test_purged_volumes_make_room_for_a_new_database() -> None:
    async def story(it: Story) -> None:
        before, database = await left(it, single())
        await asked(it, single())
        for name in before:
            it.delete(VOLUME_CLAIMS, name)
        it.delete(CONFIG_MAPS, CONFIG.name)
        await it.reconciled()
        (new,) = [one for one in it.it.realm.databases if one.settings and one is not database]
        assert there(it, new) == {}
        assert not set(before) & set(claims(it))
        await it.at_rest()

    played(story, whole=False)


def test_a_volume_that_goes_is_waited_for() -> None:
    async def story(it: Story) -> None:
        before, _ = await left(it, spec())
        name = next(one for one in before if "storage" in one)
        key = ObjectKey(NAMESPACE, name)
        body = {"metadata": {"finalizers": ["example.com/kept"]}}
        it.it.world.api.patch(VOLUME_CLAIMS, key, MergePatch(body), USER)
        it.it.world.api.delete(VOLUME_CLAIMS, key, DeleteOptions())
        it.apply(spec(), annotations={names.LEFT_VOLUMES: "adopt"})
        await it.rest(300)
        assert it.groups() == {}
        assert it.condition("Ready")["reason"] == "LeftoverLeaving"
        free: Json = {"metadata": {"finalizers": None}}
        it.it.world.api.patch(VOLUME_CLAIMS, key, MergePatch(free), USER)
        await it.reconciled()
        assert before[name]["metadata"]["labels"][names.GROUP_ID_LABEL] not in it.groups()

    played(story, whole=False)
