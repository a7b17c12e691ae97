"""The operator dies at a call while a cluster becomes another line of releases, or is taken back."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_crashes import PLAIN, Crashes, crashed, ended, made
from fakes.fdb_stories import Story

OLD, NEW = "7.1.61", "7.3.63"


def kills(it: Story) -> int:
    return len([line for line in it.watcher.commands if line.startswith("kill")])


@pytest.mark.parametrize(
    ("image_type", "strides"),
    [
        pytest.param("unified", {"reads": 200, "writes_too": 12}, id="unified"),
        pytest.param("split", {"reads": 300, "writes_too": 30}, id="split"),
    ],
)
def test_while_all_change_at_once(image_type: str, strides: dict[str, int]) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        strategy: Any = {"podUpdateStrategy": "Delete", "waitBetweenRemovalsSeconds": 0}
        body = {**PLAIN, "version": OLD, "imageType": image_type, "automationOptions": strategy}
        await made(it, body)
        await it.rest(90)
        crashes.begin(it)
        it.change(version=NEW)
        await ended(it)
        assert {str(one.version) for one in it.database.servers.values()} == {NEW}
        assert 1 <= kills(it) <= 2, "who died before it was sent is counted, too"
        assert it.status["runningVersion"] == NEW

    assert crashed(story, Crashes(**strides)) > 3


def test_while_an_upgrade_is_taken_back() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, {**PLAIN, "version": OLD, "minimumUptimeSecondsForBounce": 3600})
        before = it.uids()
        it.change(version=NEW)
        await it.rest(60)
        crashes.begin(it)
        it.change(version=OLD)
        await ended(it)
        assert it.uids() == before
        assert kills(it) == 0

    assert crashed(story, Crashes(reads=60, writes_too=2)) > 3
