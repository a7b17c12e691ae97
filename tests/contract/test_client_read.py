"""Get and list: what is found, in which order, and by which selectors."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import config_map, key, names, pod, secret, shown, widget
from stateward.kube.client import Read, Selection
from stateward.kube.errors import BadRequest, NotFound
from stateward.kube.meta import ObjectKey, is_newer
from stateward.kube.resources import CONFIG_MAPS, PODS, SECRETS


@pytest.mark.parametrize("resource", [CONFIG_MAPS, PODS, WIDGETS], ids=shown)
async def test_what_is_not_there_is_not_found(kube: Kube, resource: Any) -> None:
    with pytest.raises(NotFound):
        await kube.client.get(resource, key(kube, "none"))


async def test_what_is_elsewhere_is_not_found_here(kube: Kube) -> None:
    await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(NotFound):
        await kube.client.get(CONFIG_MAPS, ObjectKey(kube.elsewhere, "a"))


async def test_an_empty_list_has_a_revision_too(kube: Kube) -> None:
    found = await kube.client.list(WIDGETS, Selection(kube.namespace))

    assert (found.items, found.malformed) == ((), ())
    assert found.revision.isdecimal()


async def test_a_list_is_in_the_order_of_names(kube: Kube) -> None:
    for name in ("b", "a-b", "a", "a.b", "c"):
        await kube.client.create(CONFIG_MAPS, config_map(kube, name))

    assert await names(kube) == ["a", "a-b", "a.b", "b", "c"]


async def test_a_list_of_all_namespaces_is_in_the_order_of_paths(kube: Kube) -> None:
    # "shop-b/x" comes before "shop/x", because a dash comes before a slash.
    for namespace in (kube.namespace, kube.elsewhere):
        where = {"namespace": namespace, "name": "x", "labels": {"truth": kube.namespace}}
        await kube.client.create(WIDGETS, {"metadata": where})

    found = await kube.client.list(WIDGETS, Selection(labels=f"truth={kube.namespace}"))

    assert [it.metadata.namespace for it in found.items] == [kube.elsewhere, kube.namespace]


async def test_a_list_of_one_namespace_leaves_the_others_out(kube: Kube) -> None:
    for namespace in (kube.namespace, kube.elsewhere):
        await kube.client.create(WIDGETS, {"metadata": {"namespace": namespace, "name": "x"}})

    found = await kube.client.list(WIDGETS, Selection(kube.elsewhere))

    assert [it.metadata.namespace for it in found.items] == [kube.elsewhere]


async def test_a_list_shows_objects_as_get_does(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}, labels={"x": "y"}))

    found = await kube.client.list(WIDGETS, Selection(kube.namespace))

    assert found.items == (made,)
    assert await kube.client.get(WIDGETS, key(kube, "a")) == made


async def test_a_list_is_as_new_as_its_newest_object(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a"))

    found = await kube.client.list(WIDGETS, Selection(kube.namespace))

    assert not is_newer(made.metadata.resource_version, than=found.revision)


async def test_a_list_from_the_cache_has_the_same_form(kube: Kube) -> None:
    found = await kube.client.list(WIDGETS, Selection(kube.namespace), read=Read.CACHE)

    assert found.items == ()
    assert found.revision.isdecimal()


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ("", "abc"),
        ("app=shop", "ab"),
        ("app==shop", "ab"),
        ("app!=shop", "c"),
        ("app", "ab"),
        ("!app", "c"),
        ("tier in (web, cache)", "a"),
        ("tier notin (web)", "bc"),
        ("app=shop,tier=web", "a"),
        ("app=shop,!tier", "b"),
        ("app=", ""),
        ("tier=nothing", ""),
    ],
)
async def test_labels_select(kube: Kube, labels: str, found: str) -> None:
    for name, its in {"a": {"app": "shop", "tier": "web"}, "b": {"app": "shop"}, "c": {}}.items():
        await kube.client.create(WIDGETS, widget(kube, name, labels=its))

    assert await names(kube, WIDGETS, labels=labels) == list(found)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("metadata.name=a", "a"),
        ("metadata.name!=a", "b"),
        ("metadata.name=none", ""),
        ("metadata.namespace!=nowhere", "ab"),
        ("metadata.name=a,metadata.namespace=nowhere", ""),
        ("spec.nodeName=", "a"),
        ("spec.nodeName=n1", "b"),
        ("status.phase=Pending", "ab"),
        ("status.phase!=Pending", ""),
        ("spec.schedulerName=nobody,spec.nodeName!=", "b"),
    ],
)
async def test_fields_select_pods(kube: Kube, fields: str, found: str) -> None:
    await kube.client.create(PODS, pod(kube, "a"))
    await kube.client.create(PODS, pod(kube, "b", node="n1"))

    assert await names(kube, PODS, fields=fields) == list(found)


async def test_fields_select_secrets_by_type(kube: Kube) -> None:
    for name, kind in (("a", "example.com/a"), ("b", "example.com/b")):
        await kube.client.create(SECRETS, secret(kube, name) | {"type": kind})

    assert await names(kube, SECRETS, fields="type=example.com/b") == ["b"]


@pytest.mark.parametrize(
    ("resource", "selectors"),
    [
        (CONFIG_MAPS, {"fields": "data.x=1"}),
        (CONFIG_MAPS, {"fields": "metadata.uid=1"}),
        (PODS, {"fields": "spec.containers=1"}),
        (WIDGETS, {"fields": "spec.size=1"}),
        (CONFIG_MAPS, {"fields": "metadata.name"}),
        (CONFIG_MAPS, {"labels": "a===b"}),
        (CONFIG_MAPS, {"labels": "a=/b"}),
        (CONFIG_MAPS, {"labels": "a in (b"}),
    ],
    ids=shown,
)
async def test_selectors_that_cannot_be_asked(
    kube: Kube, resource: Any, selectors: dict[str, str]
) -> None:
    with pytest.raises(BadRequest):
        await kube.client.list(resource, Selection(kube.namespace, **selectors))
