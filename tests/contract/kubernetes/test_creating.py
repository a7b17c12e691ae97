"""Creating: which bodies are read as which objects, and what of them is the server's to say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contract.kubernetes.bodies import Json, deployment, named, pod, service
from contract.kubernetes.custom import NUMBER, fields, things
from contract.kubernetes.wire import Wire

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


@pytest.mark.parametrize("types", [{"kind": "ConfigMap"}, {"apiVersion": "v1"}, {}], ids=str)
async def test_a_built_in_object_need_not_say_what_it_is(wire: Wire, types: Json) -> None:
    made = (await wire.post("configmaps", named("a") | types)).made()

    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")


@pytest.mark.parametrize(
    "types",
    [
        {"kind": "Secret", "apiVersion": "v1"},
        {"kind": "Deployment", "apiVersion": "apps/v1"},
        {"kind": "Nothing", "apiVersion": "v1"},
        {"apiVersion": "v2"},
    ],
    ids=str,
)
async def test_but_not_something_else(wire: Wire, types: Json) -> None:
    answer = await wire.post("configmaps", named("a") | types)

    answer.refused(400, "BadRequest")
    assert answer.about == {}


async def test_an_object_of_a_custom_kind_must_say_it(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        body = kind.body("a")
        for missing in ("kind", "apiVersion"):
            answer = await wire.post(kind.at(), {k: v for k, v in body.items() if k != missing})
            answer.refused(400, "BadRequest")
        other = await wire.post(kind.at(), body | {"apiVersion": f"{kind.group}/v9"})

    other.refused(400, "BadRequest", says="does not match the expected API version")


async def test_an_object_belongs_where_it_is_sent(wire: Wire) -> None:
    body = {"metadata": {"name": "a", "namespace": wire.elsewhere}}

    answer = await wire.post("configmaps", body)

    answer.refused(400, "BadRequest", says="does not match the namespace sent on the request")
    assert answer.about == {}


async def test_what_has_no_namespace_takes_none(wire: Wire) -> None:
    body = {"metadata": {"name": f"{wire.namespace}-c", "namespace": wire.namespace}}

    answer = await wire.post("namespaces", body, dryRun="All")

    assert answer.made()["metadata.namespace"] is None


async def test_nothing_is_made_in_a_namespace_that_is_not_there(wire: Wire) -> None:
    answer = await wire.post("/api/v1/namespaces/nowhere-at-all/configmaps", named("a"))

    answer.refused(404, "NotFound", says='namespaces "nowhere-at-all" not found')
    assert answer.about == {"name": "nowhere-at-all", "kind": "namespaces"}


@pytest.mark.parametrize(
    "body",
    [
        "{not json",
        "",
        "[]",
        '"text"',
        "1",
        '{"metadata":{"name":"a"}} more',
        '{"metadata":{"name":"a"}}{}',
        '{"data":{"a":"a\ttab"}}',
        b'\xef\xbb\xbf{"metadata":{"name":"a"}}',
    ],
)
async def test_a_body_is_one_object_in_json(wire: Wire, body: str | bytes) -> None:
    answer = await wire.post("configmaps", body)

    answer.refused(400, "BadRequest")
    assert answer.about == {}


@pytest.mark.parametrize("media", ["text/plain", "application/xml", "application/merge-patch+json"])
async def test_a_body_is_in_a_form_that_is_known(wire: Wire, media: str) -> None:
    answer = await wire.ask("POST", "configmaps", "{}", headers={"Content-Type": media})

    answer.refused(
        415,
        "UnsupportedMediaType",
        says="accepted media types include: application/json, application/yaml",
    )
    assert answer.about == {}


@pytest.mark.parametrize("media", ["", "application/json; charset=utf-8"])
async def test_what_is_not_said_to_be_otherwise_is_json(wire: Wire, media: str) -> None:
    body = json.dumps(named("a")).encode()

    (await wire.ask("POST", "configmaps", body, headers={"Content-Type": media})).made()


async def test_a_body_can_be_yaml(wire: Wire) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    one\n    two\n"
    )

    made = await wire.ask("POST", "configmaps", text, headers={"Content-Type": "application/yaml"})

    assert made.made()["data"] == {"x": "one\ntwo\n"}


async def test_but_it_must_be_some(wire: Wire) -> None:
    answer = await wire.ask(
        "POST", "configmaps", "a: [1", headers={"Content-Type": "application/yaml"}
    )

    answer.refused(400, "BadRequest")


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": "a"},
        {"metadata": {"name": 1}},
        {"metadata": {"name": "a", "labels": ["x"]}},
        {"metadata": {"name": "a", "labels": {"x": 1}}},
        {"metadata": {"name": "a", "creationTimestamp": "yesterday"}},
        {"metadata": {"name": "a", "finalizers": [1]}},
        {"metadata": {"name": "a", "ownerReferences": "x"}},
        {"metadata": {"name": "a", "ownerReferences": [OWNER | {"controller": "yes"}]}},
        {"metadata": {"name": "a"}, "data": "x"},
        {"metadata": {"name": "a"}, "data": {"x": 1}},
        {"metadata": {"name": "a"}, "binaryData": {"x": "%"}},
        {"metadata": {"name": "a"}, "immutable": "yes"},
    ],
    ids=str,
)
async def test_fields_have_types(wire: Wire, body: Json) -> None:
    answer = await wire.post("configmaps", body)

    answer.refused(400, "BadRequest")
    assert answer.about == {}


async def test_a_new_object_has_no_revision_yet(wire: Wire) -> None:
    answer = await wire.post("configmaps", {"metadata": {"name": "a", "resourceVersion": "1"}})

    answer.refused(500, "", says="resourceVersion should not be set on objects to be created")


async def test_revision_zero_is_none(wire: Wire) -> None:
    (await wire.post("configmaps", {"metadata": {"name": "a", "resourceVersion": "0"}})).made()


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("uid", "mine"),
        ("creationTimestamp", "2001-01-01T00:00:00Z"),
        ("deletionTimestamp", "2001-01-01T00:00:00Z"),
        ("deletionGracePeriodSeconds", 5),
        ("selfLink", "/mine"),
        ("managedFields", [{"manager": "mine", "operation": "Update", "apiVersion": "v1"}]),
    ],
)
async def test_what_is_the_servers_to_say(wire: Wire, field: str, sent: Any) -> None:
    made = await wire.post("configmaps", {"metadata": {"name": "a", field: sent}})

    assert made.made()[f"metadata.{field}"] != sent


@pytest.mark.parametrize(
    ("path", "body", "causes"),
    [
        (
            "deployments",
            named("a"),
            [
                "FieldValueRequired spec.selector",
                "FieldValueInvalid spec.template.metadata.labels",
                "FieldValueRequired spec.template.spec.containers",
            ],
        ),
        ("deployments", deployment("a", replicas=-1), ["FieldValueInvalid spec.replicas"]),
        ("pods", pod("a", containers=[]), ["FieldValueRequired spec.containers"]),
        (
            "pods",
            pod("a", containers=[{"name": "c", "image": "i"}] * 2),
            ["FieldValueDuplicate spec.containers[1].name"],
        ),
        (
            "pods",
            pod("a", containers=[{"name": "C", "image": ""}]),
            [
                "FieldValueInvalid spec.containers[0].name",
                "FieldValueRequired spec.containers[0].image",
            ],
        ),
        (
            "services",
            service("a", {"port": 0}),
            ["FieldValueInvalid spec.ports[0].port", "FieldValueInvalid spec.ports[0].targetPort"],
        ),
    ],
    ids=str,
)
async def test_all_that_is_wrong_is_told_with_its_place(
    wire: Wire, path: str, body: Json, causes: list[str]
) -> None:
    answer = await wire.post(path, body)

    answer.refused(422, "Invalid", *causes)


async def test_an_invalid_object_is_called_by_its_kind_and_group(wire: Wire) -> None:
    answer = await wire.post("deployments", deployment("a", replicas=-1))

    answer.refused(
        422, "Invalid", says='Deployment.apps "a" is invalid: spec.replicas: Invalid value: -1'
    )
    assert answer.about == {"name": "a", "group": "apps", "kind": "Deployment"}


async def test_a_secret_takes_plain_words_and_keeps_them_in_base64(wire: Wire) -> None:
    body = named("a", data={"a": "YQ=="}, stringData={"a": "ü", "b": "x"})

    made = (await wire.post("secrets", body)).made()

    assert made["data"] == {"a": "w7w=", "b": "eA=="}
    assert (made["stringData"], made["type"]) == (None, "Opaque")


async def test_words_of_all_tongues_are_kept(wire: Wire) -> None:
    words = {"k": "ünï\u0000 🎉", "a.b-c_D": "x"}
    note = {"a": "日本語 🎉 \u200d\n"}

    body = {"metadata": {"name": "a", "annotations": note}, "data": words}
    made = (await wire.post("configmaps", body)).made()

    assert (made["data"], made["metadata.annotations"]) == (words, note)
    assert (await wire.get("configmaps/a"))["data"] == words


@pytest.mark.parametrize("key", ["ü", "..", "", "a/b", "a" * 254])
async def test_but_a_key_is_the_name_of_a_file(wire: Wire, key: str) -> None:
    answer = await wire.post("configmaps", named("a", data={key: "x"}))

    answer.refused(422, "Invalid", f"FieldValueInvalid data[{key}]")


async def test_a_key_is_text_or_bytes(wire: Wire) -> None:
    answer = await wire.post("configmaps", named("a", data={"x": "1"}, binaryData={"x": "YQ=="}))

    answer.refused(422, "Invalid", "FieldValueInvalid data[x]")


async def test_a_refused_object_is_nowhere(wire: Wire) -> None:
    (await wire.post("configmaps", named("a", data={"/": "x"}))).refused(422, "Invalid")

    (await wire.get("configmaps/a")).refused(404, "NotFound")
