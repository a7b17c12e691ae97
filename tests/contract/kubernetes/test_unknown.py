"""What nobody knows: fields, names told twice, places and verbs, words of the query."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import Json, container, deployment, named, pod
from contract.kubernetes.custom import NUMBER, fields, things
from contract.kubernetes.wire import Answer, Wire

ODD: Json = {"metadata": {"name": "a", "nope": 1}, "data": {"a": "b"}, "other": {"x": 1}}
TOLD = ['unknown field "metadata.nope"', 'unknown field "other"']
NOT_FOUND = "the server could not find the requested resource"
NOT_ALLOWED = "the server does not allow this method on the requested resource"


def told(answer: Answer) -> list[str]:
    return sorted(it.replace("\\", "") for it in answer.warnings)


@pytest.mark.parametrize(
    "query", [{}, {"fieldValidation": ""}, {"fieldValidation": "Warn"}], ids=str
)
async def test_unknown_fields_are_dropped_with_a_warning(wire: Wire, query: Json) -> None:
    made = (await wire.post("configmaps", ODD, **query)).made()

    assert told(made) == TOLD
    assert (made["other"], made["metadata.nope"]) == (None, None)


async def test_or_without(wire: Wire) -> None:
    made = (await wire.post("configmaps", ODD, fieldValidation="Ignore")).made()

    assert (told(made), made["other"]) == ([], None)


@pytest.mark.parametrize("verb", ["POST", "PUT"])
async def test_or_refused(wire: Wire, verb: str) -> None:
    if verb == "PUT":
        (await wire.post("configmaps", named("a"))).made()

    path = "configmaps" if verb == "POST" else "configmaps/a"
    answer = await wire.ask(verb, path, ODD, fieldValidation="Strict")

    cannot = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
    answer.refused(400, "BadRequest", says=cannot + ", ".join(TOLD))
    assert answer.about == {}


@pytest.mark.parametrize("kind", ["merge", "strategic", "json"])
async def test_a_patch_with_unknown_fields_is_invalid_then(wire: Wire, kind: str) -> None:
    (await wire.post("configmaps", named("a"))).made()
    patch = [{"op": "add", "path": "/other", "value": 1}] if kind == "json" else {"other": 1}

    warned = await wire.patch("configmaps/a", patch, kind)
    answer = await wire.patch("configmaps/a", patch, kind, fieldValidation="Strict")

    assert told(warned.ok()) == ['unknown field "other"']
    answer.refused(
        422,
        "Invalid",
        "FieldValueInvalid patch",
        says='strict decoding error: unknown field "other"',
    )
    assert answer.about == {}


async def test_their_places_are_told(wire: Wire) -> None:
    odd = container("c", frob=1, env=[{"name": "A", "nope": 2}])

    made = (await wire.post("deployments", deployment("a", odd))).made()

    place = "spec.template.spec.containers[0]"
    assert told(made) == [f'unknown field "{place}.env[0].nope"', f'unknown field "{place}.frob"']


async def test_names_are_told_apart_by_their_case(wire: Wire) -> None:
    made = (await wire.post("configmaps", named("a", Data={"x": "1"}))).made()

    assert (told(made), made["data"]) == (['unknown field "Data"'], None)


async def test_not_all_are_told(wire: Wire) -> None:
    made = (await wire.post("configmaps", named("a", **{f"u{it}": 1 for it in range(110)}))).made()

    assert len(made.warnings) == 100


async def test_what_is_said_twice_counts_the_last_time(wire: Wire) -> None:
    text = '{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'

    refused = await wire.post("configmaps", text, fieldValidation="Strict")
    made = (await wire.post("configmaps", text)).made()

    refused.refused(400, "BadRequest", says='strict decoding error: duplicate field "data.x"')
    assert (told(made), made["data"]) == (['duplicate field "data.x"'], {"x": "2"})


async def test_both_are_told_at_once(wire: Wire) -> None:
    text = '{"metadata":{"name":"a"},"nope":1,"data":{"x":"1","x":"2"}}'

    answer = await wire.post("configmaps", text, fieldValidation="Strict")

    answer.refused(400, "BadRequest", says='unknown field "nope", duplicate field "data.x"')


async def test_a_patch_may_stammer_too(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()
    text = '{"data":{"x":"1","x":"2"}}'

    warned = await wire.patch("configmaps/a", text)
    answer = await wire.patch("configmaps/a", text, fieldValidation="Strict")

    assert told(warned.ok()) == ['duplicate field "data.x"']
    answer.refused(422, "Invalid", "FieldValueInvalid patch")


async def test_fields_of_a_custom_kind(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        body = kind.body("a", spec={"size": 1, "nope": 2}, other=3)
        strict = await wire.post(kind.at(), body, fieldValidation="Strict")
        ignored = await wire.post(
            kind.at(), body | {"metadata": {"name": "b"}}, fieldValidation="Ignore"
        )
        warned = await wire.post(kind.at(), body)
        patched = await wire.patch(kind.at("a"), {"spec": {"nope": 2}}, fieldValidation="Strict")

    strict.refused(
        400,
        "BadRequest",
        says='Thing in version "v1" cannot be handled as a Thing: strict decoding error',
    )
    assert told(ignored.made()) == []
    assert told(warned.made()) == ['unknown field "other"', 'unknown field "spec.nope"']
    assert (warned["spec"], warned["other"]) == ({"size": 1}, None)
    patched.refused(422, "Invalid", "FieldValueInvalid patch")


@pytest.mark.parametrize("word", ["Frob", "strict"])
async def test_another_word_for_it(wire: Wire, word: str) -> None:
    answer = await wire.post("configmaps", named("a"), fieldValidation=word)

    answer.refused(422, "Invalid", "FieldValueNotSupported fieldValidation")
    assert answer.about == {"group": "meta.k8s.io", "kind": "CreateOptions"}


@pytest.mark.parametrize(
    "path",
    [
        "/api/v2",
        "/api/v2/pods",
        "/api/v1/nope",
        "/api/v1/Pods",
        "/apis/apps/v9",
        "/apis/apps/v9/deployments",
        "/apis/apps/v1/nope",
        "nope/a",
        "pods/a/nope",
        "configmaps/a/status",
        "configmaps/a/b/c",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/configmaps/a",
    ],
)
@pytest.mark.parametrize("verb", ["GET", "PUT"])
async def test_a_place_that_there_is_not(wire: Wire, verb: str, path: str) -> None:
    answer = await wire.ask(verb, path, named("a") if verb == "PUT" else None)

    answer.refused(404, "NotFound", says=NOT_FOUND)
    assert answer.about == {}


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/API/v1/pods",
        "/healthz/nope",
        "/apis/nope.example",
        "/apis/nope.example/v1/things",
    ],
)
async def test_beyond_the_known_groups_it_is_only_a_page(wire: Wire, path: str) -> None:
    answer = await wire.get(path)

    assert (answer.code, answer.body) == (404, "404 page not found\n")


async def test_so_is_what_a_custom_group_does_not_have(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        plural = await wire.get(kind.at().removesuffix("s"))
        version = await wire.get(kind.at(version="v9"))

    assert [(it.code, it.body) for it in (plural, version)] == [(404, "404 page not found\n")] * 2


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("POST", "configmaps/a"),
        ("PUT", "configmaps"),
        ("PATCH", "configmaps"),
        ("OPTIONS", "configmaps/a"),
        ("POST", "pods/a/log"),
        ("GET", "pods/a/eviction"),
        ("GET", "pods/a/binding"),
        ("DELETE", "deployments/a/scale"),
        ("POST", "/api/v1/pods"),
        ("POST", "/apis/apps/v1/deployments"),
        ("PUT", "/api/v1/pods"),
        ("DELETE", "/api/v1/pods"),
        ("DELETE", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
        ("GET", "/api/v1/namespaces/default/finalize"),
        ("GET", "selfsubjectaccessreviews"),
        ("POST", "/api/v1"),
        ("DELETE", "/apis/apps/v1"),
        ("PUT", "/version"),
    ],
)
async def test_a_verb_that_a_place_does_not_have(wire: Wire, verb: str, path: str) -> None:
    (await wire.post("pods", pod())).made()
    body = named("a") if verb in {"POST", "PUT"} else {} if verb == "PATCH" else None

    answer = await wire.ask(verb, path, body)

    answer.refused(405, "MethodNotAllowed", says=NOT_ALLOWED)
    assert answer.about == {}


@pytest.mark.parametrize("query", [{"frob": "x"}, {"pretty": "frob"}, {"pretty": "true"}], ids=str)
async def test_unknown_words_of_a_query_mean_nothing(wire: Wire, query: Json) -> None:
    made = (await wire.post("configmaps", named("a"), **query)).made()

    assert (await wire.get("configmaps/a", **query)).ok().body == made.body


@pytest.mark.parametrize(
    ("verb", "kind"),
    [("POST", "CreateOptions"), ("PUT", "UpdateOptions"), ("PATCH", "PatchOptions")],
)
@pytest.mark.parametrize(
    ("manager", "cause"),
    [("x" * 129, "FieldValueTooLong"), ("a\tb", "FieldValueInvalid")],
    ids=["long", "odd"],
)
async def test_a_manager_has_a_name_that_can_be_shown(
    wire: Wire, verb: str, kind: str, manager: str, cause: str
) -> None:
    (await wire.post("configmaps", named("a"))).made()
    headers = {"Content-Type": "application/merge-patch+json"} if verb == "PATCH" else None

    path = "configmaps" if verb == "POST" else "configmaps/a"
    answer = await wire.ask(verb, path, named("a"), headers=headers, fieldManager=manager)

    answer.refused(
        422, "Invalid", f"{cause} fieldManager", says=f'{kind}.meta.k8s.io "" is invalid'
    )
    assert answer.about == {"group": "meta.k8s.io", "kind": kind}


async def test_what_cannot_be_shown_is_not_done(wire: Wire) -> None:
    answer = await wire.ask("POST", "configmaps", named("a"), headers={"Accept": "text/html"})

    answer.refused(406, "NotAcceptable")
    (await wire.get("configmaps/a")).refused(404, "NotFound")
