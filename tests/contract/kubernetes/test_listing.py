"""Lists: their shape, which version of things they show, and in which form."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, fields, things
from contract.kubernetes.wire import Wire

#: A revision that no server of a story ever gets to.
FUTURE = "999999999"
_META = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_META_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def _three(wire: Wire) -> None:
    for name in ("a", "b", "c"):
        (await wire.post("configmaps", {"metadata": {"name": name}, "data": {"x": "1"}})).made()


# ------------------------------------------------------------------ shape
async def test_only_the_list_says_of_which_kind_its_items_are(wire: Wire) -> None:
    await _three(wire)

    answer = (await wire.get("configmaps")).ok()

    assert (answer["kind"], answer["apiVersion"]) == ("ConfigMapList", "v1")
    assert int(answer.revision) > 0
    assert answer["items.0"].keys() == {"metadata", "data"}


async def test_an_empty_list_is_a_list(wire: Wire) -> None:
    answer = (await wire.get("pods")).ok()

    assert answer["items"] == []
    assert answer["metadata"].keys() == {"resourceVersion"}


async def test_items_of_a_custom_kind_say_it_themselves(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        await kind.made({"size": 1})

        answer = (await wire.get(kind.at())).ok()

        assert (answer["kind"], answer["apiVersion"]) == ("ThingList", f"{kind.group}/v1")
        assert (answer["items.0.kind"], answer["items.0.apiVersion"]) == (
            "Thing",
            f"{kind.group}/v1",
        )


async def test_one_object_says_its_kind(wire: Wire) -> None:
    await _three(wire)

    answer = (await wire.get("configmaps/a")).ok()

    assert (answer["kind"], answer["apiVersion"]) == ("ConfigMap", "v1")


# ------------------------------------------------------------------ forms
async def test_metadata_alone(wire: Wire) -> None:
    (await wire.post("secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}})).made()

    one = (await wire.get("secrets/s", accept=_META)).ok()
    many = (await wire.get("secrets", accept=_META_LIST)).ok()

    assert one.body.keys() == {"kind", "apiVersion", "metadata"}
    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert (many["kind"], many["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert many["items.0"].keys() == {"kind", "apiVersion", "metadata"}
    assert many["items.0.kind"] == "PartialObjectMetadata"


async def test_a_new_object_can_be_answered_with_its_metadata(wire: Wire) -> None:
    body = {"metadata": {"name": "s"}, "stringData": {"a": "b"}}

    made = await wire.ask("POST", "secrets", body, headers={"Accept": _META})

    assert made.made().body.keys() == {"kind", "apiVersion", "metadata"}


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("secrets", "text/html"),
        ("secrets", "application/xml"),
        ("secrets", "application/json;as=Nope;g=meta.k8s.io;v=v1"),
        ("secrets", "application/json;as=Table;g=meta.k8s.io;v=v9"),
        ("secrets", _META),
        ("secrets/s", _META_LIST),
    ],
)
async def test_a_form_that_nobody_has(wire: Wire, path: str, accept: str) -> None:
    (await wire.post("secrets", {"metadata": {"name": "s"}})).made()

    answer = await wire.get(path, accept=accept)

    answer.refused(406, "NotAcceptable")


@pytest.mark.parametrize(
    "accept", ["*/*", "", "text/html, application/json", "application/json;q=0.9,*/*;q=0.8"]
)
async def test_json_is_for_everybody(wire: Wire, accept: str) -> None:
    answer = (await wire.get("secrets", accept=accept)).ok()

    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.differs("Answers are JSON.")
async def test_yaml_is_for_those_who_want_it(wire: Wire) -> None:
    answer = await wire.get("secrets", accept="application/yaml")

    assert (answer.code, answer.headers["Content-Type"]) == (200, "application/yaml")


# ------------------------------------------------------------------ which version
@pytest.mark.parametrize("query", [{"resourceVersionMatch": "Exact"}, {"limit": 500}], ids=str)
async def test_a_list_of_the_past(wire: Wire, query: dict[str, Any]) -> None:
    await _three(wire)
    then = (await wire.get("configmaps")).revision
    (await wire.delete("configmaps/b")).ok()
    (await wire.patch("configmaps/c", {"data": {"x": "2"}})).ok()

    answer = (await wire.get("configmaps", resourceVersion=then, **query)).ok()

    assert (answer.names, answer.revision) == (["a", "b", "c"], then)
    assert answer["items.2.data.x"] == "1"


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"resourceVersionMatch": "NotOlderThan"},
        {"resourceVersionMatch": "NotOlderThan", "limit": 500},
    ],
    ids=str,
)
async def test_a_list_that_is_new_enough_may_be_newer(wire: Wire, query: dict[str, Any]) -> None:
    await _three(wire)
    then = (await wire.get("configmaps")).revision
    last = (await wire.patch("configmaps/c", {"data": {"x": "2"}})).ok()

    async def is_newer() -> bool:
        answer = (await wire.get("configmaps", resourceVersion=then, **query)).ok()
        assert int(answer.revision) >= int(then)
        return int(answer.revision) >= int(last.revision) and bool(answer["items.2.data.x"] == "2")

    await wire.until(is_newer)


@pytest.mark.parametrize("query", [{}, {"resourceVersionMatch": "NotOlderThan"}], ids=["", "match"])
async def test_whoever_takes_any_version_gets_it_whole(wire: Wire, query: dict[str, Any]) -> None:
    await _three(wire)

    async def is_whole() -> bool:
        answer = (await wire.get("configmaps", resourceVersion=0, limit=1, **query)).ok()
        assert answer["metadata"].keys() == {"resourceVersion"}
        return answer.names == ["a", "b", "c"]

    await wire.until(is_whole)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("configmaps", {}),
        ("configmaps", {"resourceVersionMatch": "NotOlderThan", "limit": 1}),
        ("configmaps/a", {}),
    ],
    ids=["list", "not older", "get"],
)
async def test_a_version_of_the_future(wire: Wire, path: str, query: dict[str, Any]) -> None:
    answer = await wire.get(path, resourceVersion=FUTURE, **query)

    answer.refused(
        504, "Timeout", "ResourceVersionTooLarge", says=f"Too large resource version: {FUTURE}"
    )
    assert answer["details.retryAfterSeconds"] == 1
    assert answer.headers["Retry-After"] == "1"


_FORBIDDEN = "FieldValueForbidden resourceVersionMatch"


@pytest.mark.parametrize(
    ("query", "causes", "said"),
    [
        (
            {"resourceVersionMatch": "Exact"},
            [_FORBIDDEN],
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "NotOlderThan"},
            [_FORBIDDEN],
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            [_FORBIDDEN],
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"resourceVersionMatch": "Roughly", "resourceVersion": "0"},
            ["FieldValueNotSupported resourceVersionMatch"],
            'Unsupported value: "Roughly": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            {"resourceVersionMatch": "Exact", "continue": "x"},
            [_FORBIDDEN, _FORBIDDEN],
            "resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            {"sendInitialEvents": "true"},
            ["FieldValueForbidden sendInitialEvents"],
            "sendInitialEvents is forbidden for list",
        ),
    ],
    ids=str,
)
async def test_what_cannot_be_asked_together(
    wire: Wire, query: dict[str, Any], causes: list[str], said: str
) -> None:
    answer = await wire.get("configmaps", **query)

    answer.refused(422, "Invalid", *causes, says=said)
    assert answer["message"].startswith('ListOptions.meta.k8s.io "" is invalid: ')
    assert (answer["details.group"], answer["details.kind"]) == ("meta.k8s.io", "ListOptions")


@pytest.mark.parametrize("revision", ["yesterday", "-1", "1.5"])
async def test_a_version_is_a_number(wire: Wire, revision: str) -> None:
    answer = await wire.get("configmaps", resourceVersion=revision)

    assert answer.code in {400, 500}  # older servers take it for a failure of their own
    assert f'resourceVersion: Invalid value: "{revision}"' in answer["message"]


@pytest.mark.parametrize("query", [{"limit": "many"}, {"timeoutSeconds": "soon"}], ids=str)
async def test_numbers_are_numbers(wire: Wire, query: dict[str, Any]) -> None:
    (await wire.get("configmaps", **query)).refused(400, "BadRequest")
