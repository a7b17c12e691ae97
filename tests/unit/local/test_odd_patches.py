"""Whatever somebody patches, applies or writes over an object gets an answer, and never a crash."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCES, Resource
from stateward.kube.strategic import StrategicPatch
from stateward.local.schema.served import served_api
from unit.local.pictures import Still
from unit.local.test_builtin_kinds import DEFINITION, ODD, SOUND, US, places

#: Words of strategic patches, where they may stand and where they may not.
DIRECTIVES: list[Any] = [
    {"$patch": "delete"},
    {"$patch": "replace"},
    {"$patch": "frobnicate"},
    {"$patch": []},
    {"$retainKeys": ["a"]},
    {"$retainKeys": 1},
    {"$setElementOrder/containers": [{"name": "main"}]},
    {"$setElementOrder/containers": 1},
    {"$deleteFromPrimitiveList/finalizers": ["a"]},
    {"$deleteFromPrimitiveList/finalizers": 1},
    [{"$patch": "delete", "name": "main"}],
    [{"$patch": "replace"}],
    ["a", {"name": "b"}],
]


def pointer(way: tuple[Any, ...]) -> str:
    return "".join(f"/{str(word).replace('~', '~0').replace('/', '~1')}" for word in way)


def nested(way: tuple[Any, ...], value: Any, document: Json) -> Any:
    """Return the object as far as it leads to a place, with another value there."""
    if not way:
        return value
    first, *rest = way
    inner = nested(tuple(rest), value, document[first])
    if isinstance(document, list):
        named = {"name": document[first].get("name")} if isinstance(document[first], dict) else {}
        return [named | inner if isinstance(inner, dict) else inner]
    return {first: inner}


@st.composite
def patches(draw: st.DrawFn, document: Json, *, place: tuple[str, ...] = ()) -> Any:
    way = place + draw(st.sampled_from(places(document)))
    value = plain({"it": draw(st.sampled_from([*ODD, *DIRECTIVES]))})["it"]
    body = nested(way, value, document)
    if not isinstance(body, dict):
        body = {"spec": body}
    other = pointer(draw(st.sampled_from(places(document))))
    name = draw(st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "odd"]))
    step = {"op": name, "path": pointer(way), "value": value, "from": other}
    return draw(
        st.sampled_from(
            [
                MergePatch(body),
                StrategicPatch(body),
                Apply(body, "them", force=True),
                Apply(document | body, "them"),
                JsonPatch((step,)),
            ]
        )
    )


def key_of(resource: Resource[Any], name: str) -> ObjectKey:
    return ObjectKey("default" if resource.namespaced else "", name)


@given(st.data())
def test_whatever_is_patched_gets_an_answer(data: st.DataObject) -> None:
    api = served_api(Ports(Still(), Chance(1)))
    resource, sound = data.draw(st.sampled_from([*SOUND.items(), (CUSTOM_RESOURCES, DEFINITION)]))
    name = "things.x.example" if resource is CUSTOM_RESOURCES else "a"
    key = key_of(resource, name)
    api.create(resource, key.namespace, plain(sound) | {"metadata": {"name": name}}, US)
    for _ in range(3):
        document = api.get(resource, key).document()
        patch = data.draw(patches(document))
        subresource = data.draw(st.sampled_from(["", "", "status", "scale"]))
        revision = api.store.revision
        try:
            api.patch(resource, key, patch, US, subresource=subresource)
        except ApiError:
            assert api.store.revision == revision, "what is refused changes nothing"
    assert api.list(resource).items
    assert not api.list(CONFIG_MAPS).items or resource is CONFIG_MAPS


@pytest.mark.parametrize("field", ["manager", "time", "apiVersion", "fieldsType"])
def test_a_record_of_managers_without_a_field_gets_an_answer(field: str) -> None:
    api = served_api(Ports(Still(), Chance(1)))
    key = ObjectKey("default", "a")
    api.create(CONFIG_MAPS, "default", {"metadata": {"name": "a"}, "data": {"x": "1"}}, US)
    api.create(CONFIG_MAPS, "default", {"metadata": {"name": "b"}}, US)
    for path, value in ((f"/metadata/managedFields/0/{field}", None), ("/data/y", "2")):
        patch = JsonPatch([{"op": "add", "path": path, "value": value}])
        with suppress(ApiError):
            api.patch(CONFIG_MAPS, key, patch, US)
    assert api.get(CONFIG_MAPS, key).document()["data"] == {"x": "1", "y": "2"}
