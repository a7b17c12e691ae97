"""That pods are given the programs of another version is told of each of them."""

from __future__ import annotations

from collections import Counter

import pytest

from fakes.fdb_stories import Story, played, single, spec
from stateward.kube.resources import EVENTS

OLD, NEW = "7.1.61", "7.3.63"


@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_an_event_says_that_a_sidecar_got_another_image_in_place(image_type: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, imageType=image_type))
        it.change(version=NEW)
        await it.until("new", lambda: it.status.get("runningVersion") == NEW)
        told = {
            one["involvedObject"]["name"]: one["message"]
            for one in (stored.document() for stored in it.it.world.api.list(EVENTS).items)
            if one["reason"] == "SidecarUpgraded"
        }
        assert {*told} == {one["metadata"]["name"] for one in it.groups().values()}
        assert all(NEW in words and "in place" in words for words in told.values())
        await it.reconciled()
        await it.until("gone", it.none_leaves)

    played(story)


def upgrades(it: Story) -> Counter[str]:
    """Return what events say of upgrades, each with how often."""
    every = (stored.document() for stored in it.it.world.api.list(EVENTS).items)
    return Counter(one["reason"] for one in every if one["reason"].startswith("Upgrade"))


@pytest.mark.parametrize("back", [True, False])
def test_an_event_says_that_the_staging_was_undone_and_none_when_it_was_not(back: bool) -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, minimumUptimeSecondsForBounce=900 if back else 1))
        it.change(version=NEW)
        await it.until("begun", lambda: upgrades(it)["UpgradeBegun"] == 1)
        if back:
            await it.rest(60)
            it.change(version=OLD)
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert upgrades(it)["UpgradeTakenBack"] == (1 if back else 0)
        assert it.status["runningVersion"] == (OLD if back else NEW)

    played(story)
