"""Watches over HTTP: where they begin, what they tell, when they end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stateward.kube.resources import CONFIG_MAPS
from stateward.local.rules.writes import Author
from stateward.local.server.forms import Show
from stateward.local.server.streams import AT_ONCE, Temper, Turns
from unit.local.server.site import CONFIGS, TABLE, TOKEN, serving

WATCH = f"{CONFIGS}?watch=1"


def told(lines: list[Any]) -> list[str]:
    return [
        f"{line['type']} {line['object']['metadata'].get('name', '')}".strip() for line in lines
    ]


@pytest.mark.parametrize(
    ("query", "count", "expected"),
    [
        ("", 2, ["ADDED a", "ADDED b"]),
        ("&resourceVersion=0", 2, ["ADDED a", "ADDED b"]),
        ("&resourceVersion={a}", 1, ["ADDED b"]),
        ("&resourceVersion=0&fieldSelector=metadata.name%3Db", 1, ["ADDED b"]),
        ("&labelSelector=app%3Dx", 1, ["ADDED a"]),
        (
            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
            3,
            ["ADDED a", "ADDED b", "BOOKMARK"],
        ),
    ],
)
async def test_where_a_watch_begins(query: str, count: int, expected: list[str]) -> None:
    async with serving() as site:
        a = (await site.put_config("a", app="x"))["metadata"]["resourceVersion"]
        await site.put_config("b")

        assert told(await site.lines(WATCH + query.format(a=a), count)) == expected


async def test_the_end_of_what_was_there_is_marked() -> None:
    async with serving() as site:
        await site.put_config("a")
        query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        *_, mark = await site.lines(WATCH + query, 2)

        assert mark["object"] == {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": str(site.api.store.revision),
                "creationTimestamp": None,
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }


async def test_news() -> None:
    async with serving() as site:
        async with asyncio.TaskGroup() as group:
            seen = group.create_task(
                site.lines(f"{WATCH}&resourceVersion={site.api.store.revision}", 3)
            )
            made = await site.put_config("a")
            await site.ask("PUT", f"{CONFIGS}/a", made | {"data": {"x": "1"}})
            await site.ask("DELETE", f"{CONFIGS}/a")

        assert told(seen.result()) == ["ADDED a", "MODIFIED a", "DELETED a"]


@pytest.mark.parametrize(
    "query",
    [
        "&sendInitialEvents=true",
        "&resourceVersionMatch=NotOlderThan",
        "&resourceVersionMatch=Exact&resourceVersion=1",
    ],
)
async def test_options_that_make_no_sense(query: str) -> None:
    async with serving() as site:
        assert (await site.get(WATCH + query)).refusal[:2] == (422, "Invalid")


async def test_what_is_forgotten_is_an_event() -> None:
    async with serving() as site:
        await site.put_config("a")
        site.api.store.compact()
        (line,) = await site.lines(f"{WATCH}&resourceVersion=1", 1)

        assert (line["type"], line["object"]["code"], line["object"]["reason"]) == (
            "ERROR",
            410,
            "Expired",
        )


async def test_quiet_watches_hear_that_nothing_happened() -> None:
    async with serving(temper=Temper(bookmark_every=0.01)) as site:
        query = f"{WATCH}&resourceVersion=1&timeoutSeconds=5"
        bookmarks = await site.lines(f"{query}&allowWatchBookmarks=true", 2)

        assert told(bookmarks) == ["BOOKMARK", "BOOKMARK"]


async def test_only_those_who_asked_for_it() -> None:
    async with serving(temper=Temper(bookmark_every=0.01)) as site:
        assert await site.lines(f"{WATCH}&resourceVersion=1&timeoutSeconds=1", 1) == []


async def test_lines_of_a_table_have_one_head() -> None:
    async with serving() as site:
        async with asyncio.TaskGroup() as group:
            seen = group.create_task(site.lines(f"{WATCH}&resourceVersion=1", 2, Accept=TABLE))
            await site.put_config("a")
            await site.put_config("b")
        first, second = (line["object"] for line in seen.result())

        assert [it["name"] for it in first["columnDefinitions"]] == ["Name", "Data", "Age"]
        assert second["columnDefinitions"] == []
        assert [it["rows"][0]["cells"][0] for it in (first, second)] == ["a", "b"]


async def test_a_slow_reader_is_cut_off() -> None:
    async with serving(temper=Temper(patience=0.05)) as site:
        host, port = site.url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port), limit=1024)
        asked = f"GET {WATCH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        writer.write(asked.encode())
        while not len(site.server.streams):  # noqa: ASYNC110 - it begins with a connection
            await asyncio.sleep(0.001)
        number = 0
        while len(site.server.streams):
            number += 1
            assert number < 500, "the reader takes nothing and is still there"
            big = {"metadata": {"name": f"c{number}"}, "data": {"x": "y" * 500_000}}
            await site.post(CONFIGS, big)
        writer.close()

        assert (await site.get("/healthz")).status == 200


async def test_a_write_wakes_nobody_who_watches_something_else() -> None:
    async with serving() as site:
        async with asyncio.TaskGroup() as group:
            seen = group.create_task(site.lines(f"{WATCH}&resourceVersion=1&timeoutSeconds=1", 1))
            while not len(site.server.streams):  # noqa: ASYNC110 - it begins with a connection
                await asyncio.sleep(0.001)
            listening = site.api.store._listeners
            await site.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}})

            assert len(listening["configmaps"]) == 1
            assert "secrets" not in listening

        assert seen.result() == []


# ------------------------------------------------------------------ many at once
async def test_a_line_is_written_once_for_all_who_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    event = Show.event

    def counted(show: Show, change: Any, stored: Any, *, headless: bool) -> bytes:
        written.append(f"{change.value} {stored.key.name} {show.wanted.form.value}".strip())
        return event(show, change, stored, headless=headless)

    monkeypatch.setattr(Show, "event", counted)
    async with serving() as site:
        path = f"{WATCH}&resourceVersion={site.api.store.revision}"
        async with asyncio.TaskGroup() as group:
            for accept in (
                "application/json",
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            ):
                for _ in range(5):
                    group.create_task(site.lines(path, 1, Accept=accept))
            while len(site.server.streams) < 10:  # noqa: ASYNC110 - they come by connections
                await asyncio.sleep(0.001)
            await site.put_config("a")

    assert sorted(written) == ["ADDED a", "ADDED a PartialObjectMetadata"]


async def test_others_are_served_while_thousands_are_told() -> None:
    turns, passed = Turns(), 0

    async def watcher() -> None:
        nonlocal passed
        await turns.come()
        passed += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(4 * AT_ONCE):
            group.create_task(watcher())
        steps = []
        while passed < 4 * AT_ONCE:
            before = passed
            await asyncio.sleep(0)
            steps.append(passed - before)

    assert max(steps) <= AT_ONCE


async def test_who_leaves_while_waiting_takes_no_turn() -> None:
    turns = Turns()
    for _ in range(AT_ONCE):
        await turns.come()
    gone, stays = (asyncio.create_task(turns.come()) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()

    async with asyncio.timeout(10):
        await stays


async def test_what_happens_before_a_turn_is_news(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as site:
        await site.put_config("a")
        known = str(site.api.store.revision)

        async def late(_: Turns) -> None:
            if site.api.store.revision == int(known):
                site.api.create(CONFIG_MAPS, "default", {"metadata": {"name": "b"}}, Author())

        monkeypatch.setattr(Turns, "come", late)
        query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        lines = await site.lines(WATCH + query, 3)

        assert told(lines) == ["ADDED a", "BOOKMARK", "ADDED b"]
        assert lines[1]["object"]["metadata"]["resourceVersion"] == known
