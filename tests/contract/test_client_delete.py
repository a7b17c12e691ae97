"""Delete: exactly the object that was meant, and what holds it back."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import KINDS, config_map, key, names, shown, whole, widget
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.errors import AlreadyExists, Conflict, Invalid, NotFound
from stateward.kube.meta import Object, is_newer
from stateward.kube.resources import CONFIG_MAPS

HOLD = ["example.com/hold"]
RELEASE = MergePatch({"metadata": {"finalizers": None}})


async def delete(kube: Kube, it: Object, resource: Any = CONFIG_MAPS, **options: Any) -> None:
    await kube.client.delete(resource, it.metadata.key, uid=it.metadata.uid, **options)


@pytest.mark.parametrize("kind", list(KINDS))
async def test_a_deleted_object_is_gone(kube: Kube, kind: str) -> None:
    resource, one = KINDS[kind]
    made = await kube.client.create(resource, one(kube, "a"))

    await delete(kube, made, resource)

    with pytest.raises(NotFound):
        await kube.client.get(resource, made.metadata.key)
    assert await names(kube, resource) == []


async def test_nothing_cannot_be_deleted(kube: Kube) -> None:
    with pytest.raises(NotFound):
        await kube.client.delete(CONFIG_MAPS, key(kube, "none"), uid="any")


async def test_gone_is_gone(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))
    await delete(kube, made)

    with pytest.raises(NotFound):
        await delete(kube, made)


async def test_a_successor_of_the_same_name_is_never_hit(kube: Kube) -> None:
    first = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))
    await delete(kube, first)
    second = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(Conflict):
        await delete(kube, first)

    assert second.metadata.uid != first.metadata.uid
    assert is_newer(second.metadata.resource_version, than=first.metadata.resource_version)
    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == second


async def test_a_version_that_is_no_more_is_not_deleted(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))
    change = MergePatch({"data": {"x": "1"}})
    now = await kube.client.patch(CONFIG_MAPS, made.metadata.key, change)

    with pytest.raises(Conflict):
        await delete(kube, made, resource_version=made.metadata.resource_version)
    await delete(kube, now, resource_version=now.metadata.resource_version)

    assert await names(kube) == []


# ------------------------------------------------------------------ finalizers
async def test_a_finalizer_holds_an_object(kube: Kube) -> None:
    made = await kube.client.create(whole(CONFIG_MAPS), config_map(kube, "a", finalizers=HOLD))

    await delete(kube, made)

    held = (await kube.client.get(whole(CONFIG_MAPS), key(kube, "a"))).metadata
    assert held.deleting
    assert held.finalizers == tuple(HOLD)
    assert held.deletion_grace_period_seconds == 0
    assert is_newer(held.resource_version, than=made.metadata.resource_version)
    assert held.uid == made.metadata.uid


@pytest.mark.parametrize(("kind", "after"), [("Widget", 2), ("StatefulSet", 2), ("ConfigMap", 0)])
async def test_being_asked_to_go_counts_as_a_generation(kube: Kube, kind: str, after: int) -> None:
    resource, one = KINDS[kind]
    body = one(kube, "a")
    body["metadata"]["finalizers"] = HOLD
    made = await kube.client.create(resource, body)

    await delete(kube, made, resource)

    assert (await kube.client.get(resource, key(kube, "a"))).metadata.generation == after


async def test_asking_again_changes_nothing(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=HOLD))
    await delete(kube, made)
    once = await kube.client.get(CONFIG_MAPS, key(kube, "a"))

    await delete(kube, made)

    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == once


async def test_the_last_finalizer_lets_it_go(kube: Kube) -> None:
    both = ["example.com/a", "example.com/b"]
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=both))
    await delete(kube, made)

    one = await kube.client.patch(
        CONFIG_MAPS, key(kube, "a"), MergePatch({"metadata": {"finalizers": both[:1]}})
    )
    assert one.metadata.deleting
    assert await names(kube) == ["a"]
    last = await kube.client.patch(CONFIG_MAPS, key(kube, "a"), RELEASE)

    assert last.metadata.uid == made.metadata.uid
    assert last.metadata.finalizers == ()
    assert await names(kube) == []


@pytest.mark.parametrize("verb", ["update", "json patch", "apply"])
async def test_any_write_can_let_it_go(kube: Kube, verb: str) -> None:
    body = config_map(kube, "a", finalizers=HOLD)
    made = await kube.client.patch(CONFIG_MAPS, key(kube, "a"), Apply(body, "us"))
    await delete(kube, made)

    match verb:
        case "update":
            await kube.client.update(CONFIG_MAPS, config_map(kube, "a"))
        case "json patch":
            remove = JsonPatch(({"op": "remove", "path": "/metadata/finalizers/0"},))
            await kube.client.patch(CONFIG_MAPS, key(kube, "a"), remove)
        case "apply":
            less = Apply(config_map(kube, "a"), "us")
            await kube.client.patch(CONFIG_MAPS, key(kube, "a"), less)

    assert await names(kube) == []


async def test_without_being_deleted_nothing_is_let_go(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=HOLD))

    now = await kube.client.patch(CONFIG_MAPS, made.metadata.key, RELEASE)

    assert now.metadata.finalizers == ()
    assert await names(kube) == ["a"]


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        (["example.com/hold", "example.com/late"], False),
        (["example.com/late"], False),
        (["example.com/hold", "example.com/hold"], True),
    ],
    ids=shown,
)
async def test_a_leaving_object_takes_no_new_finalizer(
    kube: Kube, wanted: list[str], taken: bool
) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=HOLD))
    await delete(kube, made)
    change = MergePatch({"metadata": {"finalizers": wanted}})

    if taken:
        await kube.client.patch(CONFIG_MAPS, key(kube, "a"), change)
    else:
        with pytest.raises(Invalid):
            await kube.client.patch(CONFIG_MAPS, key(kube, "a"), change)

    assert (await kube.client.get(CONFIG_MAPS, key(kube, "a"))).metadata.deleting


async def test_a_leaving_object_can_still_be_written(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}, finalizers=HOLD))
    await delete(kube, made, WIDGETS)

    now = await kube.client.patch(WIDGETS, key(kube, "a"), MergePatch({"spec": {"size": 2}}))
    told = await kube.client.patch(
        WIDGETS, key(kube, "a"), MergePatch({"status": {"phase": "Going"}}), subresource="status"
    )

    assert (now.spec, told.status) == ({"size": 2}, {"phase": "Going"})
    assert (now.metadata.generation, now.metadata.deleting) == (3, True)


@pytest.mark.parametrize("verb", ["update", "patch"])
async def test_the_end_cannot_be_taken_back(kube: Kube, verb: str) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=HOLD))
    await delete(kube, made)
    before = (await kube.client.get(CONFIG_MAPS, key(kube, "a"))).metadata.deletion_timestamp

    if verb == "update":
        await kube.client.update(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}, finalizers=HOLD))
    else:
        stay = MergePatch({"metadata": {"deletionTimestamp": None}})
        await kube.client.patch(CONFIG_MAPS, key(kube, "a"), stay)

    now = await kube.client.get(CONFIG_MAPS, key(kube, "a"))
    assert now.metadata.deletion_timestamp == before is not None


async def test_the_name_of_a_leaving_object_is_taken(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=HOLD))
    await delete(kube, made)

    with pytest.raises(AlreadyExists):
        await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))


async def test_what_is_let_go_must_have_been_seen(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", finalizers=HOLD))
    await delete(kube, made)
    old = {"resourceVersion": made.metadata.resource_version, "finalizers": None}

    with pytest.raises(Conflict):
        await kube.client.patch(CONFIG_MAPS, key(kube, "a"), MergePatch({"metadata": old}))

    assert await names(kube) == ["a"]
