"""What people, tools and bad luck do to a cluster that is well; nothing is lost by any of it."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, single, spec


def guards(it: Story) -> list[str]:
    """Return what holds something back, by its names."""
    return [one["guard"] for one in it.status.get("blockers", ())]


# ------------------------------------------------------------------ wishes that cannot come true
@pytest.mark.parametrize(("few", "nodes"), [({}, 2), ({"storage": 3, "log": 3}, 3)])
def test_more_copies_than_there_are_zones_for_are_told_and_not_asked_for(
    few: dict[str, Any], nodes: int
) -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        more = {"databaseConfiguration": {"redundancy_mode": "triple", "logs": None}}
        it.change(**more, processCounts={"storage": None, "log": None, "stateless": 1, **few})
        await it.rest(900)
        assert guards(it) == ["enough_zones"]
        assert f"{nodes} could have a coordinator" in it.condition("Ready")["message"]
        assert it.database.recovery.serves
        it.change(databaseConfiguration={"redundancy_mode": "single", "logs": 1})
        await it.reconciled()
        await it.until("who is too many is gone", lambda: not it.database.barred)
        commands = [line for line in it.watcher.commands if line.startswith("configure")]
        assert not [line for line in commands if "triple" in line]

    played(story, nodes=nodes)


def test_nobody_to_have_data_is_refused_and_nobody_is_asked_to_go() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processCounts={"storage": -1})
        await it.rest(600)
        assert guards(it) == ["SpecInvalid"]
        assert it.none_leaves()
        it.change(processCounts={"storage": None})
        await it.reconciled()

    played(story)


@pytest.mark.parametrize("which", ["log", "stateless"])
def test_none_of_a_class_that_others_stand_in_for_is_none(which: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processCounts={which: -1})
        await it.reconciled()
        await it.until("they are gone", lambda: not it.groups(which))

    played(story)
