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
        assert it.status["imageTypes"] == [OTHER[first]]
        it.is_whole()
        await it.at_rest()

    played(story)
