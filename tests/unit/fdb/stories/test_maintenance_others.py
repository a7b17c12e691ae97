"""Others work in a zone: what we start anew there ourselves is not taken for theirs."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, spec
from stateward.kube.codec import Json

IMAGE = "7.3.69"
KNOB = {"general": {"customParameters": ["knob_max_trace_lines=1000"]}}
RESET = {"maintenanceModeOptions": {"resetMaintenanceMode": True}}
LONG = 5000.0


def body(**options: Any) -> Json:
    return spec(automationOptions={**options})


def told(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("maintenance ")]


def kills(it: Story) -> int:
    return sum(line.startswith("kill") for line in it.watcher.commands)


def zone_of(it: Story, name: str) -> str:
    return str(it.groups()[name]["status"]["faultDomain"])


def foreign(it: Story) -> str:
    """Have somebody be at work in the zone of a storage server; return who is there."""
    name = min(it.groups("storage"))
    it.database.begin_maintenance(zone_of(it, name), LONG)
    return name


def end(it: Story, name: str) -> None:
    """Have the containers of a pod end, as a reboot does."""
    lodger = it.it.nodes.lodger(it.pod(name))
    assert lodger is not None
    it.it.nodes.kill(lodger)


def is_on(it: Story) -> bool:
    return it.database.maintained() is not None


async def ends_when_they_are_through(it: Story, name: str) -> None:
    """See that what others told is not ended for what we did, and is for what they do."""
    await it.rest(600)
    assert is_on(it), "nobody there was started anew but by us"
    end(it, name)
    await it.until("it is ended", lambda: not is_on(it), within=600)
    assert told(it) == ["maintenance off"]
    await it.reconciled()
    await it.until("gone", it.none_leaves)


def test_a_pod_that_we_make_anew_there_is_not_their_work() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**RESET, podUpdateStrategy="Delete"))
        name = foreign(it)
        await it.until("noted", lambda: bool(it.status.get("maintenanceModeInfo")))
        before = it.uids()[name]
        it.change(version=IMAGE)
        await it.until("made anew", lambda: it.uids().get(name, before) != before)
        await ends_when_they_are_through(it, name)

    played(story, nodes=9)


def test_a_restart_of_all_is_not_their_work_and_is_one() -> None:
    async def story(it: Story) -> None:
        await it.create(body(**RESET))
        name = foreign(it)
        await it.until("noted", lambda: bool(it.status.get("maintenanceModeInfo")))
        it.change(processes=KNOB)
        await it.until("restarted", lambda: kills(it) == 1)
        await ends_when_they_are_through(it, name)
        assert kills(it) == 1, "who is there and reports is started anew with all"

    played(story)


def test_who_is_away_while_others_work_is_not_waited_for_by_a_restart() -> None:
    async def story(it: Story) -> None:
        await it.create(body())
        name = foreign(it)
        node = it.it.node_of(it.pod(name))
        it.it.lose_node(node, dark=True)
        await it.rest(60)
        it.change(processes=KNOB)
        await it.until("restarted", lambda: kills(it) == 1, within=600)
        it.it.find_node(node)
        await it.until("over", lambda: not is_on(it))
        await it.reconciled()

    played(story)


@pytest.mark.parametrize("options", [{}, RESET], ids=["respected", "ended"])
def test_a_pod_that_was_made_anew_meanwhile_is_said_to_be_ready(options: Json) -> None:
    async def story(it: Story) -> None:
        await it.create(body(**options, podUpdateStrategy="Delete"))
        name = foreign(it)
        before = it.uids()[name]
        it.change(version=IMAGE)
        await it.until("made anew", lambda: it.uids().get(name, before) != before)
        await it.rest(300)
        assert is_on(it)
        group = it.groups()[name]["status"]
        (ready,) = [one for one in group["conditions"] if one["type"] == "Ready"]
        assert (ready["status"], ready["reason"]) == ("True", "AllReport")
        assert not group.get("doing")
        await it.until("over", lambda: not is_on(it))
        await it.reconciled()

    played(story, nodes=9)
