"""One object that is not what our types say hides no other: it is shown for what it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from contract.backends import Kube
from contract.words import config_map, key, revision, told
from stateward.core.errors import PeerConfused
from stateward.kube.client import Malformed, MergePatch, Selection
from stateward.kube.codec import Part
from stateward.kube.meta import Object
from stateward.kube.resources import CONFIG_MAPS


class Shirt(Part):
    size: Literal["s", "m", "l"] = "m"


class ShirtMap(Object):
    """A ConfigMap as somebody reads it who knows three sizes."""

    data: Shirt = Shirt()


SHIRTS = replace(CONFIG_MAPS, type=ShirtMap)


async def shirts(kube: Kube, **sizes: str) -> None:
    for name, size in sizes.items():
        await kube.client.create(CONFIG_MAPS, config_map(kube, name, {"size": size}))


async def test_a_list_shows_it_beside_the_others(kube: Kube) -> None:
    await shirts(kube, a="s", b="xxl", c="l")

    found = await kube.client.list(SHIRTS, Selection(kube.namespace))

    fine = {it.metadata.name: it.data.size for it in found.items}
    assert (fine["a"], fine["c"]) == ("s", "l")
    assert "b" not in fine
    (bad,) = found.malformed
    assert bad.metadata.name == "b"
    assert bad.metadata.uid
    assert bad.problem


async def test_a_watch_shows_it_among_the_others(kube: Kube) -> None:
    since = await revision(kube)
    await shirts(kube, a="s", b="xxl", c="l")
    await kube.client.patch(CONFIG_MAPS, key(kube, "b"), MergePatch({"data": {"size": "m"}}))
    z = await kube.client.create(CONFIG_MAPS, config_map(kube, "z"))
    await kube.client.delete(CONFIG_MAPS, z.metadata.key, uid=z.metadata.uid)

    events = await told(kube, since, resource=SHIRTS, last="z")

    kinds = [(e.object.metadata.name, isinstance(e.object, Malformed)) for e in events]
    assert kinds == [("a", False), ("b", True), ("c", False), ("b", False)]
    assert all(e.revision == e.object.metadata.resource_version for e in events)


async def test_the_end_of_it_is_told_too(kube: Kube) -> None:
    since = await revision(kube)
    await shirts(kube, b="xxl", z="m")
    for name in "bz":
        it = await kube.client.get(CONFIG_MAPS, key(kube, name))
        await kube.client.delete(CONFIG_MAPS, it.metadata.key, uid=it.metadata.uid)

    events = await told(kube, since, resource=SHIRTS, last="z")

    assert [e.change.value for e in events] == ["ADDED", "DELETED"]
    assert all(isinstance(e.object, Malformed) for e in events)


async def test_asked_for_alone_it_is_an_error(kube: Kube) -> None:
    await shirts(kube, b="xxl")

    with pytest.raises(PeerConfused):
        await kube.client.get(SHIRTS, key(kube, "b"))
