"""An upgrade is held for long, its spec is set back in the last second, or its record is old."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, NAMESPACE, USER, Story, played, spec
from stateward.core.version import Version
from stateward.emulate.fdb.asking.clients import Client
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.names import STAGED_VERSION_KEY, config_map_name
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS

OLD, NEW = "7.1.61", "7.3.63"
CLIENT = "10.9.9.9:500"
CONFIG = ObjectKey(NAMESPACE, config_map_name(KEY.name))
SMALL: Any = {
    "processCounts": {"storage": 3, "log": 3, "stateless": 1},
    "automationOptions": {"podUpdateStrategy": "Delete"},
}


def kills(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("kill")]


def running(it: Story) -> list[str]:
    return [str(one.version) for one in it.database.servers.values()]


def data(it: Story) -> dict[str, str]:
    found: dict[str, str] = it.it.world.api.get(CONFIG_MAPS, CONFIG).document()["data"]
    return found


async def upgraded(it: Story) -> None:
    await it.reconciled()
    assert running(it) == [NEW] * 7
    assert len(kills(it)) == 1


@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_who_is_evicted_while_an_upgrade_is_held_comes_back(image_type: str) -> None:
    """Whoever starts then starts as the new version, and nobody knows when all others follow."""

    async def story(it: Story) -> None:
        slow = {"minimumUptimeSecondsForBounce": 300, "imageType": image_type}
        await it.create(spec(version=OLD, **slow, **SMALL))
        it.change(version=NEW)
        await it.until("staged", lambda: data(it).get(STAGED_VERSION_KEY) == NEW)
        await it.rest(60)
        it.database.client_comes(Client(CLIENT, (Version.parse(OLD),), "web"))
        it.it.delete_pod(it.pod(next(iter(it.groups("storage")))))
        await it.rest(300)
        assert running(it) == [OLD] * 6, "it is outside"
        await it.until("taken back", lambda: STAGED_VERSION_KEY not in data(it), 1200)
        await it.until("all belong", lambda: running(it) == [OLD] * 7, 300)
        await it.rest(600)
        assert kills(it) == []
        assert it.condition("Ready")["reason"] == "ClientsIncompatible"
        it.database.client_goes(CLIENT)
        await upgraded(it)

    played(story)


def test_a_spec_that_is_set_back_while_processes_end_finds_no_way_back() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, **SMALL))

        def set_back(line: str, _: object) -> None:
            if line.startswith("kill") and it.cluster["spec"]["version"] == NEW:
                it.change(version=OLD)

        it.it.realm.typed.append(set_back)
        it.change(version=NEW)
        await it.until("restarted", lambda: bool(kills(it)))
        assert it.cluster["spec"]["version"] == OLD
        await it.until("seen", lambda: it.status["runningVersion"] == NEW)
        await it.rest(600)
        assert running(it) == [NEW] * 7
        assert it.condition("Ready")["reason"] == "DowngradeRefused"
        it.it.realm.typed.remove(set_back)
        it.change(version=NEW)
        await upgraded(it)

    played(story)


@pytest.mark.parametrize("told", [OLD, "6.3.24", "7.4.5", "garbage"])
def test_a_version_that_an_old_status_tells_restarts_nobody(told: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=NEW, **SMALL))
        uids = it.uids()
        it.stop()
        await it.rest(30)
        patch = MergePatch({"status": {"runningVersion": told}})
        it.it.world.api.patch(CLUSTERS, KEY, patch, USER, subresource="status")
        it.start()
        await it.until("seen", lambda: it.status["runningVersion"] == NEW)
        await it.reconciled()
        assert it.uids() == uids
        assert kills(it) == []

    played(story)


def test_a_status_and_a_config_map_of_before_an_upgrade_restart_nobody() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, **SMALL))
        before = data(it)
        it.change(version=NEW)
        await upgraded(it)
        uids = it.uids()
        it.stop()
        await it.rest(30)
        patch = MergePatch({"status": {"runningVersion": OLD}})
        it.it.world.api.patch(CLUSTERS, KEY, patch, USER, subresource="status")
        it.it.world.api.patch(CONFIG_MAPS, CONFIG, MergePatch({"data": before}), USER)
        it.start()
        await it.rest(60)
        await upgraded(it)
        assert it.uids() == uids

    played(story)
