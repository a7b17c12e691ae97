"""A replacement that is not wanted after all: who was to go stays, and is never marked again."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, spec
from stateward.kube.codec import Json

_FOUR = {"storage": 4}
_SOON = {"enabled": True, "failureDetectionTimeSeconds": 60}


def marked(it: Story) -> set[str]:
    return {name for name, group in it.groups().items() if group["spec"].get("remove")}


def keep(it: Story, *names: str, **more: Any) -> None:
    it.change(automationOptions={"cancelReplacementsForProcessGroups": list(names)}, **more)


def with_label(it: Story, label: str) -> list[str]:
    return [name for name, pod in it.pods().items() if label in pod["metadata"]["labels"]]


def blockers(it: Story) -> dict[str, Json]:
    return {one["guard"]: one for one in it.status.get("blockers", ())}


@pytest.mark.parametrize("by_locality", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_a_replacement_that_is_cancelled_ends_where_it_began(
    by_locality: bool, named: bool
) -> None:
    async def story(it: Story) -> None:
        options = {"useLocalitiesForExclusion": by_locality}
        await it.create(spec(automationOptions=options, processCounts=_FOUR))
        before = {*it.groups()}
        name = next(one for one in it.groups("storage") if one not in it.coordinators())
        it.it.nodes.closed += 1  # who comes in its place finds no room
        it.change(processGroupsToRemove=[name])
        await it.until("marked", lambda: name in marked(it))
        it.it.nodes.closed -= 1
        await it.until("excluded", lambda: bool(it.database.excluded))
        keep(it, name if named else "*", processGroupsToRemove=[])
        await it.until("stays", lambda: name not in marked(it))
        await it.until("included", lambda: not it.database.excluded)
        keep(it, name)
        await it.until("as before", lambda: {*it.groups()} == before)
        await it.reconciled()
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("kind", ["storage", "stateless"])
def test_who_came_is_emptied_when_who_stays_is_included_and_not_before(kind: str) -> None:
    """Exclusions of stateless processes are recoveries, after which inclusions wait for minutes."""

    async def story(it: Story) -> None:
        counts = {"storage": 5, "stateless": 4}
        await it.create(spec(processCounts=counts, buggify={"blockRemoval": ["*"]}))
        names = [one for one in it.groups(kind) if one not in it.coordinators()][:3]

        def full() -> int:
            """Return how many are not empty, and need not become so."""
            barred = [str(one) for one in it.database.excluded]
            return sum(not any(one.endswith(name) for one in barred) for name in it.groups(kind))

        it.change(processGroupsToRemove=names)
        await it.until("excluded", lambda: len(it.database.excluded) == len(names))
        keep(it, *names, processGroupsToRemove=[], buggify={"blockRemoval": []})
        fewest = full()
        while len(it.groups(kind)) > counts[kind] or marked(it):
            await it.rest(5)
            fewest = min(fewest, full())
        assert fewest == counts[kind]
        await it.reconciled()
        assert {*names} <= it.groups().keys()
        await it.at_rest()

    played(story)


def test_who_stays_is_included_by_an_address_that_it_had_before() -> None:
    async def story(it: Story) -> None:
        options = {"useLocalitiesForExclusion": False}
        more = {"automationOptions": options, "buggify": {"blockRemoval": ["*"]}}
        await it.create(spec(processCounts=_FOUR, **more))
        name = next(one for one in it.groups("storage") if one not in it.coordinators())
        it.change(processGroupsToRemove=[name])
        await it.until("excluded", lambda: len(it.database.excluded) == 1)
        it.it.delete_pod(it.pod(name))
        await it.until("by both", lambda: len(it.database.excluded) == 2)
        keep(it, name, processGroupsToRemove=[], buggify={"blockRemoval": []})
        await it.until("stays", lambda: name not in marked(it))
        await it.reconciled()
        assert not it.database.excluded, "whoever has it next must not inherit that"
        assert len(it.groups()[name]["status"]["addresses"]) == 1
        keep(it)
        await it.reconciled()
        await it.at_rest()

    played(story)


def test_replacements_that_find_no_room_are_broken_off_by_cancelling() -> None:
    """F-L6: the set of before is whole again, and nothing was begun beside what was asked for."""

    async def story(it: Story) -> None:
        await it.create(spec(automationOptions={"replacements": _SOON}))
        before = {*it.groups()}
        names = [*it.groups("storage")][:2]
        it.it.nodes.closed += 1
        it.change(processGroupsToRemove=names)
        await it.until("marked", lambda: marked(it) == {*names})
        await it.rest(3600)
        assert marked(it) == {*names}, "who does not come is not replaced again and again"
        assert len(it.groups()) == len(before) + len(names)
        assert it.database.excluded == set(), "data stays until others are there"
        # Other changes go on meanwhile.
        template = {"metadata": {"labels": {"team": "db"}}}
        it.change(processes={"general": {"podTemplate": template}})
        staying = before - {*names}
        await it.until("labelled", lambda: {*with_label(it, "team")} >= staying)
        keep(it, *names, processGroupsToRemove=[])
        await it.until("as before", lambda: {*it.groups()} == before)
        await it.reconciled()
        it.it.nodes.closed -= 1
        await it.at_rest()

    played(story)


def test_who_is_never_to_be_marked_is_not_by_any_path() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(automationOptions={"replacements": _SOON}, processCounts=_FOUR))
        name = next(one for one in it.groups("storage") if one not in it.coordinators())
        keep(it, name)
        # It fails for long.
        node = it.it.node_of(it.pod(name))
        it.it.lose_node(node, dark=True)
        await it.rest(1200)
        assert name not in marked(it)
        waits = blockers(it)["ReplacementWaits"]
        assert "never to be replaced" in waits["message"]
        assert "cancelReplacementsForProcessGroups" in waits["hint"]
        it.it.find_node(node)
        await it.until("one is gone", it.none_leaves)
        await it.reconciled()
        # Its shape cannot be changed in place.
        volume = {"spec": {"resources": {"requests": {"storage": "32G"}}}}
        it.change(processes={"general": {"volumeClaimTemplate": volume}})
        await it.until("only it is left", lambda: "ListsContradict" in blockers(it))
        assert name not in marked(it)
        assert "never to be replaced" in blockers(it)["ListsContradict"]["message"]
        keep(it)
        await it.until("gone", lambda: name not in it.groups())
        await it.reconciled()
        await it.at_rest()

    played(story)


def test_names_that_contradict_the_rest_of_the_spec_are_told() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        name, many = next(iter(it.groups("stateless"))), len(it.groups())
        # Listed to go as well: nothing is touched.
        keep(it, name, processGroupsToRemove=[name])
        await it.until("told", lambda: it.condition("Progressing")["reason"] == "SpecInvalid")
        assert "never to be removed" in it.condition("Progressing")["message"]
        # Fewer are wanted than are to stay.
        keep(it, *it.groups("stateless"), processGroupsToRemove=[], processCounts={"stateless": 2})
        await it.until("told", lambda: "ListsContradict" in blockers(it))
        assert "2 of class stateless are wanted" in blockers(it)["ListsContradict"]["message"]
        assert not it.is_reconciled
        # Nobody has the name.
        keep(it, "storage-77", processCounts={"stateless": 3})
        await it.until("told", lambda: "GroupUnknown" in blockers(it))
        assert "storage-77" in it.condition("Progressing")["message"]
        await it.until("all is as asked", lambda: it.is_reconciled)
        keep(it)
        await it.reconciled()
        assert "GroupUnknown" not in blockers(it)
        assert len(it.groups()) == many
        await it.at_rest()

    played(story)
