"""Merge patches: what they set, what they cannot, and how nonsense is refused."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import Json, container, deployment, named
from contract.kubernetes.custom import NUMBER, TEXT, fields, listed, mapped, things
from contract.kubernetes.wire import Wire


@pytest.mark.parametrize(
    ("patch", "left"),
    [
        ({"data": {"x": "9"}}, {"x": "9", "y": "2"}),
        ({"data": {"x": None}}, {"y": "2"}),
        ({"data": {"z": None}}, {"x": "1", "y": "2"}),
        ({"data": None}, None),
        ({"data": {}}, {"x": "1", "y": "2"}),
        ({}, {"x": "1", "y": "2"}),
    ],
    ids=str,
)
async def test_what_is_named_is_set_and_null_removes(
    wire: Wire, patch: Json, left: Json | None
) -> None:
    (await wire.post("configmaps", named("a", data={"x": "1", "y": "2"}))).made()

    assert (await wire.patch("configmaps/a", patch)).ok()["data"] == left


async def test_a_list_is_replaced_whole(wire: Wire) -> None:
    (await wire.post("deployments", deployment("a", container("a"), container("b")))).made()

    now = await wire.patch(
        "deployments/a", {"spec": {"template": {"spec": {"containers": [container("c")]}}}}
    )

    assert [it["name"] for it in now.ok()["spec.template.spec.containers"]] == ["c"]


async def test_a_null_of_a_default_brings_the_default_back(wire: Wire) -> None:
    (await wire.post("deployments", deployment("a", revisionHistoryLimit=3))).made()

    now = await wire.patch("deployments/a", {"spec": {"revisionHistoryLimit": None}})

    assert now.ok()["spec.revisionHistoryLimit"] == 10


async def test_a_custom_object_is_merged_as_json(wire: Wire) -> None:
    async with things(wire, fields(words=listed(TEXT), limits=mapped(TEXT), size=NUMBER)) as kind:
        await kind.made({"words": ["a", "b"], "limits": {"x": "1", "y": "2"}, "size": 1})
        now = await kind.change({"words": ["c"], "limits": {"x": None, "z": "3"}})

    assert now.ok()["spec"] == {"words": ["c"], "limits": {"y": "2", "z": "3"}, "size": 1}


@pytest.mark.parametrize("body", ["{nope", "", "[]", '"text"', "null"])
async def test_a_patch_is_an_object(wire: Wire, body: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.patch("configmaps/a", body)

    answer.refused(400, "BadRequest")
    assert answer.about == {}


@pytest.mark.parametrize("media", ["application/json", "text/plain", "application/yaml"])
async def test_a_patch_says_what_kind_it_is(wire: Wire, media: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.ask("PATCH", "configmaps/a", "{}", headers={"Content-Type": media})

    answer.refused(415, "UnsupportedMediaType")
    assert answer.about == {}


@pytest.mark.parametrize("kind", ["merge", "json", "strategic"])
async def test_nothing_cannot_be_patched(wire: Wire, kind: str) -> None:
    answer = await wire.patch("configmaps/a", [] if kind == "json" else {}, kind)

    answer.refused(404, "NotFound", says='configmaps "a" not found')


@pytest.mark.parametrize("kind", ["merge", "strategic"])
@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"name": "b"}, "the name of the object (b) does not match the name on the URL (a)"),
        ({"name": None}, ""),
        ({"namespace": "default"}, "does not match the namespace sent on the request"),
        (None, ""),
    ],
    ids=str,
)
async def test_an_object_stays_where_it_is(
    wire: Wire, kind: str, metadata: Json | None, says: str
) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.patch("configmaps/a", {"metadata": metadata}, kind)

    answer.refused(400, "BadRequest", says=says)
    assert answer.about == {}


@pytest.mark.parametrize("kind", ["merge", "strategic"])
@pytest.mark.parametrize("field", ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"])
async def test_and_what_it_is(wire: Wire, kind: str, field: str) -> None:
    (await wire.post("configmaps", named("a"))).made()
    sent = {
        "uid": "b",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3,
    }

    answer = await wire.patch("configmaps/a", {"metadata": {field: sent[field]}}, kind)

    answer.refused(
        422, "Invalid", says=f'ConfigMap "a" is invalid: metadata.{field}: Invalid value'
    )
    assert set(answer.causes) == {f"FieldValueInvalid metadata.{field}"}


@pytest.mark.parametrize("kind", ["merge", "strategic"])
@pytest.mark.parametrize(
    "metadata", [{"namespace": None}, {"creationTimestamp": "2001-01-01T00:00:00Z"}], ids=str
)
async def test_what_a_patch_tries_in_vain(wire: Wire, kind: str, metadata: Json) -> None:
    made = (await wire.post("configmaps", named("a"))).made()

    now = await wire.patch("configmaps/a", {"metadata": metadata}, kind)

    assert now.ok()["metadata"] == made["metadata"]


@pytest.mark.parametrize("types", [{"kind": "Secret"}, {"apiVersion": "v2"}], ids=str)
async def test_a_merge_patch_does_not_change_the_kind(wire: Wire, types: Json) -> None:
    (await wire.post("configmaps", named("a"))).made()

    merged = await wire.patch("configmaps/a", types)
    strategic = await wire.patch("configmaps/a", types, "strategic")

    merged.refused(422, "Invalid", "FieldValueInvalid patch")
    assert merged.about == {}
    assert (strategic.ok()["apiVersion"], strategic["kind"]) == ("v1", "ConfigMap")


@pytest.mark.parametrize("kind", ["merge", "strategic"])
@pytest.mark.parametrize("data", [{"x": 1}, "text", {"x": {"y": "z"}}], ids=str)
async def test_what_cannot_be_read_after_a_patch(wire: Wire, kind: str, data: Json | str) -> None:
    (await wire.post("configmaps", named("a", data={"x": "1"}))).made()

    answer = await wire.patch("configmaps/a", {"data": data}, kind)

    answer.refused(422, "Invalid", "FieldValueInvalid patch")
    assert answer.about == {}
    assert (await wire.get("configmaps/a"))["data"] == {"x": "1"}


@pytest.mark.parametrize("kind", ["merge", "strategic"])
async def test_a_patch_may_insist_on_a_version(wire: Wire, kind: str) -> None:
    made = (await wire.post("configmaps", named("a"))).made()

    stale = await wire.patch(
        "configmaps/a", {"metadata": {"resourceVersion": "1"}, "data": {"x": "1"}}, kind
    )
    right = await wire.patch(
        "configmaps/a", {"metadata": {"resourceVersion": made.revision}, "data": {"x": "1"}}, kind
    )

    stale.refused(409, "Conflict", says="the object has been modified")
    assert stale.about == {"name": "a", "kind": "configmaps"}
    assert right.ok()["data"] == {"x": "1"}


@pytest.mark.parametrize("revision", [None, "0"])
async def test_or_on_none(wire: Wire, revision: str | None) -> None:
    (await wire.post("configmaps", named("a"))).made()

    now = await wire.patch(
        "configmaps/a", {"metadata": {"resourceVersion": revision}, "data": {"x": "1"}}
    )

    assert now.ok()["data"] == {"x": "1"}


async def test_only_appliers_use_force(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.patch("configmaps/a", {}, force=True)

    answer.refused(
        422, "Invalid", "FieldValueForbidden force", says='PatchOptions.meta.k8s.io "" is invalid'
    )
    assert answer.about == {"group": "meta.k8s.io", "kind": "PatchOptions"}
