"""Nodes are tainted: who is there leaves, one after the other, and nobody in a storm."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, spec
from stateward.kube.codec import Json

WORK = "work"


def leaving(**more: Any) -> Json:
    """Return what has groups leave tainted nodes, soon."""
    said = {
        "enabled": True,
        "taintReplacementTimeSeconds": 60,
        "taintReplacementOptions": [{"key": "work", "durationInSeconds": 120}],
        **more,
    }
    return spec(automationOptions={"replacements": said})


def on_node(it: Story, name: str) -> set[str]:
    return {group for group in it.groups() if it.it.node_of(it.pod(group)) == name}


def conditions(it: Story, group: str) -> dict[str, str]:
    """Return what is true of a group, since when."""
    every = it.groups()[group]["status"]["conditions"]
    return {one["type"]: one["lastTransitionTime"] for one in every if one["status"] == "True"}


def marked(it: Story) -> set[str]:
    return {name for name, group in it.groups().items() if group["spec"].get("remove")}


def test_who_is_on_a_tainted_node_leaves_it() -> None:
    async def story(it: Story) -> None:
        await it.create(leaving())
        lost, many = on_node(it, "node-1"), len(it.groups())
        assert len(lost) > 1
        it.it.machines.taint("node-1", WORK)
        await it.rest(90)
        for name in lost:
            assert {"NodeTaintDetected", "Ready"} == {*conditions(it, name)}
        assert it.is_reconciled, "a taint that is only seen is nothing to do"
        await it.until("due", lambda: all("NodeTaintReplacing" in conditions(it, n) for n in lost))
        assert marked(it) == set()
        most = 0
        while not lost.isdisjoint(it.groups()):
            await it.rest(20)
            most = max(most, sum(not it.groups()[n]["spec"].get("excluded") for n in marked(it)))
        assert most == 1, "one at a time"
        await it.reconciled()
        assert len(it.groups()) == many
        assert on_node(it, "node-1") == set()
        await it.at_rest()

    played(story)


def test_a_taint_that_goes_in_time_replaces_nobody() -> None:
    async def story(it: Story) -> None:
        await it.create(leaving())
        before = {*it.groups()}
        it.it.machines.taint("node-1", WORK)
        await it.rest(150)
        assert "NodeTaintReplacing" in conditions(it, min(on_node(it, "node-1")))
        it.it.machines.taint("node-1")
        await it.rest(60)
        assert {*conditions(it, min(on_node(it, "node-1")))} == {"Ready"}
        await it.rest(600)
        assert {*it.groups()} == before
        await it.at_rest()

    played(story)


def test_since_when_a_node_is_tainted_survives_the_operator() -> None:
    async def story(it: Story) -> None:
        await it.create(leaving(taintReplacementTimeSeconds=600))
        name = min(on_node(it, "node-1"))
        it.it.machines.taint("node-1", WORK)
        await it.until("due", lambda: "NodeTaintReplacing" in conditions(it, name))
        before = conditions(it, name)
        it.stop()
        await it.rest(300)
        it.start()
        await it.rest(60)
        assert conditions(it, name) == before
        await it.until("replaced", lambda: bool(marked(it)), within=400)
        it.it.machines.taint("node-1")
        await it.until("gone", it.none_leaves)
        await it.reconciled()

    played(story)


@pytest.mark.parametrize("key", ["work", "*"])
def test_in_a_storm_nobody_is_replaced_and_it_is_told(key: str) -> None:
    async def story(it: Story) -> None:
        options = [{"key": key, "durationInSeconds": 0}]
        await it.create(leaving(taintReplacementOptions=options))
        before = {*it.groups()}
        for number in range(1, 4):
            it.it.machines.taint(f"node-{number}", WORK)
        await it.rest(1800)
        assert {*it.groups()} == before
        assert marked(it) == set()
        told = it.condition("Progressing")
        assert told["reason"] == "ReplacementStorm"
        assert "fault domains are tainted" in told["message"]
        # All else goes on.
        it.change(processCounts={"stateless": 4})
        await it.until("grown", lambda: len(it.groups("stateless")) == 4)
        assert marked(it) == set()
        for number in range(1, 4):
            it.it.machines.taint(f"node-{number}")
        await it.reconciled()
        assert it.condition("Progressing")["reason"] == "Reconciled"
        await it.at_rest()

    played(story)


def test_where_nodes_cannot_be_listed_that_is_told_and_nobody_is_replaced() -> None:
    async def story(it: Story) -> None:
        weather = it.it.world.weather
        weather.forbidden["list", "nodes", ""] += 1
        await it.create(leaving())
        it.it.machines.taint("node-1", WORK)
        await it.rest(900)
        assert marked(it) == set()
        told = it.condition("Progressing")
        assert (told["reason"], "nodes" in told["message"]) == ("NodesUnreadable", True)
        weather.forbidden["list", "nodes", ""] -= 1
        it.it.machines.taint("node-1")
        await it.rest(60)
        assert it.condition("Progressing")["reason"] == "Reconciled"
        await it.at_rest()

    played(story)


def test_where_nobody_is_replaced_taints_are_only_told() -> None:
    async def story(it: Story) -> None:
        await it.create(leaving(enabled=False))
        name = min(on_node(it, "node-1"))
        it.it.machines.taint("node-1", WORK)
        await it.rest(1800)
        assert {*conditions(it, name)} == {"NodeTaintDetected", "Ready"}
        assert it.is_reconciled
        assert marked(it) == set()

    played(story)
