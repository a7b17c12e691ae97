"""A rehearsal checks everything and leaves nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import key, names, revision, told, widget
from stateward.kube.client import Apply, JsonPatch, MergePatch, Propagation
from stateward.kube.errors import AlreadyExists, Conflict, Invalid, NotFound
from stateward.kube.meta import ObjectKey

Act: TypeAlias = Callable[[Kube, ObjectKey, Any], Awaitable[Any]]


def _update(kube: Kube, where: ObjectKey, it: Any) -> Awaitable[Any]:
    seen = {"resourceVersion": it.metadata.resource_version}
    return kube.client.update(WIDGETS, widget(kube, "a", {"size": 2}, **seen), dry_run=True)


def _update_status(kube: Kube, where: ObjectKey, it: Any) -> Awaitable[Any]:
    seen = {"resourceVersion": it.metadata.resource_version}
    body = widget(kube, "a", **seen) | {"status": {"phase": "Ready"}}
    return kube.client.update(WIDGETS, body, subresource="status", dry_run=True)


def _patch(patch: Any) -> Act:
    return lambda kube, where, it: kube.client.patch(WIDGETS, where, patch, dry_run=True)


def _delete(**options: Any) -> Act:
    return lambda kube, where, it: kube.client.delete(
        WIDGETS, where, uid=it.metadata.uid, dry_run=True, **options
    )


ACTS: dict[str, Act] = {
    "create": lambda kube, where, it: kube.client.create(WIDGETS, widget(kube, "b"), dry_run=True),
    "update": _update,
    "update status": _update_status,
    "merge patch": _patch(MergePatch({"spec": {"size": 2}})),
    "json patch": _patch(JsonPatch(({"op": "remove", "path": "/spec/size"},))),
    "apply": lambda kube, where, it: kube.client.patch(
        WIDGETS, where, Apply(widget(kube, "a", {"words": ["w"]}), "us"), dry_run=True
    ),
    "apply to nothing": lambda kube, where, it: kube.client.patch(
        WIDGETS, key(kube, "b"), Apply(widget(kube, "b", {"size": 2}), "us"), dry_run=True
    ),
    "delete": _delete(),
    "delete, foreground": _delete(propagation=Propagation.FOREGROUND),
    "delete, orphan": _delete(propagation=Propagation.ORPHAN),
}


@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("act", list(ACTS))
async def test_a_rehearsal_leaves_nothing(kube: Kube, act: str, held: bool) -> None:
    hold = {"finalizers": ["example.com/hold"]} if held else {}
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}, **hold))
    since = await revision(kube, WIDGETS)

    await ACTS[act](kube, key(kube, "a"), made)

    assert await kube.client.get(WIDGETS, key(kube, "a")) == made
    assert await names(kube, WIDGETS) == ["a"]
    z = await kube.client.create(WIDGETS, widget(kube, "z"))
    await kube.client.delete(WIDGETS, z.metadata.key, uid=z.metadata.uid)
    assert await told(kube, since, resource=WIDGETS, last="z") == []


async def test_a_rehearsed_birth_looks_like_one(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}), dry_run=True)

    assert (made.metadata.name, made.spec) == ("a", {"size": 1})
    assert made.metadata.uid
    assert made.metadata.resource_version == ""


async def test_a_rehearsed_change_looks_like_one(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))

    now = await kube.client.patch(
        WIDGETS, made.metadata.key, MergePatch({"spec": {"size": 2}}), dry_run=True
    )

    assert (now.spec, now.metadata.generation) == ({"size": 2}, 2)
    assert now.metadata.resource_version == made.metadata.resource_version


async def test_letting_go_can_be_rehearsed(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", finalizers=["example.com/hold"]))
    await kube.client.delete(WIDGETS, made.metadata.key, uid=made.metadata.uid)
    going = await kube.client.get(WIDGETS, made.metadata.key)

    release = MergePatch({"metadata": {"finalizers": None}})
    await kube.client.patch(WIDGETS, made.metadata.key, release, dry_run=True)

    assert await kube.client.get(WIDGETS, made.metadata.key) == going


async def test_a_rehearsal_is_refused_like_the_real_thing(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))
    await kube.client.patch(WIDGETS, made.metadata.key, MergePatch({"spec": {"size": 2}}))
    old = {"resourceVersion": made.metadata.resource_version}

    with pytest.raises(AlreadyExists):
        await kube.client.create(WIDGETS, widget(kube, "a"), dry_run=True)
    with pytest.raises(Conflict):
        await kube.client.update(WIDGETS, widget(kube, "a", **old), dry_run=True)
    with pytest.raises(Invalid):
        await kube.client.create(WIDGETS, widget(kube, "B"), dry_run=True)
    with pytest.raises(NotFound):
        await kube.client.delete(WIDGETS, key(kube, "none"), uid="any", dry_run=True)
    with pytest.raises(Conflict):
        await kube.client.delete(WIDGETS, made.metadata.key, uid="another", dry_run=True)
