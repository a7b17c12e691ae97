"""Requests that make sense to nobody, and what they get for it."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import named
from contract.kubernetes.custom import NUMBER, OPEN, fields, things
from contract.kubernetes.shapes import owner
from contract.kubernetes.wire import Wire

MEDIA = "application/json;as={};v=v1;g=meta.k8s.io"


async def test_null_is_an_object_that_says_nothing(wire: Wire) -> None:
    answer = await wire.ask("POST", "configmaps", "null")
    answer.refused(422, "Invalid", "FieldValueRequired metadata.name")

    (await wire.post("configmaps", named("a", data={"x": "1"}))).made()
    (await wire.ask("PUT", "configmaps/a", "null")).refused(400, "BadRequest")


@pytest.mark.parametrize("kind", ["json", "strategic"])
async def test_null_is_a_patch_that_changes_nothing(wire: Wire, kind: str) -> None:
    (await wire.post("configmaps", named("a", data={"x": "1"}))).made()

    assert (await wire.patch("configmaps/a", "null", kind)).ok()["data"] == {"x": "1"}


async def test_null_is_no_merge_patch_and_no_custom_object(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()
    (await wire.patch("configmaps/a", "null")).refused(400, "BadRequest")

    async with things(wire, OPEN) as kind:
        (await wire.ask("POST", kind.at(), "null")).refused(400, "BadRequest")


@pytest.mark.parametrize("verb", ["POST", "PUT", "PATCH"])
async def test_a_rehearsal_has_a_name(wire: Wire, verb: str) -> None:
    (await wire.post("configmaps", named("a"))).made()
    merge = {"Content-Type": "application/merge-patch+json"} if verb == "PATCH" else {}
    path = "configmaps" if verb == "POST" else "configmaps/a"

    answer = await wire.ask(verb, path, named("a"), headers=merge, dryRun="")

    answer.refused(422, "Invalid", "FieldValueNotSupported dryRun")


async def test_a_rehearsed_deletion_has_a_name(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.delete("configmaps/a", dryRun="")

    answer.refused(422, "Invalid", "FieldValueNotSupported dryRun")


@pytest.mark.parametrize("verb", ["GET", "POST"])
@pytest.mark.parametrize("path", ["//api/v1/namespaces", "/apis//apps", "/apis//apps/v1"])
async def test_no_part_of_a_path_is_empty(wire: Wire, verb: str, path: str) -> None:
    answer = await wire.ask(verb, path, None if verb == "GET" else {})

    assert (answer.code, answer.body) == (404, "404 page not found\n")


@pytest.mark.parametrize("path", ["/api//v1/namespaces", "/api/v1//namespaces"])
async def test_below_the_core_group_that_is_told_in_a_document(wire: Wire, path: str) -> None:
    (await wire.get(path)).refused(404, "NotFound")


@pytest.mark.parametrize(
    "body",
    [
        b'{"metadata":{"name":"a"},"data":{"x":"\\ud800"}}',
        b'{"metadata":{"name":"a"},"data":{"x":"\xff"}}',
    ],
    ids=["half a character", "no character"],
)
@pytest.mark.differs("A text that is not Unicode is refused, not mended")
async def test_what_is_no_text_is_mended(wire: Wire, body: bytes) -> None:
    assert (await wire.ask("POST", "configmaps", body)).made()["data"] == {"x": "\ufffd"}


@pytest.mark.parametrize("path", ["configmaps", "configmaps/a"])
async def test_a_pattern_of_media_types_is_none(wire: Wire, path: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    (await wire.get(path, accept="application/*")).refused(406, "NotAcceptable")
    (await wire.get(path, accept="application/*,*/*")).ok()


@pytest.mark.parametrize(
    ("path", "form"),
    [("configmaps", "PartialObjectMetadata"), ("configmaps/a", "PartialObjectMetadataList")],
)
async def test_one_is_not_many(wire: Wire, path: str, form: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    for accept in (MEDIA.format(form), f"{MEDIA.format(form)},application/json"):
        answer = await wire.get(path, accept=accept)
        answer.refused(
            406, "NotAcceptable", says=f"you requested {form}, but the requested object is"
        )


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_health_in_parts(wire: Wire, path: str) -> None:
    for part in ("/ping", ""):
        assert (await wire.get(path + part)).ok().body == "ok"
    told = (await wire.get(path, verbose="")).ok().body

    assert told.startswith("[+]ping ok\n")
    assert told.endswith(f"{path[1:]} check passed\n")
    assert (await wire.get(f"{path}/nope")).code == 404


@pytest.mark.differs("that 1.0 is 1 is no change")
async def test_a_whole_number_with_a_point_is_a_change(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        await kind.made({"size": 1})

        answer = (await wire.patch(kind.at("a"), '{"spec":{"size":1.0}}')).ok()

        assert (answer["spec"], answer["metadata.generation"]) == ({"size": 1}, 2)


@pytest.mark.differs("labels sent to its status leave no trace")
async def test_labels_that_a_status_may_not_set_are_still_owned(wire: Wire) -> None:
    async with things(wire, OPEN, subresources={"status": {}}) as kind:
        made = await kind.made({})

        answer = await wire.patch(f"{kind.at('a')}/status", {"metadata": {"labels": {"x": "y"}}})

        assert answer.ok()["metadata.labels"] is None
        assert answer.revision != made.revision


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ([{"op": "add", "path": "data/x", "value": "1"}], "json"),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": "x"}}, "strategic"),
    ],
    ids=str,
)
@pytest.mark.differs(
    "a path of a JSON patch must begin with a slash, and a directive of a strategic one must be a list"
)
async def test_patches_that_nobody_meant(wire: Wire, patch: Any, kind: str) -> None:
    (await wire.post("configmaps", named("a", data={"x": "0"}))).made()

    assert (await wire.patch("configmaps/a", patch, kind)).ok()["data"] == {"x": "0"}


@pytest.mark.differs("who applies an owner twice is not refused")
async def test_an_owner_is_applied_once(wire: Wire) -> None:
    mine = owner((await wire.post("configmaps", named("owner"))).made())
    meta = {"name": "a", "ownerReferences": [mine, mine]}

    answer = await wire.apply(
        "configmaps/a", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    )

    answer.refused(500, "", says="duplicate entries for key")


async def test_a_letter_is_an_answer_in_yaml(wire: Wire) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: y\ndata: {n: 'x'}\n"

    made = (await wire.apply("configmaps/a", text)).made()

    assert (made["immutable"], made["data"]) == (True, {"false": "x"})


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_body_that_cannot_be_unpacked_ends_nothing_but_itself(
    wire: Wire, coding: str
) -> None:
    headers = {"Content-Encoding": coding}

    answer = await wire.ask("POST", "configmaps", b"nonsense", headers=headers)

    answer.refused(400, "BadRequest")
    (await wire.post("configmaps", named("a"))).made()


@pytest.mark.parametrize("path", ["/api/v1", "/apis/apps", "/apis/apps/v1", "/version"])
async def test_what_describes_the_api_is_no_page(wire: Wire, path: str) -> None:
    (await wire.get(path, accept="text/html")).refused(406, "NotAcceptable")
    (await wire.get(path, accept="text/html,*/*")).ok()


@pytest.mark.parametrize(
    ("patch", "code", "reason"),
    [
        ({"kind": None}, 422, "Invalid"),
        ({"kind": ""}, 422, "Invalid"),
        ({"apiVersion": None}, 500, "InternalError"),
        ({"apiVersion": ""}, 500, "InternalError"),
    ],
    ids=str,
)
async def test_a_custom_object_stays_what_it_is(
    wire: Wire, patch: Any, code: int, reason: str
) -> None:
    async with things(wire, OPEN) as kind:
        await kind.made({})

        (await wire.patch(kind.at("a"), patch)).refused(code, reason)


async def test_a_kind_that_is_not_said_is_known_by_its_path(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    for kind in (None, ""):
        assert (await wire.patch("configmaps/a", {"kind": kind})).ok()["kind"] == "ConfigMap"
    (await wire.patch("configmaps/a", {"kind": []})).refused(422, "Invalid")
    (await wire.patch("configmaps/a", {"apiVersion": None})).refused(400, "BadRequest")
