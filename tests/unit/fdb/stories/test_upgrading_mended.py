"""An upgrade gets stuck: its images change in the middle, or its restart is cut short."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, NAMESPACE, Story, played, single
from stateward.fdb.model.names import STAGED_VERSION_KEY, config_map_name
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS
from unit.fdb.stories.test_upgrading import NEW, NOWHERE, OLD, blockers, kills, running

CONFIG = ObjectKey(NAMESPACE, config_map_name(KEY.name))
MIRROR = {"baseImage": "mirror.example/foundationdb"}


def imaged(config: Any) -> dict[str, Any]:
    return {it: {"imageConfigs": [config]} for it in ("mainContainer", "sidecarContainer")}


def is_staging(it: Story) -> bool:
    return STAGED_VERSION_KEY in it.it.world.api.get(CONFIG_MAPS, CONFIG).document()["data"]


async def upgraded(it: Story) -> None:
    await it.reconciled()
    assert running(it) == {NEW}
    assert len(kills(it)) == 1
    await it.until("gone", it.none_leaves)


@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_who_takes_all_images_from_elsewhere_has_mended_an_upgrade_that_is_stuck(
    image_type: str,
) -> None:
    """Those that run are of another place then as well, and have their turn first."""

    async def story(it: Story) -> None:
        await it.create(single(version=OLD, imageType=image_type))
        it.change(version=NEW, **imaged(NOWHERE))
        await it.until("told", lambda: "StagingFails" in blockers(it))
        it.change(**imaged(MIRROR))
        await upgraded(it)

    played(story)


def test_the_other_image_type_right_after_an_upgrade_began_comes_first() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, imageType="split"))
        it.change(version=NEW)
        await it.until("staging", lambda: is_staging(it))
        it.change(imageType="unified")
        await upgraded(it)
        assert {one["spec"]["imageType"] for one in it.groups().values()} == {"unified"}

    played(story)


def test_a_restart_that_was_cut_short_is_finished_by_an_operator_that_comes_late() -> None:
    """The one log is of the new line, and nobody understands it: no guard would ever say yes."""

    async def story(it: Story) -> None:
        await it.create(single(version=OLD, minimumUptimeSecondsForBounce=3600))
        it.change(version=NEW)
        await it.until("told", lambda: "may_bounce" in blockers(it))
        it.stop()
        await it.rest(10)
        (log,) = it.pods("log").values()
        it.it.realm.kill(f"{log['status']['podIP']}:4501", (7, 1))
        await it.rest(120)
        it.start()
        await it.until("all changed", lambda: running(it) == {NEW}, 300)
        await upgraded(it)

    played(story)
