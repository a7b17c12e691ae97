"""Stories of restores over what is there: no key is cleared that would not come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.fdb_backups import BackupStory, played
from fakes.fdb_stories import KEYS, NAMESPACE, USER
from stateward.fdb.api.backups.kinds import RESTORES
from stateward.kube.client import MergePatch
from stateward.kube.conditions import LONGEST
from stateward.kube.meta import ObjectKey


async def saved(it: BackupStory) -> dict[str, Any]:
    """Have a backup of all keys; return what restores it as it is now, whatever comes later."""
    it.back_up()
    await it.backed_up()
    await it.rest(60)
    details = it.details()
    return {"fileURL": details["url"], "backupVersion": details["latestRestorable"]["version"]}


def edit(it: BackupStory, **over: Any) -> None:
    key = ObjectKey(NAMESPACE, "again")
    it.it.world.api.patch(RESTORES, key, MergePatch({"spec": over}), USER)


def lost(it: BackupStory) -> None:
    it.it.files.delete(it.details()["url"].removeprefix("file://"))


def unreadable(it: BackupStory) -> None:
    it.it.files.is_away = lambda _path: True


@pytest.mark.parametrize(
    ("befalls", "reason"),
    [
        (lost, "VersionNotRestorable"),
        (unreadable, ""),
        (lambda it: edit(it, backupVersion=1), "VersionNotRestorable"),
        (lambda it: edit(it, fileURL="file:///nowhere"), "BackupMissing"),
    ],
)
def test_what_cannot_be_restored_any_more_costs_no_key(
    befalls: Callable[[BackupStory], None], reason: str
) -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.restore(**known, destinationPolicy="clear")
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "ClearingSoon")
        befalls(it)
        await it.rest(200)
        assert it.keys_there() == KEYS
        assert it.restored()["status"]["clearing"]["done"] is False
        if reason:
            assert it.said(it.restored(), "Failed") == ("True", reason)

    played(story)


def test_the_newest_point_is_that_from_before_keys_are_cleared() -> None:
    async def story(it: BackupStory) -> None:
        await saved(it)
        it.restore(backupName="nightly", destinationPolicy="clear")
        await it.until("done", lambda: it.said(it.restored(), "Completed")[0] == "True")
        assert it.keys_there() == KEYS

    played(story)


def test_ranges_that_are_much_too_long_are_told_and_hold_nobody_up() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.empty()
        it.restore("long", **known, keyRanges=[{"start": "b" * 9999, "end": "a" * 9999}] * 60)
        it.restore(**known)
        await it.until("restored", lambda: it.said(it.restored(), "Completed")[0] == "True")
        long = it.restored("long")
        assert it.said(long, "Ready") == ("False", "SpecInvalid")
        assert all(len(one["message"]) <= LONGEST for one in long["status"]["conditions"])

    played(story)


@pytest.mark.parametrize("seconds", [1.2, 60.7])
def test_whoever_dies_while_keys_are_cleared_they_come_back(seconds: float) -> None:
    async def story(it: BackupStory) -> None:
        await saved(it)
        it.restore(backupName="nightly", destinationPolicy="clear")
        await it.rest(seconds)
        it.it.crash(it.slots[0], rest=5)
        await it.until("done", lambda: it.said(it.restored(), "Completed")[0] == "True")
        assert it.keys_there() == KEYS

    played(story)


def test_what_keys_were_cleared_for_is_restored_wherever_the_backup_goes_on_meanwhile() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.restore(backupName="nightly", destinationPolicy="clear")
        await it.until("cleared", lambda: it.keys_there() == {})
        it.it.crash(it.slots[0], rest=5)
        it.edit(fileURL="file:///elsewhere", agentCount=0)  # nobody restores for now
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "NoAgents")
        await it.until("moved", lambda: "elsewhere" in it.details()["url"])
        it.it.idle = False
        it.edit(agentCount=2)
        await it.until("done", lambda: it.said(it.restored(), "Completed")[0] == "True")
        assert it.keys_there() == KEYS
        assert it.restored()["status"]["url"] == known["fileURL"]

    played(story)
