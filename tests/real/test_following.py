"""Our client and informer before a server that restarts, forgets, stalls and is cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from real.site import PATIENCE, Opened, Site, key, site, until
from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.core.ports import Ports
from stateward.kube.client import Change, Selection
from stateward.kube.errors import AlreadyExists, ApiError, Gone
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime.backoff import Backoff
from stateward.runtime.cache import Delta
from stateward.runtime.informer import Informer
from stateward.runtime.telling.metrics import Metrics

HERE = Selection("default")
QUICK = Limits(deadline=1.0, idle=20.0)


@dataclass(slots=True)
class Follower:
    """An informer that runs, and what it told."""

    informer: Informer[Any]
    told: list[str] = field(default_factory=list)

    def hear(self, delta: Delta[Any]) -> None:
        what = "gone" if delta.now is None else "new" if delta.before is None else "changed"
        self.told.append(f"{what} {delta.key.name}")

    def data(self) -> dict[str, Any]:
        return {it.metadata.name: it.data for it in self.informer.cache if it.data}


@asynccontextmanager
async def following(client: HttpClient) -> AsyncGenerator[Follower, None]:
    ports = Ports.of_this_machine()
    informer = Informer(
        client,
        CONFIG_MAPS,
        HERE,
        ports=ports,
        meter=Metrics(ports.clock).informer("test"),
        backoff=Backoff(first=0.1, limit=0.5),
    )
    follower = Follower(informer)
    informer.listen(follower.hear)
    task = asyncio.create_task(informer.run())
    try:
        await until("synced", informer.synced.is_set)
        yield follower
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# ------------------------------------------------------------------ forgetting
async def test_a_revision_that_was_compacted_is_gone(opened: Opened, tmp_path: Path) -> None:
    async with site(opened, tmp_path) as it:
        since = (await it.client.list(CONFIG_MAPS, HERE)).revision
        await it.make("a")
        await it.make("b")
        await it.server.forget()

        with pytest.raises(Gone):
            async with (
                asyncio.timeout(PATIENCE),
                aclosing(it.client.watch(CONFIG_MAPS, HERE, since=since)) as events,
            ):
                await anext(events)


async def test_what_vanished_while_the_server_forgot_is_told(
    opened: Opened, tmp_path: Path
) -> None:
    async with site(opened, tmp_path) as it:
        await it.make("kept", n="1")
        await it.make("lost", n="1")
        async with following(it.client) as follower:
            it.proxy.cut()
            await it.remove("lost")
            await it.change("kept", n="2")
            await it.make("came", n="1")
            await it.server.forget()
            it.proxy.mend()

            await until("caught up", lambda: "came" in follower.data())

            assert follower.data() == {"kept": {"n": "2"}, "came": {"n": "1"}}
            assert sorted(follower.told) == sorted(
                ["new kept", "new lost", "gone lost", "changed kept", "new came"]
            )


async def test_a_page_of_a_list_outlives_writes(opened: Opened, tmp_path: Path) -> None:
    async with site(opened, tmp_path, Limits(page=7)) as it:
        for number in range(30):
            await it.make(f"n-{number:02}")

        it.proxy.delay = 0.1  # so that every page has writes before and after it
        pages = len(it.proxy.asked)

        async def write() -> None:
            number = 0
            while len(it.proxy.asked) - pages < 4:
                await it.make(f"late-{number:02}")
                number += 1

        writing = asyncio.create_task(write())
        found = await it.client.list(CONFIG_MAPS, HERE)
        await writing

        names = [o.metadata.name for o in found.items if o.metadata.name.startswith("n-")]
        assert names == [f"n-{number:02}" for number in range(30)]
        assert len({o.metadata.name for o in found.items}) == len(found.items)


# ------------------------------------------------------------------ cut off
@pytest.mark.parametrize("bytes_let_through", [1, 40, 200])
async def test_an_event_that_was_cut_in_the_middle_is_told_once(
    opened: Opened, tmp_path: Path, bytes_let_through: int
) -> None:
    async with site(opened, tmp_path) as it:
        async with following(it.client) as follower:
            await it.make("a", n="1")
            await until("told", lambda: "new a" in follower.told)
            it.proxy.cut_watch_after = bytes_let_through
            await it.change("a", n="2")
            await it.make("b", n="1")

            await until("told", lambda: "new b" in follower.told)

        assert follower.told == ["new a", "changed a", "new b"]
        assert it.proxy.cut_watch_after is None


async def test_a_restarted_server_is_followed_again(opened: Opened, tmp_path: Path) -> None:
    async with site(opened, tmp_path) as it:
        async with following(it.client) as follower:
            await it.make("before", n="1")
            await until("told", lambda: "new before" in follower.told)

            await it.server.restart()
            await _retried(lambda: it.make("after", n="1"))

            await until("told", lambda: "new after" in follower.told)

        assert follower.told == ["new before", "new after"]


async def _retried(work: Callable[[], Awaitable[None]]) -> None:
    """Do it, as one does who knows that a server was just restarted."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await work()
            except AlreadyExists:
                return
            except (ApiError, PeerUnreachable, OutcomeUnknown):
                await asyncio.sleep(0.1)
            else:
                return


# ------------------------------------------------------------------ busy and slow
@pytest.mark.parametrize("code", [429, 503])
async def test_a_read_comes_back_when_a_busy_server_said(
    opened: Opened, tmp_path: Path, code: int
) -> None:
    async with site(opened, tmp_path) as it:
        await it.make("a", n="1")
        it.proxy.refusals.extend([(code, "1"), (code, "1")])
        loop = asyncio.get_running_loop()
        began = loop.time()

        found = await it.client.get(CONFIG_MAPS, key("a"))

        assert found.data == {"n": "1"}
        assert loop.time() - began >= 2.0
        assert it.proxy.asked == ["GET /api/v1/namespaces/default/configmaps/a"] * 3


async def test_a_write_to_a_slow_server_is_unknown_and_was_done(
    opened: Opened, tmp_path: Path
) -> None:
    async with site(opened, tmp_path, QUICK) as it:
        it.proxy.delay = 3.0
        body = {"metadata": {"namespace": "default", "name": "a"}, "data": {"n": "1"}}

        with pytest.raises(OutcomeUnknown):
            await it.client.create(CONFIG_MAPS, body)

        await until("it is there", lambda: _data_of(it, "a"))


async def _data_of(it: Site, name: str) -> bool:
    found = (await it.direct.list(CONFIG_MAPS, HERE)).items
    return {"n": "1"} in [o.data for o in found if o.metadata.name == name]


async def test_a_watch_of_a_slow_server_misses_nothing(opened: Opened, tmp_path: Path) -> None:
    async with site(opened, tmp_path) as it:
        it.proxy.delay = 0.5
        since = (await it.client.list(CONFIG_MAPS, HERE)).revision
        for number in range(5):
            await it.make(f"n-{number}")
        told: list[str] = []
        async with (
            asyncio.timeout(PATIENCE),
            aclosing(it.client.watch(CONFIG_MAPS, HERE, since=since)) as events,
        ):
            while len(told) < 5:
                event = await anext(events)
                if event.change is Change.ADDED:
                    told.append(event.object.metadata.name)
        assert told == [f"n-{number}" for number in range(5)]
