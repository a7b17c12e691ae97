"""Kinds that somebody adds: served at once, with everything that their schemas ask."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from contract.backends import Kube
from contract.words import Whole, key, whole
from stateward.kube.client import MergePatch, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, ApiError, Invalid, NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, Resource

GROUP = "contract.stateward.example"
DEFINITIONS = replace(CUSTOM_RESOURCES, type=Object)


class Gadget(Whole):
    api_version: str = ""


GADGETS = Resource(GROUP, "v1", "Gadget", "gadgets", Gadget, has_status=True)
DOOMED = Resource(GROUP, "v1", "Doomed", "doomed", Gadget, has_status=True)
NEWER = replace(GADGETS, version="v2")

_TEXT: Json = {"type": "string", "maxLength": 20}
_PART: Json = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": _TEXT, "weight": {"type": "integer", "default": 1}},
    "x-kubernetes-validations": [{"rule": "self.weight >= oldSelf.weight", "message": "no less"}],
}
SPEC: Json = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 100},
        "most": {"type": "integer", "default": 10},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "note": {"type": "string", "nullable": True},
        "max-age": {"type": "integer"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True},
        "parts": {
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": _PART,
        },
    },
    "x-kubernetes-validations": [
        {
            "rule": "self.size <= self.most",
            "messageExpression": "self.most > 9 ? 'size must be at most ten' : 'size is too large'",
            "fieldPath": ".size",
        },
        {"rule": "self.color == oldSelf.color", "message": "the color stays"},
        {"rule": "!has(self.max__dash__age) || self.max__dash__age > 0", "message": "age"},
    ],
}
_STATUS: Json = {"type": "object", "properties": {"count": {"type": "integer"}}}
SCHEMA: Json = {"type": "object", "properties": {"spec": SPEC, "status": _STATUS}}


def version(name: str, *, storage: bool) -> Json:
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": SCHEMA},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.count"},
        },
    }


def definition(plural: str, kind: str, *versions: Json, **spec: Any) -> Json:
    names = {"plural": plural, "kind": kind}
    body = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": list(versions)}
    return {"metadata": {"name": f"{plural}.{GROUP}"}, "spec": body | spec}


async def gadgets(kube: Kube) -> None:
    """Have the kind served, in two versions."""
    both = (version("v1", storage=True), version("v2", storage=False))
    await serve(kube, definition("gadgets", "Gadget", *both), GADGETS, NEWER)


async def serve(kube: Kube, document: Json, *resources: Resource[Any]) -> None:
    with suppress(AlreadyExists):
        await kube.client.create(DEFINITIONS, document)

    async def served() -> bool:
        try:
            for resource in resources:
                await kube.client.list(resource, Selection(kube.namespace))
        except ApiError as error:
            if error.code != NotFound.code:
                raise
            return False
        return True

    await kube.until(served)


def gadget(kube: Kube, name: str, **spec: Any) -> Json:
    return {"metadata": {"namespace": kube.namespace, "name": name}, "spec": {"size": 1} | spec}


async def test_a_definition_says_that_it_is_served(kube: Kube) -> None:
    await gadgets(kube)

    found = await kube.client.get(whole(CUSTOM_RESOURCES), ObjectKey("", f"gadgets.{GROUP}"))

    said = {it["type"]: it["status"] for it in found.status["conditions"]}
    assert said.items() >= {"NamesAccepted": "True", "Established": "True"}.items()
    assert found.status["acceptedNames"]["singular"] == "gadget"
    assert found.status["acceptedNames"]["listKind"] == "GadgetList"
    assert found.status["storedVersions"] == ["v1"]


async def test_defaults_come_from_the_schema(kube: Kube) -> None:
    await gadgets(kube)

    made = await kube.client.create(GADGETS, gadget(kube, "a", parts=[{"name": "x"}]))

    assert made.spec == {
        "size": 1,
        "most": 10,
        "color": "red",
        "parts": [{"name": "x", "weight": 1}],
    }


async def test_null_is_a_value_only_where_the_schema_says_so(kube: Kube) -> None:
    await gadgets(kube)

    made = await kube.client.create(GADGETS, gadget(kube, "a", most=None, note=None))

    assert (made.spec["most"], made.spec["note"]) == (10, None)


async def test_unknown_fields_stay_where_the_schema_says_so(kube: Kube) -> None:
    await gadgets(kube)
    extra = {"x": {"y": 1}}

    made = await kube.client.create(GADGETS, gadget(kube, "a", free=extra, other=extra))

    assert (made.spec["free"], "other" in made.spec) == (extra, False)


@pytest.mark.parametrize(
    ("spec", "field", "reason"),
    [
        ({"size": 0}, "spec.size", "FieldValueInvalid"),
        ({"size": "1"}, "spec.size", "FieldValueTypeInvalid"),
        ({"size": 11}, "spec.size", "FieldValueInvalid"),
        ({"color": "green"}, "spec.color", "FieldValueNotSupported"),
        ({"port": 1.5}, "spec.port", "FieldValueTypeInvalid"),
        ({"parts": [{"weight": 1}]}, "spec.parts[0].name", "FieldValueRequired"),
        ({"parts": [{"name": "n" * 30}]}, "spec.parts[0].name", "FieldValueTooLong"),
        ({"parts": [{"name": str(n)} for n in range(6)]}, "spec.parts", "FieldValueTooMany"),
        ({"parts": [{"name": "a"}, {"name": "a"}]}, "spec.parts[1]", "FieldValueDuplicate"),
        ({"max-age": 0}, "spec", "FieldValueInvalid"),
    ],
    ids=str,
)
async def test_what_the_schema_refuses(kube: Kube, spec: Json, field: str, reason: str) -> None:
    await gadgets(kube)

    with pytest.raises(Invalid) as refusal:
        await kube.client.create(GADGETS, gadget(kube, "a", **spec))

    assert (field, reason) in {(cause.field, cause.reason) for cause in refusal.value.causes}


async def test_a_rule_tells_why_in_its_own_words(kube: Kube) -> None:
    await gadgets(kube)

    with pytest.raises(Invalid, match="size must be at most ten"):
        await kube.client.create(GADGETS, gadget(kube, "a", size=11))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"color": "blue"}, "the color stays"),
        ({"parts": [{"name": "x", "weight": 1}]}, "no less"),
        ({"parts": [{"name": "x", "weight": 3}, {"name": "y", "weight": 0}]}, None),
        ({"parts": []}, None),
        ({"size": 2}, None),
    ],
    ids=str,
)
async def test_a_rule_may_look_back(kube: Kube, change: Json, problem: str | None) -> None:
    await gadgets(kube)
    await kube.client.create(GADGETS, gadget(kube, "a", parts=[{"name": "x", "weight": 2}]))
    patch = MergePatch({"spec": change})

    if problem is None:
        await kube.client.patch(GADGETS, key(kube, "a"), patch)
    else:
        with pytest.raises(Invalid, match=problem):
            await kube.client.patch(GADGETS, key(kube, "a"), patch)


async def test_every_version_shows_the_same_object(kube: Kube) -> None:
    await gadgets(kube)
    await kube.client.create(NEWER, gadget(kube, "a"))

    older = await kube.client.get(GADGETS, key(kube, "a"))
    newer = await kube.client.patch(NEWER, key(kube, "a"), MergePatch({"spec": {"size": 2}}))

    assert (older.api_version, newer.api_version) == (GADGETS.api_version, NEWER.api_version)
    assert (older.metadata.uid, older.spec["size"]) == (newer.metadata.uid, 1)


async def test_a_custom_kind_is_scaled(kube: Kube) -> None:
    await gadgets(kube)
    await kube.client.create(GADGETS, gadget(kube, "a"))

    patch = MergePatch({"spec": {"replicas": 3}})
    await kube.client.patch(GADGETS, key(kube, "a"), patch, subresource="scale")

    assert (await kube.client.get(GADGETS, key(kube, "a"))).spec["size"] == 3


# ------------------------------------------------------------------ definitions that are none
V1 = version("v1", storage=True)


def with_spec(**schema: Any) -> Json:
    inner = {"type": "object", "properties": {"spec": {"type": "object"} | schema}}
    return V1 | {"schema": {"openAPIV3Schema": inner}}


_ROOT = "spec.validation.openAPIV3Schema"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (definition("bads", "Bad", V1, group="other.example"), "metadata.name"),
        (definition("bads", "Bad", V1, scope="Universal"), "spec.scope"),
        (definition("bads", "Bad", V1 | {"storage": False}), "spec.versions"),
        (
            definition("bads", "Bad", {"name": "v1", "served": True, "storage": True}),
            "spec.versions[0].schema.openAPIV3Schema",
        ),
        (definition("bads", "Bad", with_spec(type="")), f"{_ROOT}.properties[spec].type"),
        (
            definition(
                "bads", "Bad", with_spec(properties={"a": {"type": "string", "default": 1}})
            ),
            f"{_ROOT}.properties[spec].properties[a].default",
        ),
        (
            definition(
                "bads", "Bad", with_spec(**{"x-kubernetes-validations": [{"rule": "self.a +"}]})
            ),
            f"{_ROOT}.properties[spec].x-kubernetes-validations[0].rule",
        ),
        (
            definition(
                "bads", "Bad", with_spec(**{"x-kubernetes-validations": [{"rule": "'no'"}]})
            ),
            f"{_ROOT}.properties[spec].x-kubernetes-validations[0].rule",
        ),
    ],
    ids=["name", "scope", "storage", "schema", "type", "default", "rule", "rule that is text"],
)
async def test_a_definition_must_make_sense(kube: Kube, document: Json, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        await kube.client.create(DEFINITIONS, document)

    assert field in {cause.field for cause in refusal.value.causes}


async def test_a_definition_takes_its_objects_with_it(kube: Kube) -> None:
    await serve(kube, definition("doomed", "Doomed", V1), DOOMED)
    await kube.client.create(DOOMED, gadget(kube, "a"))
    where = ObjectKey("", DOOMED.name)
    found = await kube.client.get(DEFINITIONS, where)

    await kube.client.delete(DEFINITIONS, where, uid=found.metadata.uid)

    async def gone() -> bool:
        try:
            await kube.client.get(DEFINITIONS, where)
        except NotFound:
            return True
        return False

    await kube.until(gone)
    with pytest.raises(ApiError) as refusal:
        await kube.client.list(DOOMED, Selection(kube.namespace))
    assert refusal.value.code == NotFound.code
