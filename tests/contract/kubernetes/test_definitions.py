"""Definitions of custom kinds: which are taken, and where it is said what is wrong with others."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    OPEN,
    TEXT,
    Json,
    defined,
    definition,
    embedded,
    fields,
    keyed,
    listed,
    mapped,
    own_group,
    ruled,
    things,
    version,
    whole,
)
from contract.kubernetes.wire import Answer, Wire

V1 = version(whole(fields(a=TEXT)))
NAMES = {"plural": "things", "kind": "Thing"}
ROOT = "spec.validation.openAPIV3Schema"
HERE = f"{ROOT}.properties[spec].properties[v]"


async def ask(wire: Wire, *versions: Json, **spec: Any) -> Answer:
    """Ask whether a definition would be taken."""
    return await wire.post(
        "customresourcedefinitions", definition(own_group(), *versions, **spec), dryRun="All"
    )


@pytest.mark.parametrize(
    ("versions", "spec", "causes"),
    [
        ([V1], {"scope": ""}, ["FieldValueRequired spec.scope"]),
        ([V1], {"scope": "Universe"}, ["FieldValueNotSupported spec.scope"]),
        (
            [V1],
            {"names": {"plural": "things"}},
            [f"FieldValueRequired spec.names.{it}" for it in ("kind", "listKind", "singular")],
        ),
        (
            [V1],
            {"names": NAMES | {"kind": "thing_s"}},
            [f"FieldValueInvalid spec.names.{it}" for it in ("kind", "listKind", "singular")],
        ),
        ([V1], {"names": NAMES | {"singular": "Thing"}}, ["FieldValueInvalid spec.names.singular"]),
        ([V1], {"names": NAMES | {"listKind": "Thing"}}, ["FieldValueInvalid spec.names.listKind"]),
        (
            [V1],
            {"names": NAMES | {"shortNames": ["ok", "B_D"]}},
            ["FieldValueInvalid spec.names.shortNames[1]"],
        ),
        (
            [V1],
            {"names": NAMES | {"categories": ["All"]}},
            ["FieldValueInvalid spec.names.categories[0]"],
        ),
        ([], {}, ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"]),
        (
            [V1 | {"storage": False}],
            {},
            ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"],
        ),
        (
            [V1, V1 | {"name": "v2"}],
            {},
            ["FieldValueInvalid spec.versions", "FieldValueInvalid status.storedVersions"],
        ),
        ([V1, V1 | {"storage": False}], {}, ["FieldValueInvalid spec.versions"]),
        (
            [{"name": "v1", "served": True, "storage": True}],
            {},
            ["FieldValueRequired spec.versions[0].schema.openAPIV3Schema"],
        ),
        ([V1], {"preserveUnknownFields": True}, ["FieldValueInvalid spec.preserveUnknownFields"]),
        (
            [V1],
            {"conversion": {"strategy": "Magic"}},
            ["FieldValueNotSupported spec.conversion.strategy"],
        ),
        ([version({"type": "string"})], {}, [f"FieldValueInvalid {ROOT}.type"]),
        (
            [version(fields(metadata=fields(labels=mapped(TEXT))))],
            {},
            [f"FieldValueForbidden {ROOT}.properties[metadata]"],
        ),
        (
            [version(fields(apiVersion=NUMBER))],
            {},
            [f"FieldValueInvalid {ROOT}.properties[apiVersion].type"],
        ),
        (
            [V1, version(whole(fields(v={"type": "array"})), "v2", storage=False)],
            {},
            [f"FieldValueRequired {HERE.replace('validation', 'versions[1].schema')}.items"],
        ),
    ],
    ids=[
        *("no scope", "odd scope", "no kind", "odd kind", "odd singular", "list of itself"),
        *("short name", "category", "no version", "none stored", "two stored", "version twice"),
        *("no schema", "old pruning", "odd conversion", "no object", "labels", "version as number"),
        "second version",
    ],
)
async def test_a_definition_must_make_sense(
    wire: Wire, versions: list[Json], spec: Json, causes: list[str]
) -> None:
    (await ask(wire, *versions, **spec)).refused(422, "Invalid", *causes)


@pytest.mark.parametrize(
    ("group", "name", "causes"),
    [
        ("a.example.com", "other.a.example.com", ["FieldValueInvalid metadata.name"]),
        ("nodot", "things.nodot", ["FieldValueInvalid spec.group"]),
        (
            "",
            "things.a.example.com",
            ["FieldValueInvalid metadata.name", "FieldValueRequired spec.group"],
        ),
        (
            "a.k8s.io",
            "things.a.k8s.io",
            ["FieldValueRequired metadata.annotations[api-approved.kubernetes.io]"],
        ),
    ],
    ids=["other name", "no domain", "no group", "Kubernetes' own"],
)
async def test_a_definition_is_named_by_its_group(
    wire: Wire, group: str, name: str, causes: list[str]
) -> None:
    document = definition(group, V1) | {"metadata": {"name": name}}

    answer = await wire.post("customresourcedefinitions", document, dryRun="All")

    answer.refused(422, "Invalid", *causes)


def in_conditions(**schema: Any) -> Json:
    return fields(a=TEXT) | {"anyOf": [schema]}


ONE_OF_ITS_OWN = fields(a=NUMBER | {"default": 1})
NODES: list[tuple[str, Json, str]] = [
    ("no type", {"description": "x"}, "Required .type"),
    ("odd type", {"type": "float"}, "NotSupported .type"),
    ("no items", {"type": "array"}, "Required .items"),
    ("both", fields(a=TEXT) | {"additionalProperties": TEXT}, "Forbidden .additionalProperties"),
    ("unique", listed(TEXT, uniqueItems=True), "Forbidden .uniqueItems"),
    ("reference", {"$ref": "#/x"}, "Forbidden .$ref"),
    ("pattern", TEXT | {"pattern": "(["}, "Invalid .pattern"),
    ("default type", NUMBER | {"default": "x"}, "TypeInvalid .default"),
    ("default size", NUMBER | {"minimum": 5, "default": 1}, "Invalid .default"),
    ("default enum", TEXT | {"enum": ["a"], "default": "b"}, "NotSupported .default"),
    ("default extra", fields(a=TEXT) | {"default": {"b": 1}}, "Invalid .default"),
    ("default rule", ruled(NUMBER | {"default": 1}, "self > 5"), "Invalid .default"),
    ("default not filled in", ruled(ONE_OF_ITS_OWN, "self.a == 1") | {"default": {}}, "Invalid .default"),
    ("rule within not filled in", fields(b=ruled(ONE_OF_ITS_OWN, "self.a == 1")) | {"default": {"b": {}}}, "Invalid .default.b"),
    ("type in condition", in_conditions(type="object"), "Forbidden .anyOf[0].type"),
    ("default in condition", in_conditions(default={}), "Forbidden .anyOf[0].default"),
    ("not open", OPEN | {"x-kubernetes-preserve-unknown-fields": False}, "Invalid .x-kubernetes-preserve-unknown-fields"),
    ("empty within", {"type": "object", "x-kubernetes-embedded-resource": True}, "Required .properties"),
    ("text within", embedded() | {"type": "string"}, "Invalid .type"),
    ("list type", listed(TEXT) | {"x-kubernetes-list-type": "bag"}, "NotSupported .x-kubernetes-list-type"),
    ("set of text", TEXT | {"x-kubernetes-list-type": "set"}, "Invalid .type"),
    ("set of objects", listed(fields(a=TEXT)) | {"x-kubernetes-list-type": "set"}, "Invalid .items.x-kubernetes-map-type"),
    ("no keys", listed(fields(k=TEXT)) | {"x-kubernetes-list-type": "map"}, "Required .x-kubernetes-list-map-keys"),
    ("unknown key", keyed("z", k=TEXT), "Invalid .x-kubernetes-list-map-keys"),
    ("key may lack", keyed("k", k=TEXT) | {"items": fields(k=TEXT)}, "Required .items.properties[k].default"),
    ("key may be null", keyed("k", k=TEXT | {"nullable": True}), "Forbidden .items.properties[k].nullable"),
    ("keys of texts", keyed("k", k=TEXT) | {"items": TEXT}, "Invalid .items.type"),
    ("keys of no map", listed(fields(k=TEXT)) | {"x-kubernetes-list-map-keys": ["k"]}, "Required .x-kubernetes-list-type"),
    ("map type", {"type": "object", "x-kubernetes-map-type": "odd"}, "NotSupported .x-kubernetes-map-type"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "cause"), [row[1:] for row in NODES], ids=[row[0] for row in NODES]
)
async def test_a_schema_must_be_structural(wire: Wire, schema: Json, cause: str) -> None:
    reason, where = cause.split()

    answer = await ask(wire, version(whole(fields(v=schema))))

    answer.refused(422, "Invalid", f"FieldValue{reason} {HERE}{where}")


@pytest.mark.parametrize(
    "schema",
    [
        NUMBER | {"default": None},
        {"type": "object", "additionalProperties": False},
        TEXT | {"format": "no such format"},
        keyed("k", k=TEXT | {"default": "x"}),
    ],
    ids=["default null", "no additional", "unknown format", "key with default"],
)
async def test_odd_schemas_that_are_taken(wire: Wire, schema: Json) -> None:
    (await ask(wire, version(whole(fields(v=schema))))).made()


COLUMN = {"name": "A", "type": "string", "jsonPath": ".spec.a"}
SCALE = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}


@pytest.mark.parametrize(
    ("part", "value", "cause"),
    [
        ("additionalPrinterColumns", [COLUMN | {"name": ""}], "Required [0].name"),
        ("additionalPrinterColumns", [COLUMN | {"type": ""}], "Required [0].type"),
        ("additionalPrinterColumns", [COLUMN | {"type": "object"}], "Invalid [0].type"),
        ("additionalPrinterColumns", [COLUMN | {"format": "odd"}], "Invalid [0].format"),
        ("additionalPrinterColumns", [COLUMN, COLUMN | {"jsonPath": ""}], "Required [1].JSONPath"),
        ("additionalPrinterColumns", [COLUMN | {"jsonPath": "spec.a"}], "Invalid [0].JSONPath"),
        ("subresources", {"scale": SCALE | {"specReplicasPath": ""}}, "Required .scale.specReplicasPath"),
        ("subresources", {"scale": SCALE | {"specReplicasPath": "spec.n"}}, "Invalid .scale.specReplicasPath"),
        ("subresources", {"scale": SCALE | {"specReplicasPath": ".spec"}}, "Invalid .scale.specReplicasPath"),
        ("subresources", {"scale": SCALE | {"statusReplicasPath": ".spec.n"}}, "Invalid .scale.statusReplicasPath"),
        ("subresources", {"scale": SCALE | {"labelSelectorPath": ".metadata.labels"}}, "Invalid .scale.labelSelectorPath"),
        ("selectableFields", [{"jsonPath": ""}], "Required [0].jsonPath"),
        ("selectableFields", [{"jsonPath": "spec.a"}], "Invalid [0].jsonPath"),
        ("selectableFields", [{"jsonPath": ".spec.zzz"}], "Invalid [0].jsonPath"),
        ("selectableFields", [{"jsonPath": ".metadata.name"}], "Invalid [0].jsonPath"),
        ("selectableFields", [{"jsonPath": ".spec.l"}], "Invalid [0].jsonPath"),
        ("selectableFields", [{"jsonPath": ".spec.l[0]"}], "Invalid [0].jsonPath"),
        ("selectableFields", [{"jsonPath": ".spec.a"}] * 2, "Duplicate [1].jsonPath"),
    ],
    ids=str,
)  # fmt: skip
async def test_what_a_version_says_must_make_sense(
    wire: Wire, part: str, value: Any, cause: str
) -> None:
    reason, where = cause.split()
    schema = whole(fields(a=TEXT, n=NUMBER, l=listed(TEXT)))

    answer = await ask(wire, version(schema, **{part: value}))

    answer.refused(422, "Invalid", f"FieldValue{reason} spec.{part}{where}")


async def test_a_definition_says_what_was_accepted(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        found = (await wire.get(kind.definition)).ok()

        names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
        said = {it["type"]: (it["status"], it["reason"]) for it in found["status.conditions"]}
        assert found["spec.names"] == found["status.acceptedNames"] == names
        assert found["spec.conversion"] == {"strategy": "None"}
        assert found["status.storedVersions"] == ["v1"]
        assert said == {
            "NamesAccepted": ("True", "NoConflicts"),
            "Established": ("True", "InitialNamesAccepted"),
        }


OTHERS = {"plural": "others", "singular": "other", "kind": "Other", "shortNames": ["oo"]}


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ({"shortNames": ["thing"]}, ["shortNames"]),
        ({"singular": "thing"}, ["singular"]),
        ({"kind": "Thing", "listKind": "OtherList"}, ["kind"]),
        ({"kind": "Other", "listKind": "ThingList"}, ["listKind"]),
        ({"kind": "Thing"}, ["kind", "listKind"]),
        ({"kind": "Thing", "shortNames": ["thing"]}, ["kind", "shortNames", "listKind"]),
    ],
    ids=str,
)
async def test_names_that_are_taken_are_not_given_again(
    wire: Wire, wanted: Json, taken: list[str]
) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        names = OTHERS | wanted
        document = definition(kind.group, V1, names=names)
        document["metadata"]["name"] = f"others.{kind.group}"
        place = f"customresourcedefinitions/others.{kind.group}"
        (await wire.post("customresourcedefinitions", document)).made()

        async def is_told() -> Any:
            return (await wire.get(place))["status.conditions"]

        said = {it["type"]: (it["status"], it["reason"]) for it in await wire.until(is_told)}
        accepted = (await wire.get(place))["status.acceptedNames"]
        await wire.delete(place)
        reason = f"{taken[-1][0].upper()}{taken[-1][1:]}Conflict"
        assert said == {
            "NamesAccepted": ("False", reason),
            "Established": ("False", "NotAccepted"),
        }
        given = {"listKind": f"{names['kind']}List"} | names
        kept = {name: it for name, it in given.items() if name not in taken}
        assert accepted == {"kind": ""} | kept


async def test_a_kind_without_namespaces(wire: Wire) -> None:
    names = NAMES | {
        "singular": "it",
        "listKind": "Pile",
        "shortNames": ["th"],
        "categories": ["all"],
    }
    async with defined(wire, V1, scope="Cluster", names=names) as kind:
        made = await kind.made({"a": "x"})

        inside = await wire.get(f"/apis/{kind.group}/v1/namespaces/{wire.namespace}/things")
        everything = (await wire.get(kind.at())).ok()
        (resource,) = (await wire.get(f"/apis/{kind.group}/v1"))["resources"]
        assert (made["metadata.namespace"], inside.code) == (None, 404)
        assert (everything["kind"], everything.names) == ("Pile", ["a"])
        resource.pop("storageVersionHash", None)
        assert sorted(resource.pop("verbs")) == [
            *("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
        ]
        assert resource == {
            "name": "things",
            "singularName": "it",
            "namespaced": False,
            "kind": "Thing",
            "shortNames": ["th"],
            "categories": ["all"],
        }


async def test_objects_are_selected_by_the_fields_that_a_kind_names(wire: Wire) -> None:
    chosen = [{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.n"}]
    schema = fields(a=TEXT, n=NUMBER, z=TEXT)
    async with things(wire, schema, selectableFields=chosen) as kind:
        await kind.made({"a": "x", "n": 1}, "a")
        await kind.made({"a": "y", "n": 2}, "b")
        await kind.made({"n": 2}, "c")

        async def names(selector: str) -> list[str]:
            return (await wire.get(kind.at(), fieldSelector=selector)).ok().names

        assert await names("spec.a=y") == ["b"]
        assert await names("spec.a!=y") == ["a", "c"]
        assert await names("spec.n=2,spec.a=y") == ["b"]
        assert await names("metadata.name=a") == ["a"]
        refused = await wire.get(kind.at(), fieldSelector="spec.z=x")
        refused.refused(400, "BadRequest", says="field label not supported: spec.z")


async def test_a_definition_that_goes_is_shown(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        answer = (await wire.delete(kind.definition)).ok()

        assert (answer["kind"], answer.name) == (
            "CustomResourceDefinition",
            f"things.{kind.group}",
        )
        assert answer["metadata.finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]


async def test_whoever_converts_nothing_has_no_webhook(wire: Wire) -> None:
    hook = {"clientConfig": {"url": "https://a.example/b"}, "conversionReviewVersions": ["v1"]}

    (await ask(wire, V1, conversion={"strategy": "None", "webhook": hook})).refused(
        422,
        "Invalid",
        "FieldValueForbidden spec.conversion.webhookClientConfig",
        "FieldValueForbidden spec.conversion.conversionReviewVersions",
    )


@pytest.mark.differs('no conversion between versions of a custom kind but "None"')
async def test_a_webhook_may_convert(wire: Wire) -> None:
    hook = {"clientConfig": {"url": "https://a.example/b"}, "conversionReviewVersions": ["v1"]}

    (await ask(wire, V1, conversion={"strategy": "Webhook", "webhook": hook})).made()


async def test_items_are_not_a_list(wire: Wire) -> None:
    answer = await ask(wire, version(whole(fields(a={"type": "array", "items": [TEXT]}))))

    answer.refused(422, "Invalid", says="items must be a schema object and not an array")


@pytest.mark.parametrize("items", [True, 3, "x", None], ids=str)
async def test_items_that_are_no_schema_count_as_none(wire: Wire, items: Any) -> None:
    answer = await ask(wire, version(whole(fields(a={"type": "array", "items": items}))))

    where = "spec.validation.openAPIV3Schema.properties[spec].properties[a].items"
    answer.refused(422, "Invalid", f"FieldValueRequired {where}")


async def test_an_object_says_which_kind_it_is(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        made = await wire.post(kind.at(), kind.body() | {"kind": "Other"})
        made.refused(422, "Invalid", "FieldValueInvalid kind", says="must be Thing")

        await kind.made({})
        for field, other in (("kind", "Other"), ("apiVersion", f"{kind.group}/v2")):
            patched = await wire.patch(kind.at("a"), {field: other})
            patched.refused(422, "Invalid", f"FieldValueInvalid {field}", says=f"{other}")
