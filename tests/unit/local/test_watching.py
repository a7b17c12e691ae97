"""Watches: what an event means to a watcher, and how a stream behaves in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from stateward.kube.client import Change, Selection
from stateward.kube.errors import BadRequest, Gone
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS
from stateward.local.kinds import built_in
from stateward.local.store import Store, StoreEvent, stamped
from stateward.local.watching import Filter, Pace, Sighting, follow, sighting
from stateward.sim.loop import SimClock, SimLoop
from unit.local.pictures import named

KIND = built_in(CONFIG_MAPS)
EVERYTHING = Filter.of(Selection(), KIND)


def version(name: str, revision: int, *, labels: str) -> Any:
    document = named(name)
    document["metadata"]["labels"] = {"in": labels}
    return stamped(document, revision)


# ------------------------------------------------------------------ what an event means
@pytest.mark.parametrize(
    ("before", "now", "change", "meaning"),
    [
        (None, "yes", Change.ADDED, Change.ADDED),
        (None, "no", Change.ADDED, None),
        ("yes", "yes", Change.MODIFIED, Change.MODIFIED),
        ("no", "yes", Change.MODIFIED, Change.ADDED),
        ("yes", "no", Change.MODIFIED, Change.DELETED),
        ("no", "no", Change.MODIFIED, None),
        ("yes", "yes", Change.DELETED, Change.DELETED),
        ("no", "no", Change.DELETED, None),
    ],
)
def test_what_an_event_means_to_who_wants_some(
    before: str | None, now: str, change: Change, meaning: Change | None
) -> None:
    wanted = Filter.of(Selection(labels="in=yes"), KIND)
    was = version("a", 4, labels=before) if before else None
    event = StoreEvent(5, change, "configmaps", version("a", 5, labels=now), was)

    seen = sighting(event, wanted)

    assert (seen.change if seen else None) is meaning
    if seen is not None:
        assert seen.revision == 5
        assert seen.stored.labels == {"in": "yes"}
        assert seen.stored.document()["metadata"]["resourceVersion"] == "5"


@pytest.mark.parametrize(
    ("selection", "matches"),
    [
        (Selection(), True),
        (Selection("shop"), True),
        (Selection("other"), False),
        (Selection(labels="in=yes"), True),
        (Selection(labels="in!=yes"), False),
        (Selection(fields="metadata.name=a"), True),
        (Selection(fields="metadata.name!=a"), False),
        (Selection("shop", "in", "metadata.name=a"), True),
        (Selection("shop", "!in", "metadata.name=a"), False),
    ],
    ids=str,
)
def test_what_a_filter_lets_through(selection: Selection, matches: bool) -> None:
    wanted = Filter.of(selection, KIND)

    assert wanted.matches(version("a", 5, labels="yes")) is matches


@pytest.mark.parametrize(
    "selection", [Selection(labels="==="), Selection(fields="spec.x=1")], ids=str
)
def test_what_no_filter_can_be_made_of(selection: Selection) -> None:
    with pytest.raises(BadRequest):
        Filter.of(selection, KIND)


# ------------------------------------------------------------------ a stream in time
class Stage:
    """A store, virtual time, and a word for each thing that happens."""

    def __init__(self, **pace: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        self.loop = loop
        self.store = Store()
        self.pace = Pace(SimClock(loop), **pace)

    def put(self, name: str, resource: str = CONFIG_MAPS.name) -> None:
        self.store.put(resource, named(name))

    def at(self, seconds: float, name: str, resource: str = CONFIG_MAPS.name) -> None:
        self.loop.call_later(seconds, lambda: self.put(name, resource))

    def watch(self, since: int = 1) -> AsyncGenerator[Sighting | int, None]:
        return follow(self.store, CONFIG_MAPS, EVERYTHING, since, self.pace)

    async def told(self, since: int = 1, *, until: float = 10_000.0) -> list[str]:
        """Return what a watcher is told, with times: ``5s +a`` and ``60s =7`` for a bookmark."""
        lines: list[str] = []
        async with aclosing(self.watch(since)) as stream:
            try:
                async with asyncio.timeout(until):
                    async for seen in stream:
                        what = f"={seen}" if isinstance(seen, int) else f"+{seen.stored.key.name}"
                        lines.append(f"{self.loop.time():g}s {what}")
            except TimeoutError:
                lines.append("...")
        return lines


@pytest.mark.virtual
async def test_events_come_when_they_happen() -> None:
    stage = Stage(lifetime=50)
    stage.put("early")
    stage.at(5, "a")
    stage.at(7, "b")

    assert await stage.told() == ["0s +early", "5s +a", "7s +b"]


@pytest.mark.virtual
async def test_a_stream_ends_after_its_lifetime_busy_or_not() -> None:
    stage = Stage(lifetime=30, bookmark_every=1000)
    stage.at(29, "a")

    assert await stage.told() == ["29s +a"]
    assert stage.loop.time() == 30


@pytest.mark.virtual
async def test_a_quiet_watcher_is_told_that_nothing_happened() -> None:
    stage = Stage(lifetime=200, bookmark_every=60)
    stage.at(10, "p", "pods")
    stage.at(70, "a")

    assert await stage.told() == ["60s =2", "70s +a", "130s =3", "190s =3"]


@pytest.mark.virtual
async def test_other_resources_wake_nobody() -> None:
    stage = Stage(lifetime=50)
    stage.at(5, "p", "pods")

    assert await stage.told() == []


@pytest.mark.virtual
async def test_an_event_at_the_very_moment_of_a_bookmark_is_not_lost() -> None:
    stage = Stage(lifetime=100, bookmark_every=60)
    watching = asyncio.ensure_future(stage.told())
    await asyncio.sleep(0)
    stage.at(60, "a")  # set later than the bookmark's timer, and so due right after it

    assert await watching == ["60s =1", "60s +a"]


@pytest.mark.virtual
async def test_a_slow_watcher_gets_everything_later_in_order() -> None:
    stage = Stage()
    async with aclosing(stage.watch()) as stream:
        stage.put("a")
        seen = [await anext(stream)]
        for name in "bcd":
            stage.put(name)
        await asyncio.sleep(500)
        stage.put("e")
        seen.extend([await anext(stream) for _ in "bcde"])

    assert "".join(it.stored.key.name for it in seen if isinstance(it, Sighting)) == "abcde"


@pytest.mark.virtual
async def test_a_watcher_that_is_too_slow_is_told_so() -> None:
    stage = Stage()
    async with aclosing(stage.watch()) as stream:
        stage.put("a")
        await anext(stream)
        stage.put("b")
        stage.store.compact()
        with pytest.raises(Gone):
            await anext(stream)


@pytest.mark.virtual
async def test_what_was_read_before_the_history_was_cut_is_still_told() -> None:
    stage = Stage(lifetime=50)
    stage.put("a")
    stage.put("b")
    async with aclosing(stage.watch()) as stream:
        first = await anext(stream)
        stage.store.compact()
        second = await anext(stream)
        rest = [it async for it in stream]

    names = [it.stored.key.name for it in (first, second) if isinstance(it, Sighting)]
    assert (names, rest) == (["a", "b"], [])


@pytest.mark.virtual
async def test_from_a_forgotten_revision_nothing_is_told() -> None:
    stage = Stage()
    stage.put("a")
    stage.store.compact()

    with pytest.raises(Gone):
        await stage.told(since=1)


@pytest.mark.virtual
async def test_from_zero_it_begins_with_what_is_there() -> None:
    stage = Stage(lifetime=50)
    for name in "cab":
        stage.put(name)
    stage.store.remove(CONFIG_MAPS.name, ObjectKey("shop", "b"))
    stage.store.compact()
    stage.at(5, "d")

    assert await stage.told(since=0) == ["0s +a", "0s +c", "5s +d"]


@pytest.mark.virtual
async def test_a_revision_of_the_future_is_waited_for() -> None:
    stage = Stage(lifetime=50)
    for second, name in enumerate("abcd", 1):
        stage.at(second, name)

    assert await stage.told(since=4) == ["4s +d"]


@pytest.mark.virtual
async def test_whoever_leaves_is_not_listened_for_any_more() -> None:
    stage = Stage()

    assert await stage.told(until=5) == ["..."]
    assert not stage.store._listeners
