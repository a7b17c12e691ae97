"""Split and unified images of a live cluster: each becomes the other, by replacement."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, spec

KNOB = {"general": {"customParameters": ["knob_max_trace_lines=1000"]}}
OTHER = {"split": "unified", "unified": "split"}


def types(it: Story, process_class: str = "") -> set[str]:
    return {one["spec"].get("imageType", "unified") for one in it.groups(process_class).values()}


def containers(it: Story) -> set[str]:
    return {c["name"] for pod in it.pods().values() for c in pod["spec"]["containers"]}


async def settled(it: Story) -> None:
    await it.reconciled()
    await it.until("gone", it.none_leaves)


@pytest.mark.parametrize("first", ["split", "unified"])
@pytest.mark.parametrize("with_knob", [False, True], ids=["alone", "with a knob"])
def test_a_cluster_becomes_the_other_kind(first: str, with_knob: bool) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType=first))
        before = {*it.groups()}
        more: dict[str, Any] = {"processes": KNOB} if with_knob else {}
        it.change(imageType=OTHER[first], **more)
        await settled(it)
        assert types(it) == {OTHER[first]}
        assert before.isdisjoint(it.groups()), "each by another"
        assert len(it.coordinators()) == 3
        it.is_whole()
        await it.at_rest()
        assert it.status["imageTypes"] == [OTHER[first]]

    played(story)


def test_with_several_servers_in_a_pod_storage_stays_on_its_volumes() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType="split", storageServersPerPod=2))
        before, claims = {*it.groups("storage")}, {f"shop-{n}-data" for n in it.groups("storage")}
        it.change(imageType="unified")
        await settled(it)
        assert types(it) == {"unified"}
        assert before == {*it.groups("storage")}, "in place"
        assert claims <= it.claims()
        it.is_whole()
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("first", ["split", "unified"])
@pytest.mark.parametrize("moment", ["the first shall go", "a new one reports", "one is gone"])
def test_who_takes_it_back_in_the_middle_loses_nothing(first: str, moment: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType=first))
        many = len(it.groups())
        holds = {
            "the first shall go": lambda: not it.none_leaves(),
            "a new one reports": lambda: len(it.database.servers) > many,
            "one is gone": lambda: bool(it.watcher.deleted_claims),
        }
        it.change(imageType=OTHER[first])
        await it.until(moment, holds[moment])
        it.change(imageType=first)
        await settled(it)
        assert types(it) == {first}
        assert len(it.groups()) == many
        it.is_whole()

    played(story)


def test_it_is_told_that_it_is_a_replacement_and_why() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType="split", automationOptions={"maxConcurrentReplacements": 1}))
        words: set[str] = set()

        def is_told() -> bool:
            words.update(one["message"] for one in it.status.get("blockers", ()))
            return any("where data is on its disk" in one for one in words)

        it.change(imageType="unified")
        await it.until("it is told", is_told, within=60)
        (said, *_) = [one for one in words if "where data is on its disk" in one]
        assert "its image type" in said
        assert "changes from split to unified" in said
        assert "others are replaced first" in said
        assert it.status["imageTypes"] == ["split", "unified"]
        await settled(it)
        assert types(it) == {"unified"}

    played(story)


@pytest.mark.parametrize("first", ["split", "unified"])
def test_who_is_never_to_be_replaced_stays_as_it_is_with_its_data(first: str) -> None:
    """Changed in place it would look for its data in another folder, and find none."""

    async def story(it: Story) -> None:
        await it.create(spec(imageType=first))
        kept = next(iter(it.groups("storage")))
        uid = it.uids()[kept]
        options = {"cancelReplacementsForProcessGroups": [kept]}
        it.change(imageType=OTHER[first], automationOptions=options)
        await it.until("others are replaced", lambda: types(it) == {"split", "unified"})
        await it.rest(1500)
        assert it.uids()[kept] == uid
        assert it.groups()[kept]["spec"].get("imageType", "unified") == first
        (said,) = [one for one in it.status["blockers"] if one["guard"] == "ListsContradict"]
        assert "never to be replaced" in said["message"]
        it.change(automationOptions={"cancelReplacementsForProcessGroups": []})
        await settled(it)
        assert types(it) == {OTHER[first]}

    played(story)
