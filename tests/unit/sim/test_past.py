"""What an operator is shown of Kubernetes while its view is of the past."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, cast

import pytest

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.client import EVERYTHING, Change, Selection
from stateward.kube.errors import Gone
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, SECRETS
from stateward.local.api import Api
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.loop import SimClock, SimLoop
from stateward.sim.past import Eyes, SeenApi, Veil

pytestmark = pytest.mark.virtual

ME = Author("me")


class Stage:
    """A Kubernetes, and somebody who looks at it."""

    def __init__(self) -> None:
        loop = cast("SimLoop", asyncio.get_running_loop())
        self.api = Api(Ports(SimClock(loop), Chance(1)))
        self.eyes = Eyes()
        self.seen = SeenApi(self.api, self.eyes, SimClock(loop))
        self.told: list[str] = []

    @property
    def newest(self) -> int:
        return self.api.store.revision

    def draw(self, *, lists: bool = False, kind: str = "ConfigMap") -> Veil:
        """Hide what comes from now on."""
        veil = Veil(self.newest, hides_lists=lists)
        self.eyes.on(kind).draw(veil)
        return veil

    def write(self, text: str, resource: Any = CONFIG_MAPS) -> None:
        """Make every object that is named, and delete those with a minus sign."""
        for name in text.split():
            if name.startswith("-"):
                self.api.delete(resource, ObjectKey("ns", name[1:]), DeleteOptions())
            else:
                self.api.create(resource, "ns", {"metadata": {"name": name}}, ME)

    def listed(self, resource: Any = CONFIG_MAPS) -> str:
        return self._list(resource, EVERYTHING)

    def listed_in(self, namespace: str) -> str:
        return self._list(CONFIG_MAPS, Selection(namespace))

    def _list(self, resource: Any, selection: Selection) -> str:
        found = self.seen.list(resource, selection)
        return " ".join([*(it.key.name for it in found.items), f"@{found.revision}"])

    async def watch(self, since: int) -> None:
        """Note what a watch tells: names of what came, and with a minus sign what went."""
        try:
            async with aclosing(self.seen.watch(CONFIG_MAPS, EVERYTHING, since)) as events:
                async for event in events:
                    if isinstance(event, int):
                        self.told.append(f"@{event}")
                    else:
                        gone = "-" if event.change is Change.DELETED else ""
                        self.told.append(f"{gone}{event.stored.key.name}")
        except Gone:
            self.told.append("gone")

    async def heard(self) -> str:
        """Return what was told since the last time."""
        await asyncio.sleep(0.1)
        told, self.told = " ".join(self.told), []
        return told


async def test_lists_show_the_store_as_of_a_revision_and_single_reads_the_newest():
    it = Stage()
    it.write("a b")
    veil = it.draw(lists=True)
    it.write("-a c")

    assert it.listed() == "a b @3"
    assert it.listed_in("ns") == f"b c @{it.newest}", "a list of one namespace is what a pass asks"
    assert it.seen.get(CONFIG_MAPS, ObjectKey("ns", "c")).key.name == "c"

    it.eyes.on("ConfigMap").lift(veil)
    assert it.listed() == f"b c @{it.newest}"


async def test_other_kinds_are_shown_as_they_are():
    it = Stage()
    it.draw(lists=True)
    it.write("s", SECRETS)

    assert it.listed(SECRETS) == f"s @{it.newest}"


async def test_a_watch_from_the_list_tells_in_order_what_was_hidden():
    it = Stage()
    it.write("a")
    veil = it.draw(lists=True)
    it.write("b -a a")
    asyncio.create_task(it.watch(since=2))  # noqa: RUF006 - ends with the test

    assert await it.heard() == ""
    it.eyes.on("ConfigMap").lift(veil)
    assert await it.heard() == "b -a a"


async def test_a_watch_that_is_open_falls_silent_and_goes_on():
    it = Stage()
    asyncio.create_task(it.watch(since=1))  # noqa: RUF006
    it.write("a")
    assert await it.heard() == "a"

    veil = it.draw()
    it.write("b")
    assert await it.heard() == ""
    assert it.listed() == f"a b @{it.newest}", "a silent watch hides nothing from lists"
    it.eyes.on("ConfigMap").lift(veil)
    assert await it.heard() == "b"


async def test_or_it_ends_and_what_was_hidden_is_never_told():
    it = Stage()
    asyncio.create_task(it.watch(since=1))  # noqa: RUF006
    assert await it.heard() == ""
    veil = it.draw()
    it.write("a -a a")
    it.eyes.on("ConfigMap").lift(veil, gone=True)

    assert await it.heard() == "gone"
    asyncio.create_task(it.watch(since=it.newest))  # noqa: RUF006
    it.write("b")
    assert await it.heard() == "b", "who comes back is not sent away again"


async def test_a_bookmark_does_not_run_ahead_of_what_is_shown():
    it = Stage()
    asyncio.create_task(it.watch(since=1))  # noqa: RUF006
    it.draw()
    it.write("a b c")
    await asyncio.sleep(61)

    assert await it.heard() == "@1"


async def test_two_veils_hide_what_either_hides():
    it = Stage()
    asyncio.create_task(it.watch(since=1))  # noqa: RUF006
    first = it.draw()
    it.write("a")
    second = it.draw()
    it.write("b")
    it.eyes.on("ConfigMap").lift(first)
    assert await it.heard() == "a"
    it.eyes.on("ConfigMap").lift(second)
    assert await it.heard() == "b"
