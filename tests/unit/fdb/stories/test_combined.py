"""Several changes at once, each of which is told elsewhere alone."""

from __future__ import annotations

from fakes.fdb_places import Places
from fakes.fdb_stories import KEY, USER, Story, played, spec
from fakes.fdb_tls import ON, SECRET
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS, SECRETS
from unit.fdb.stories.test_tls import certified, keep
from unit.fdb.stories.test_upgrading import (
    NEW,
    OLD,
    blockers,
    client,
    images,
    kills,
    running,
    staged,
)


def tagged(*configs: Json) -> Json:
    return {name: {"imageConfigs": [*configs]} for name in ("mainContainer", "sidecarContainer")}


def test_a_tag_that_changes_with_the_version_takes_nobody_out_of_the_database() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, **tagged({"tag": OLD})))
        uids = it.uids()
        it.change(version=NEW, **tagged({"tag": NEW}))
        await it.until("told", lambda: it.condition("Ready")["reason"] == "SpecInvalid")
        assert "spec.mainContainer.imageConfigs" in it.condition("Ready")["message"]
        await it.rest(600)
        assert it.uids() == uids
        assert running(it) == {OLD}
        both = [{"version": OLD, "tag": OLD}, {"version": NEW, "tag": NEW}]
        it.change(**tagged(*both))
        await it.reconciled()
        assert running(it) == images(it) == {NEW}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)

    played(story)


def test_who_loses_status_and_config_map_while_pods_are_staged_knows_what_runs() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, minimumUptimeSecondsForBounce=300))
        it.change(version=NEW)
        await it.until("staging", lambda: NEW in staged(it))
        it.delete(CONFIG_MAPS, "shop-config")
        nothing = MergePatch({"status": dict.fromkeys(it.status)})
        it.it.world.api.patch(CLUSTERS, KEY, nothing, USER, subresource="status")
        await it.reconciled()
        assert running(it) == images(it) == {NEW}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)

    played(story)


def test_tls_that_waits_for_certificates_is_not_as_asked_though_the_status_is_wiped() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified())
        it.delete(SECRETS, SECRET)
        it.change(**ON)
        nothing = MergePatch({"status": dict.fromkeys(it.status)})
        it.it.world.api.patch(CLUSTERS, KEY, nothing, USER, subresource="status")
        for _ in range(20):
            await it.rest(1)
            assert it.status.get("generations", {}).get("reconciled") != 2
        assert it.condition("Ready")["reason"] == "CertificateUnusable"

    played(story)


def test_a_client_that_holds_the_restart_back_is_told_of_once() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, minimumUptimeSecondsForBounce=200))
        it.change(version=NEW)
        await it.until("staging", lambda: NEW in staged(it))
        client(it, OLD)
        await it.until("told", lambda: "ClientsIncompatible" in blockers(it))
        await it.at_rest()
        assert kills(it) == []
        it.database.client_goes("10.9.9.9:500")
        await it.reconciled()
        await it.until("gone", it.none_leaves)

    played(story)


def test_pods_of_clusters_of_one_database_go_one_cluster_at_a_time() -> None:
    async def story(told: Story) -> None:
        it, names = Places(told), ("kc0", "kc1", "kc2")
        seed = ""
        for index, name in enumerate(names):
            zone = {"value": name, "zoneCount": 3, "zoneIndex": index}
            domain = {"key": "foundationdb.org/kubernetes-cluster", **zone}
            it.apply(name, seed, faultDomain=domain, processCounts={"stateless": 0})
            seed = seed or await it.found(name)
        await it.reconciled(*names)
        told.write()
        it.change(*names, version="7.3.69", automationOptions={"podUpdateStrategy": "Delete"})
        await it.reconciled(*names)
        zones = told.watcher.zones
        assert sorted(set(zones)) == sorted(names)

    played(story)
