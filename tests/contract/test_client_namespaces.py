"""Namespaces: nothing is in one that is not there, and nothing new in one that ends."""

from __future__ import annotations

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import config_map, whole, widget
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Forbidden, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, NAMESPACES


def elsewhere(document: Json, namespace: str) -> Json:
    return document | {"metadata": document["metadata"] | {"namespace": namespace}}


async def test_nothing_is_created_in_a_namespace_that_is_not_there(kube: Kube) -> None:
    for resource, body in ((CONFIG_MAPS, config_map(kube, "a")), (WIDGETS, widget(kube, "a"))):
        with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
            await kube.client.create(resource, elsewhere(body, "nowhere"))


@pytest.mark.parametrize("name", ["default", "kube-system"])
async def test_some_namespaces_are_always_there(kube: Kube, name: str) -> None:
    found = await kube.client.get(NAMESPACES, ObjectKey("", name))

    with pytest.raises(Forbidden, match="may not be deleted"):
        await kube.client.delete(NAMESPACES, found.metadata.key, uid=found.metadata.uid)


async def test_a_namespace_stays_until_it_is_empty(kube: Kube) -> None:
    name = f"{kube.namespace}-c"
    where = ObjectKey("", name)
    made = await kube.client.create(NAMESPACES, {"metadata": {"name": name}})
    held = elsewhere(config_map(kube, "held", finalizers=["test.stateward.example/hold"]), name)
    await kube.client.create(CONFIG_MAPS, held)

    await kube.client.delete(NAMESPACES, where, uid=made.metadata.uid)

    found = await kube.client.get(whole(NAMESPACES), where)
    assert found.status["phase"] == "Terminating"
    with pytest.raises(Forbidden) as refusal:
        await kube.client.create(CONFIG_MAPS, elsewhere(config_map(kube, "late"), name))
    assert [cause.reason for cause in refusal.value.causes] == ["NamespaceTerminating"]
    let_go = MergePatch({"metadata": {"finalizers": None}})
    await kube.client.patch(CONFIG_MAPS, ObjectKey(name, "held"), let_go)
