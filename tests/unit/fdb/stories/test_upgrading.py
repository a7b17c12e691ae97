"""A cluster becomes another line of releases: all of its processes change at once."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, single, spec

OLD, NEW = "7.1.61", "7.3.63"


def images(it: Story, container: str = "foundationdb") -> set[str]:
    """Return the tags of a container in all pods."""
    return {
        one["image"].rpartition(":")[2]
        for pod in it.pods().values()
        for one in pod["spec"]["containers"]
        if one["name"] == container
    }


def kills(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("kill")]


def running(it: Story) -> set[str]:
    return {str(one.version) for one in it.database.servers.values()}


@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_all_change_at_once(image_type: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, imageType=image_type))
        await it.rest(120)
        before = len(it.recoveries)
        pods = it.uids()
        it.change(version=NEW)
        await it.until("restarted", lambda: bool(kills(it)))
        assert images(it) == {OLD}, "no pod changes before all processes have"
        assert it.uids() == pods
        await it.until("seen", lambda: it.status.get("runningVersion") == NEW)
        assert len(it.recoveries) - before == 1
        assert not it.is_reconciled
        await it.reconciled()
        assert running(it) == {NEW}
        assert images(it) == {NEW}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)
        await it.at_rest()

    played(story)
