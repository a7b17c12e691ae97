"""Watches on the wire: what is told, in which form, how they end, and what cannot be watched."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from contract.kubernetes.wire import Answer, Wire

_META = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def config(name: str = "a", app: str = "x", **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"app": app}}, "data": data}


async def told(wire: Wire, path: str = "secrets", *, accept: str = "", **query: Any) -> list[Any]:
    """Return what a watch of one second tells."""
    asked = {"watch": "true", "timeoutSeconds": 1, **query}
    headers = {"Accept": accept} if accept else None
    answer = await wire.ask("GET", path, headers=headers, **asked)
    assert answer.code == 200, answer.body
    return _lines(answer)


def _lines(answer: Answer) -> list[Any]:
    """Read lines of JSON, of which a single one has been read already."""
    if isinstance(answer.body, dict):
        return [answer.body]
    return [json.loads(line) for line in answer.body.splitlines()]


def brief(events: list[Any]) -> list[tuple[str, str]]:
    return [(it["type"], it["object"]["metadata"]["name"]) for it in events]


async def _next(events: AsyncIterator[Any]) -> Any:
    async with asyncio.timeout(30):
        return await anext(events)


# ------------------------------------------------------------------ from where
@pytest.mark.parametrize("query", [{}, {"resourceVersion": 0}], ids=["newest", "any"])
async def test_without_a_version_it_begins_with_what_is_there(
    wire: Wire, query: dict[str, Any]
) -> None:
    for name in "ba":
        (await wire.post("secrets", {"metadata": {"name": name}})).made()
    await wire.until(lambda: _cache_knows(wire, "a"))

    events = await told(wire, **query)

    assert sorted(brief(events)) == [("ADDED", "a"), ("ADDED", "b")]


async def _cache_knows(wire: Wire, name: str) -> bool:
    return (await wire.get(f"secrets/{name}", resourceVersion=0)).code == 200


async def test_from_a_version_it_tells_what_came_after(wire: Wire) -> None:
    made = (await wire.post("secrets", {"metadata": {"name": "a"}})).made()
    (await wire.patch("secrets/a", {"metadata": {"labels": {"l": "1"}}})).ok()
    (await wire.post("secrets", {"metadata": {"name": "b"}})).made()
    (await wire.delete("secrets/a")).ok()

    events = await told(wire, resourceVersion=made.revision)

    assert brief(events) == [("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")]
    assert all(it["object"]["kind"] == "Secret" for it in events)


async def test_from_the_newest_list_it_tells_nothing_old(wire: Wire) -> None:
    (await wire.post("secrets", {"metadata": {"name": "a"}})).made()
    since = (await wire.get("secrets")).revision

    assert await told(wire, resourceVersion=since) == []


async def test_the_last_word_is_the_last_state_with_a_version_of_its_own(wire: Wire) -> None:
    (await wire.post("secrets", {"metadata": {"name": "a"}, "stringData": {"x": "1"}})).made()
    last = (await wire.patch("secrets/a", {"stringData": {"x": "2"}})).ok()
    (await wire.delete("secrets/a")).ok()

    (event,) = await told(wire, resourceVersion=last.revision)

    assert event["type"] == "DELETED"
    assert event["object"]["data"] == last["data"]
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(last.revision)


# ------------------------------------------------------------------ selections
async def test_who_leaves_the_selection_is_shown_as_it_was_when_it_left(wire: Wire) -> None:
    made = (await wire.post("configmaps", config(n="1"))).made()
    away = (await wire.patch("configmaps/a", config(app="y", n="2"))).ok()
    back = (await wire.patch("configmaps/a", config(app="x", n="3"))).ok()

    events = await told(wire, "configmaps", resourceVersion=made.revision, labelSelector="app=x")

    assert [(it["type"], it["object"]["data"]["n"]) for it in events] == [
        ("DELETED", "1"),
        ("ADDED", "3"),
    ]
    seen = [it["object"]["metadata"]["resourceVersion"] for it in events]
    assert seen == [away.revision, back.revision]


async def test_one_object_is_watched_by_its_name(wire: Wire) -> None:
    since = (await wire.get("secrets")).revision
    for name in "ab":
        (await wire.post("secrets", {"metadata": {"name": name}})).made()

    events = await told(wire, resourceVersion=since, fieldSelector="metadata.name=b")

    assert brief(events) == [("ADDED", "b")]


async def test_fields_come_and_go_too(wire: Wire) -> None:
    # Nobody schedules it: who tried would write that there is no node, at any moment.
    spec = {"containers": [{"name": "c", "image": "i"}], "schedulerName": "nobody"}
    made = (await wire.post("pods", {"metadata": {"name": "p"}, "spec": spec})).made()
    (await wire.patch("pods/p/status", {"status": {"phase": "Running"}})).ok()
    (await wire.patch("pods/p/status", {"status": {"phase": "Succeeded"}})).ok()

    events = await told(
        wire, "pods", resourceVersion=made.revision, fieldSelector="status.phase=Running"
    )

    assert brief(events) == [("ADDED", "p"), ("DELETED", "p")]


async def test_all_namespaces_are_watched_at_once(wire: Wire) -> None:
    since = (await wire.get("secrets")).revision
    meta = {"name": "s", "labels": {"story": wire.namespace}}
    for path in ("secrets", "elsewhere:secrets"):
        (await wire.post(path, {"metadata": meta})).made()

    events = await told(
        wire, "/api/v1/secrets", resourceVersion=since, labelSelector=f"story={wire.namespace}"
    )

    places = [it["object"]["metadata"]["namespace"] for it in events]
    assert places == [wire.namespace, wire.elsewhere]


# ------------------------------------------------------------------ streams
async def test_news_come_while_the_stream_is_open(wire: Wire) -> None:
    since = (await wire.get("secrets")).revision

    async with wire.watch("secrets", resourceVersion=since, timeoutSeconds=30) as events:
        (await wire.post("secrets", {"metadata": {"name": "a"}})).made()
        first = await _next(events)
        (await wire.delete("secrets/a")).ok()
        second = await _next(events)

    assert brief([first, second]) == [("ADDED", "a"), ("DELETED", "a")]


async def test_it_ends_when_its_time_is_up(wire: Wire) -> None:
    answer = await wire.ask("GET", "secrets", watch="true", timeoutSeconds=1)

    assert (answer.code, answer.body) == (200, "")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Transfer-Encoding"] == "chunked"


@pytest.mark.parametrize(
    ("word", "watches"),
    [("true", True), ("1", True), ("yes", True), ("", True), ("false", False), ("0", False)],
)
async def test_whatever_is_not_no_is_yes(wire: Wire, word: str, watches: bool) -> None:
    answer = (await wire.ask("GET", "secrets", watch=word, timeoutSeconds=1)).ok()

    assert (answer.body == "") is watches


async def test_a_single_object_is_not_watched_but_read(wire: Wire) -> None:
    (await wire.post("secrets", {"metadata": {"name": "a"}})).made()

    answer = (await wire.get("secrets/a", watch="true", timeoutSeconds=1)).ok()

    assert answer["kind"] == "Secret"


@pytest.mark.differs("The old paths of watches, below /watch/, are not served.")
async def test_there_is_an_old_path_for_it(wire: Wire) -> None:
    (await wire.post("secrets", {"metadata": {"name": "a"}})).made()
    path = f"/api/v1/watch/namespaces/{wire.namespace}/secrets/a"

    assert brief(await told(wire, path)) == [("ADDED", "a")]


# ------------------------------------------------------------------ forms
async def test_metadata_alone(wire: Wire) -> None:
    (await wire.post("secrets", {"metadata": {"name": "a"}, "stringData": {"x": "1"}})).made()

    (event,) = await told(wire, accept=_META)

    assert event["object"].keys() == {"kind", "apiVersion", "metadata"}
    assert event["object"]["kind"] == "PartialObjectMetadata"


async def test_tables_have_one_head_for_all(wire: Wire) -> None:
    since = (await wire.get("secrets")).revision
    for name in "ab":
        (await wire.post("secrets", {"metadata": {"name": name}})).made()

    first, second = await told(wire, accept=_TABLE, resourceVersion=since)

    assert (first["type"], first["object"]["kind"]) == ("ADDED", "Table")
    assert [it["name"] for it in first["object"]["columnDefinitions"]] == [
        "Name",
        "Type",
        "Data",
        "Age",
    ]
    assert not second["object"]["columnDefinitions"]
    assert [it["object"]["rows"][0]["cells"][0] for it in (first, second)] == ["a", "b"]


async def test_a_form_that_nobody_has(wire: Wire) -> None:
    answer = await wire.get("secrets", accept="text/html", watch="true", timeoutSeconds=1)

    answer.refused(406, "NotAcceptable")


# ------------------------------------------------------------------ what cannot be asked
@pytest.mark.parametrize("revision", ["yesterday", "-5"])
async def test_a_version_is_a_number(wire: Wire, revision: str) -> None:
    answer = await wire.get("secrets", watch="true", timeoutSeconds=1, resourceVersion=revision)

    assert answer.code == 500
    assert f'resourceVersion: Invalid value: "{revision}"' in answer["message"]


async def test_a_kind_that_is_not_there(wire: Wire) -> None:
    assert (await wire.get("unicorns", watch="true", timeoutSeconds=1)).code == 404
