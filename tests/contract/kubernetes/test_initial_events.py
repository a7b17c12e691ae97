"""A watch that begins with everything there is, and says when that is told."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, fields, things
from contract.kubernetes.test_watching import brief, told
from contract.kubernetes.wire import Wire

END = "k8s.io/initial-events-end"
_WANTED: dict[str, Any] = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
_META = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


async def _two(wire: Wire) -> str:
    for name in "ab":
        (await wire.post("secrets", {"metadata": {"name": name}})).made()
    return (await wire.get("secrets")).revision


def _split(events: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return what came before the mark, and the mark."""
    place = next(n for n, it in enumerate(events) if it["type"] == "BOOKMARK")
    return events[:place], events[place]["object"]


@pytest.mark.parametrize("since", ["", "known"])
async def test_what_is_there_and_then_a_mark(wire: Wire, since: str) -> None:
    revision = await _two(wire)
    query = {"resourceVersion": revision} if since else {}

    events, mark = _split(await told(wire, allowWatchBookmarks="true", **_WANTED, **query))

    assert sorted(brief(events)) == [("ADDED", "a"), ("ADDED", "b")]
    assert (mark["kind"], mark["apiVersion"]) == ("Secret", "v1")
    assert mark["metadata"]["annotations"][END] == "true"
    assert int(mark["metadata"]["resourceVersion"]) >= int(revision)
    assert "name" not in mark["metadata"]


async def test_of_nothing_there_is_a_mark_too(wire: Wire) -> None:
    events, mark = _split(await told(wire, allowWatchBookmarks="true", **_WANTED))

    assert events == []
    assert mark["metadata"]["annotations"][END] == "true"


async def test_a_selection_of_what_is_there(wire: Wire) -> None:
    await _two(wire)
    query = _WANTED | {"fieldSelector": "metadata.name=b"}

    events, _ = _split(await told(wire, allowWatchBookmarks="true", **query))

    assert brief(events) == [("ADDED", "b")]


async def test_of_a_custom_kind(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        await kind.made({"size": 1})

        events, mark = _split(await told(wire, kind.at(), allowWatchBookmarks="true", **_WANTED))

        assert brief(events) == [("ADDED", "a")]
        assert (mark["kind"], mark["apiVersion"]) == ("Thing", f"{kind.group}/v1")


async def test_the_mark_has_the_form_of_the_others(wire: Wire) -> None:
    await _two(wire)

    events, mark = _split(await told(wire, accept=_META, allowWatchBookmarks="true", **_WANTED))

    assert {it["object"]["kind"] for it in events} == {"PartialObjectMetadata"}
    assert mark["kind"] == "PartialObjectMetadata"
    assert mark["metadata"]["annotations"][END] == "true"


async def test_who_wants_no_marks_gets_none(wire: Wire) -> None:
    await _two(wire)

    events = await told(wire, **_WANTED)

    assert sorted(brief(events)) == [("ADDED", "a"), ("ADDED", "b")]


async def test_who_wants_nothing_of_the_past_gets_none(wire: Wire) -> None:
    revision = await _two(wire)
    query = _WANTED | {"sendInitialEvents": "false", "resourceVersion": revision}

    assert await told(wire, **query) == []


async def test_from_a_version_of_the_future(wire: Wire) -> None:
    (event,) = await told(wire, timeoutSeconds=5, resourceVersion="999999999", **_WANTED)

    said = event["object"]
    assert (event["type"], said["code"], said["reason"]) == ("ERROR", 504, "Timeout")
    assert said["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


_FORBIDDEN = "FieldValueForbidden resourceVersionMatch"
_UNSUPPORTED = "FieldValueNotSupported resourceVersionMatch"


@pytest.mark.parametrize(
    ("query", "causes", "said"),
    [
        (
            {"sendInitialEvents": "true"},
            [_FORBIDDEN],
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
            [_FORBIDDEN, _UNSUPPORTED],
            'Unsupported value: "Exact": supported values: "NotOlderThan"',
        ),
        (
            {"resourceVersionMatch": "NotOlderThan"},
            [_FORBIDDEN],
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "1"}, [_FORBIDDEN, _UNSUPPORTED], ""),
        (
            {**_WANTED, "continue": "x"},
            [_FORBIDDEN],
            "resourceVersionMatch is forbidden when continue is provided",
        ),
    ],
    ids=str,
)
async def test_what_cannot_be_asked_together(
    wire: Wire, query: dict[str, Any], causes: list[str], said: str
) -> None:
    answer = await wire.get("secrets", watch="true", timeoutSeconds=1, **query)

    answer.refused(422, "Invalid", *causes, says=said)
    assert answer["message"].startswith('ListOptions.meta.k8s.io "" is invalid: ')
