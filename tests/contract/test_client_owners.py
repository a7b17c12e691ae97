"""What becomes of the objects that a deleted one owned; the cluster's garbage collector does it, later."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS, Widget
from contract.words import config_map, key, names, owner, widget
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.errors import NotFound
from stateward.kube.resources import CONFIG_MAPS

HOLD = ["example.com/hold"]


async def boss(kube: Kube, name: str = "boss", **metadata: Any) -> Widget:
    return await kube.client.create(WIDGETS, widget(kube, name, **metadata))


async def owned(kube: Kube, name: str, *references: Any, **metadata: Any) -> None:
    body = config_map(kube, name, ownerReferences=list(references), **metadata)
    await kube.client.create(CONFIG_MAPS, body)


async def delete(kube: Kube, it: Widget, propagation: Propagation) -> None:
    await kube.client.delete(WIDGETS, it.metadata.key, uid=it.metadata.uid, propagation=propagation)


async def left(kube: Kube, *wanted: str) -> None:
    """Wait until these and no others are left, of both kinds."""

    async def holds() -> bool:
        return [*await names(kube), *await names(kube, WIDGETS)] == list(wanted)

    await kube.until(holds)


async def test_background_the_owner_first(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS, blockOwnerDeletion=True))
    await owned(kube, "free")

    await delete(kube, it, Propagation.BACKGROUND)

    with pytest.raises(NotFound):
        await kube.client.get(WIDGETS, it.metadata.key)
    await left(kube, "free")


async def test_foreground_the_owned_first(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS, blockOwnerDeletion=True), finalizers=HOLD)

    await delete(kube, it, Propagation.FOREGROUND)

    async def going() -> bool:
        return (await kube.client.get(CONFIG_MAPS, key(kube, "a"))).metadata.deleting

    await kube.until(going)
    waiting = (await kube.client.get(WIDGETS, it.metadata.key)).metadata
    assert waiting.deleting
    assert waiting.finalizers == ("foregroundDeletion",)

    release = MergePatch({"metadata": {"finalizers": None}})
    await kube.client.patch(CONFIG_MAPS, key(kube, "a"), release)
    await left(kube)


async def test_foreground_does_not_wait_for_those_that_do_not_block(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS), finalizers=HOLD)

    await delete(kube, it, Propagation.FOREGROUND)

    await left(kube, "a")


async def test_foreground_with_nothing_owned(kube: Kube) -> None:
    await delete(kube, await boss(kube), Propagation.FOREGROUND)

    await left(kube)


async def test_orphan_the_owned_stay_and_are_nobodys(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS, controller=True, blockOwnerDeletion=True))

    await delete(kube, it, Propagation.ORPHAN)
    await left(kube, "a")

    assert (await kube.client.get(CONFIG_MAPS, key(kube, "a"))).metadata.owner_references == ()


async def test_of_two_owners_one_is_enough(kube: Kube) -> None:
    one, two = await boss(kube, "one"), await boss(kube, "two")
    await owned(kube, "a", owner(one, WIDGETS), owner(two, WIDGETS))

    await delete(kube, one, Propagation.BACKGROUND)

    async def has_one_owner() -> bool:
        found = await kube.client.get(CONFIG_MAPS, key(kube, "a"))
        return [it.name for it in found.metadata.owner_references] == ["two"]

    await kube.until(has_one_owner)
    await delete(kube, two, Propagation.BACKGROUND)
    await left(kube)


async def test_chains_go_all_the_way(kube: Kube) -> None:
    top = await boss(kube, "top")
    middle = await boss(kube, "middle", ownerReferences=[owner(top, WIDGETS)])
    await owned(kube, "a", owner(middle, WIDGETS))

    await delete(kube, top, Propagation.BACKGROUND)

    await left(kube)


async def test_foreground_goes_down_a_chain(kube: Kube) -> None:
    top = await boss(kube, "top")
    blocked = owner(top, WIDGETS, blockOwnerDeletion=True)
    middle = await boss(kube, "middle", ownerReferences=[blocked])
    await owned(kube, "a", owner(middle, WIDGETS, blockOwnerDeletion=True))

    await delete(kube, top, Propagation.FOREGROUND)

    await left(kube)


async def test_an_owner_that_never_was(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS) | {"uid": "3b241101-e2bb-4255-8caf-4136c566a962"})

    await left(kube, "boss")


async def test_an_owner_of_the_same_name_is_another(kube: Kube) -> None:
    first = await boss(kube)
    reference = owner(first, WIDGETS)
    await delete(kube, first, Propagation.BACKGROUND)
    await boss(kube)
    await owned(kube, "a", reference)

    await left(kube, "boss")


async def test_a_held_object_is_asked_to_go_and_waits(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS), finalizers=HOLD)
    await delete(kube, it, Propagation.BACKGROUND)

    async def going() -> bool:
        return (await kube.client.get(CONFIG_MAPS, key(kube, "a"))).metadata.deleting

    await kube.until(going)
    release = MergePatch({"metadata": {"finalizers": None}})
    await kube.client.patch(CONFIG_MAPS, key(kube, "a"), release)
    await left(kube)


async def test_minds_may_change_from_foreground_to_background(kube: Kube) -> None:
    it = await boss(kube)
    await owned(kube, "a", owner(it, WIDGETS, blockOwnerDeletion=True), finalizers=HOLD)
    await delete(kube, it, Propagation.FOREGROUND)

    await delete(kube, it, Propagation.BACKGROUND)

    with pytest.raises(NotFound):
        await kube.client.get(WIDGETS, it.metadata.key)


async def test_a_circle_goes_too(kube: Kube) -> None:
    one = await boss(kube, "one")
    two = await boss(kube, "two", ownerReferences=[owner(one, WIDGETS, blockOwnerDeletion=True)])
    back = [owner(two, WIDGETS, blockOwnerDeletion=True)]
    close = MergePatch({"metadata": {"ownerReferences": back}})
    await kube.client.patch(WIDGETS, one.metadata.key, close)

    await delete(kube, one, Propagation.FOREGROUND)

    await left(kube)


async def test_an_owner_in_another_namespace_is_none(kube: Kube) -> None:
    there = {"namespace": kube.elsewhere, "name": "boss"}
    it = await kube.client.create(WIDGETS, {"metadata": there})
    await owned(kube, "a", owner(it, WIDGETS))

    await left(kube)


async def test_what_wants_to_orphan_does_so_when_it_is_collected(kube: Kube) -> None:
    top = await boss(kube, "top")
    middle = await boss(
        kube, "middle", ownerReferences=[owner(top, WIDGETS)], finalizers=["orphan"]
    )
    await owned(kube, "a", owner(middle, WIDGETS))

    await delete(kube, top, Propagation.BACKGROUND)

    await left(kube, "a")
