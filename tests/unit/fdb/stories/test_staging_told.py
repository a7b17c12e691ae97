"""That pods are given the programs of another version is told of each of them."""

from __future__ import annotations

import pytest

from fakes.fdb_stories import Story, played, spec
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
