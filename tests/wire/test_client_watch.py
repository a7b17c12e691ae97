"""Watches over the wire: whatever the network does to the bytes, an event is delivered whole or not at all."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.errors import PeerConfused, PeerError, PeerUnreachable
from stateward.kube.client import Change, LogOptions, Malformed, Selection, WatchEvent
from stateward.kube.errors import Forbidden, Gone, ServerFailed, Unauthorized
from stateward.kube.http.access import TokenFile
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.http.decoding import Lines
from stateward.kube.meta import Object
from stateward.kube.resources import CONFIG_MAPS, PODS, Resource
from wire.scripted import answers, event, pod, refuses, status, streams
from wire.talk import KEY, talking

A, B = event("ADDED", pod("a", 1)), event("MODIFIED", pod("b", 2))


async def heard(
    client: HttpClient, resource: Resource[Any] = PODS
) -> tuple[list[str], Exception | None]:
    """Watch to the end; return what was heard as "ADDED a 1", and how it ended."""
    words: list[str] = []
    try:
        async with aclosing(client.watch(resource, since="0")) as events:
            async for found in events:
                name = found.object.metadata.name
                words.append(f"{found.change.value} {name} {found.revision}")
    except PeerError as error:
        return words, error
    return words, None


async def test_a_watch_asks_for_bookmarks_and_ends_by_itself() -> None:
    async with talking(streams(A, B)) as (client, server):
        events = client.watch(PODS, Selection("shop", labels="app=a"), since="42")
        assert [found.revision async for found in events] == ["1", "2"]

    query = server.seen[0].query
    assert 300 <= int(query.pop("timeoutSeconds")) < 600
    assert server.seen[0].path == "/api/v1/namespaces/shop/pods"
    assert query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "42",
        "labelSelector": "app=a",
    }


async def test_watches_are_not_ended_all_at_once() -> None:
    async with talking(streams(), streams()) as (client, server):
        await heard(client)
        await heard(client)

    first, second = (seen.query["timeoutSeconds"] for seen in server.seen)
    assert first != second


async def test_bytes_may_come_one_by_one() -> None:
    pieces = [bytes([byte]) for byte in A + B]
    async with talking(streams(*pieces)) as (client, _):
        assert await heard(client) == (["ADDED a 1", "MODIFIED b 2"], None)


async def test_events_may_come_together() -> None:
    text = A + b"\n \n" + B + A
    async with talking(streams(text[:5], text[5:])) as (client, _):
        assert (await heard(client))[0] == ["ADDED a 1", "MODIFIED b 2", "ADDED a 1"]


async def test_a_line_of_several_megabytes() -> None:
    large = pod("a", 1)
    large["metadata"]["annotations"] = {"x": "y" * 4_000_000}
    async with talking(streams(event("ADDED", large), B)) as (client, _):
        assert (await heard(client))[0] == ["ADDED a 1", "MODIFIED b 2"]


@pytest.mark.parametrize("end", ["cut", "reset", "clean"])
async def test_a_cut_in_the_middle_of_an_event(end: str) -> None:
    async with talking(streams(A, B[:-20], end=end)) as (client, _):
        words, error = await heard(client)

    assert words == ["ADDED a 1"]
    assert isinstance(error, PeerUnreachable)


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_cut_between_events(end: str) -> None:
    async with talking(streams(A, end=end)) as (client, _):
        words, error = await heard(client)

    assert words == ["ADDED a 1"]
    assert isinstance(error, PeerUnreachable)


async def test_a_silent_watch_counts_as_cut() -> None:
    async with talking(streams(A, end="hang"), limits=Limits(idle=0.1)) as (client, _):
        words, error = await heard(client)

    assert words == ["ADDED a 1"]
    assert isinstance(error, PeerUnreachable)
    assert "nothing more was heard" in error.message


async def test_a_bookmark_carries_a_revision_and_no_object() -> None:
    bookmark = {"kind": "Pod", "metadata": {"resourceVersion": "77"}, "spec": {"containers": None}}
    async with talking(streams(event("BOOKMARK", bookmark))) as (client, _):
        (found,) = [found async for found in client.watch(PODS, since="1")]

    assert (found.change, found.revision) == (Change.BOOKMARK, "77")
    assert isinstance(found.object, Malformed)


class Strict(Object, kw_only=True):
    spec: dict[str, str]


async def test_a_bookmark_of_a_type_with_required_fields() -> None:
    resource = Resource("x.io", "v1", "Strict", "stricts", Strict)
    script = streams(event("BOOKMARK", {"metadata": {"resourceVersion": "5"}}))
    async with talking(script) as (client, _):
        assert await heard(client, resource) == (["BOOKMARK  5"], None)


async def test_a_poisoned_object_hides_no_other() -> None:
    bad = pod("bad", 5, status=["nonsense"])
    async with talking(streams(A, event("DELETED", bad), B)) as (client, _):
        events: list[WatchEvent[Any]] = [found async for found in client.watch(PODS, since="0")]

    assert [found.revision for found in events] == ["1", "5", "2"]
    assert isinstance(events[1].object, Malformed)
    assert events[1].object.metadata.uid == "uid-bad"
    assert "$.status" in events[1].object.problem


async def test_an_object_nested_too_deep_hides_no_other() -> None:
    deep = "[" * 3000 + "]" * 3000
    line = event("ADDED", pod("bad", 5, x="DEEP")).replace(b'"DEEP"', deep.encode())
    async with talking(streams(line, B)) as (client, _):
        assert await heard(client) == (["ADDED bad 5", "MODIFIED b 2"], None)


@pytest.mark.parametrize("resource", [PODS, CONFIG_MAPS])
@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (status(410, "Expired", "too old"), Gone),
        ({"kind": "Status", "reason": "Expired", "message": "too old"}, Gone),
        (status(500, "InternalError"), ServerFailed),
        ({"kind": "Status", "message": "oh"}, ServerFailed),
    ],
)
async def test_the_server_says_that_the_watch_is_over(
    resource: Resource[Any], told: Any, kind: type[Exception]
) -> None:
    async with talking(streams(A, event("ERROR", told), B)) as (client, _):
        words, error = await heard(client, resource)

    assert words == ["ADDED a 1"]
    assert type(error) is kind


async def test_gone_before_it_began() -> None:
    async with talking(refuses(410, "Expired")) as (client, _):
        assert isinstance((await heard(client))[1], Gone)


async def test_not_allowed() -> None:
    async with talking(refuses(403, "Forbidden")) as (client, _):
        assert isinstance((await heard(client))[1], Forbidden)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"ADDED","object":{"metadata":{"name":"a"\n',
        b"not json\n",
        b'{"object":{}}\n',
        b"[]\n",
        event("RENAMED", pod("a", 1)),
        event("ADDED", {"metadata": {"name": "a"}}),
        event("ERROR", "no"),
    ],
)
async def test_what_is_no_event(line: bytes) -> None:
    async with talking(streams(A, line)) as (client, _):
        words, error = await heard(client)

    assert words == ["ADDED a 1"]
    assert isinstance(error, PeerConfused)


async def test_a_web_page_is_no_watch() -> None:
    script = answers(b"<html>log in</html>", content_type="text/html")
    async with talking(script) as (client, _):
        _, error = await heard(client)

    assert isinstance(error, PeerConfused)
    assert "<html>log in</html>" in error.message


async def test_an_expired_token_is_renewed(tmp_path: Any) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    access = {"credentials": TokenFile(token)}
    async with talking(streams(A), access=access) as (client, server):
        await heard(client)
        token.write_text("new")
        server.plays(refuses(401, "Unauthorized"), streams(B))
        assert await heard(client) == (["MODIFIED b 2"], None)

    sent = [seen.header("Authorization") for seen in server.seen]
    assert sent == ["Bearer old", "Bearer old", "Bearer new"]


async def test_a_token_that_cannot_be_renewed() -> None:
    async with talking(refuses(401, "Unauthorized")) as (client, _):
        assert isinstance((await heard(client))[1], Unauthorized)


async def test_a_watch_may_be_left_in_the_middle() -> None:
    async with (
        talking(streams(A, B, end="hang")) as (client, _),
        aclosing(client.watch(PODS, since="0")) as events,
    ):
        assert (await anext(events)).revision == "1"


async def test_a_followed_log_may_be_silent() -> None:
    script = streams(b"one\n", end="hang", content_type="text/plain")
    async with (
        talking(script, limits=Limits(deadline=0.1, bulk_deadline=0.1)) as (client, server),
        aclosing(client.log(KEY, LogOptions(follow=True))) as chunks,
    ):
        assert await anext(chunks) == b"one\n"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(chunks), 0.15)

    assert server.seen[0].query == {"follow": "true"}


@pytest.mark.parametrize("end", ["cut", "hang"])
async def test_a_log_that_does_not_end(end: str) -> None:
    script = streams(b"one\n", end=end, content_type="text/plain")
    async with (
        talking(script, limits=Limits(deadline=0.1)) as (client, _),
        aclosing(client.log(KEY, LogOptions())) as chunks,
    ):
        assert await anext(chunks) == b"one\n"
        with pytest.raises(PeerUnreachable):
            await anext(chunks)


async def test_observed_as_a_watch() -> None:
    seen: list[Any] = []
    async with talking(streams(A), observe=lambda *what: seen.append(what[:2])) as (client, _):
        await heard(client)

    assert seen == [("WATCH", "200")]


@given(lines=st.lists(st.binary(max_size=9)), cuts=st.lists(st.integers(0, 60)))
def test_lines_do_not_depend_on_where_they_are_cut(lines: list[bytes], cuts: list[int]) -> None:
    text = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    marks = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(marks)]
    splitter = Lines()

    found = [line for piece in pieces for line in splitter.feed(piece)]

    splitter.finish()
    assert found == [line for line in text.split(b"\n") if line.strip()]


def test_a_line_without_end_is_no_event() -> None:
    splitter = Lines(longest=100)
    splitter.feed(b"x" * 60 + b"\n" + b"x" * 60)

    with pytest.raises(PeerConfused, match="shorter than 100 bytes"):
        splitter.feed(b"x" * 60)


def test_the_rest_of_a_stream_may_be_blank() -> None:
    splitter = Lines()

    assert splitter.feed(json.dumps({}).encode() + b"\r\n  ") == [b"{}\r"]
    splitter.finish()
