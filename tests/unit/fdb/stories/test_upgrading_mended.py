"""An upgrade gets stuck: its images change in the middle."""

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
