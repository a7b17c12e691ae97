"""The operator dies at a call while zones are under maintenance, or images become the other type.

Whoever takes over ends what was begun, and leaves no zone behind.
"""

from __future__ import annotations

import pytest

from fakes.fdb_crashes import Crashes, crashed, ended, made
from fakes.fdb_stories import Story, single, spec
from stateward.kube.codec import Json

ON: Json = {"UseMaintenanceModeChecker": True, "maintenanceModeTimeSeconds": 3600}
OPTIONS: Json = {"maintenanceModeOptions": ON, "podUpdateStrategy": "Delete"}


async def let_go(it: Story) -> None:
    """Wait until all is as asked, and see that no zone is left."""
    await ended(it)
    await it.until("it is off the record", lambda: "maintenanceModeInfo" not in it.status, 200)
    assert it.database.maintained() is None


def test_while_zones_are_under_maintenance() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        counts = {"storage": 3, "log": 2, "stateless": 1}
        database = {"redundancy_mode": "double", "logs": 2}
        body = spec(processCounts=counts, databaseConfiguration=database, automationOptions=OPTIONS)
        await made(it, body)
        before = {*it.groups()}
        crashes.begin(it)
        it.change(version="7.3.69")
        await let_go(it)
        assert {*it.groups()} == before, "in place"
        told = [line for line in it.watcher.commands if line.startswith("maintenance on")]
        assert {line.split()[2] for line in told} >= {*it.watcher.zones} & storage_zones(it)

    assert crashed(story, Crashes(reads=400, writes_too=27)) >= 3


def storage_zones(it: Story) -> set[str]:
    return {one["status"]["faultDomain"] for one in it.groups("storage").values()}


def test_while_the_option_is_taken_away() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, single(automationOptions=OPTIONS))
        crashes.begin(it)
        it.change(version="7.3.69")
        await it.until("it is on record", lambda: "maintenanceModeInfo" in it.status)
        off = {"UseMaintenanceModeChecker": False}
        it.change(automationOptions={"maintenanceModeOptions": off})
        await let_go(it)

    assert crashed(story, Crashes(reads=180, writes_too=9)) >= 3


@pytest.mark.parametrize(("first", "then"), [("split", "unified"), ("unified", "split")])
def test_while_images_become_the_other_type(first: str, then: str) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, single(imageType=first))
        crashes.begin(it)
        it.change(imageType=then)
        await ended(it)
        staying = [one for one in it.groups().values() if not one["spec"].get("remove")]
        assert {one["spec"].get("imageType", "unified") for one in staying} == {then}
        assert len(staying) == 3, "none too many"

    assert crashed(story, Crashes(reads=240, writes_too=34)) >= 3
