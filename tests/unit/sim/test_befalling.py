"""What befalls an operator and its view: each fault in one small world.

In it one operator looks at config maps and secrets, and reads one config map every second: these are
its calls, of which the first comes at second 1. At the seconds 2, 3, 4 and so on a person writes a
config map and a secret of that number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from stateward.core.chance import Chance
from stateward.core.errors import HouseError, UsageError
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch
from stateward.kube.errors import Forbidden
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, SECRETS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.runtime.cache import Delta
from stateward.runtime.informer import Informer
from stateward.runtime.telling.metrics import Metrics
from stateward.sim.faults import Plan
from stateward.sim.loop import SimLoop, running
from stateward.sim.network import Asked
from stateward.sim.world import Line, World

KINDS = {"configmaps": CONFIG_MAPS, "secrets": SECRETS}
READ = ObjectKey("ns", "read")


@dataclass
class Diary:
    """What the operator saw, when."""

    loop: SimLoop
    lines: list[str] = field(default_factory=list)
    troubles: list[int] = field(default_factory=list)
    reads: list[tuple[str, float]] = field(default_factory=list)

    def note(self, what: str) -> None:
        self.lines.append(f"{int(self.loop.time())} {what}")

    def of(self, kind: str) -> str:
        """Return what was seen of a kind: second, name, and so on."""
        mine = [it.split() for it in self.lines if it.split()[1] == kind]
        return ", ".join(f"{when} {name}" for when, _, name in mine)


class Looker:
    """An operator that only looks."""

    def __init__(self, diary: Diary, line: Line, ports: Ports) -> None:
        self._diary = diary
        self._line = line
        self._ports = ports

    async def run(self, stop: asyncio.Event) -> None:
        metrics = Metrics(self._ports.clock)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._read())]
            for name, kind in KINDS.items():
                informer: Informer[Any] = Informer(
                    self._line.client,
                    kind,
                    ports=self._ports.stream(name),
                    meter=metrics.informer(name),
                )
                informer.listen(self._seen(name))
                tasks.append(group.create_task(informer.run()))
            await stop.wait()
            self._diary.note("ends gently")
            for task in tasks:
                task.cancel()

    def _seen(self, name: str) -> Callable[[Delta[Any]], None]:
        def note(delta: Delta[Any]) -> None:
            gone = "-" if delta.now is None else ""
            self._diary.note(f"{name} {gone}{delta.key.name}")

        return note

    async def _read(self) -> None:
        while True:
            await asyncio.sleep(1)
            await self._line.client.get(CONFIG_MAPS, READ)


def lived(plan: str, *, seconds: int = 12, script: dict[float, str] | None = None) -> Diary:
    """Live with faults at the reads of these numbers (the second at which they are sent)."""
    with running(SimLoop(Chance(1))) as loop:
        diary = Diary(loop)
        loop.run_until_complete(_live(loop, diary, plan, seconds, script))
        return diary


async def _live(
    loop: SimLoop, diary: Diary, plan: str, seconds: int, script: dict[float, str] | None
) -> None:
    world = World(loop, 1)
    world.api.create(CONFIG_MAPS, "ns", {"metadata": {"name": "read"}}, Author("user"))
    _at_reads(world, diary, plan)
    world.run_operator("op", lambda line, ports, _: Looker(diary, line, ports))
    for second, text in (script or {float(n): f"+{n}" for n in range(2, seconds)}).items():
        world.later(second + 0.5, lambda text=text: _write(world, text))
    for _ in range(seconds):
        await asyncio.sleep(1)
        diary.troubles.append(world.troubled)
        world.check()
    await world.end()


def _at_reads(world: World, diary: Diary, plan: str) -> None:
    """Have faults come at reads, whatever else is called."""
    hits = {it.call: it.fault for it in Plan.parse(plan).hits}

    def listen(who: str, call: Asked) -> None:
        if isinstance(call, Call) and call.verb == "get":
            diary.reads.append((who, round(world.loop.time(), 1)))
            if (found := hits.pop(len(diary.reads), None)) is not None:
                world.weather.planned[world.weather.calls] = [found]

    world.weather.listeners.append(listen)


def _write(world: World, text: str) -> None:
    """Carry out ``+name``, ``-name`` and ``~name``, of config maps and secrets alike."""
    for it in text.split():
        key = ObjectKey("ns", it[1:])
        for kind in KINDS.values():
            match it[0]:
                case "+":
                    body = {"metadata": {"name": key.name}}
                    world.api.create(kind, "ns", body, Author("user"))
                case "-":
                    world.api.delete(kind, key, DeleteOptions())
                case _:
                    patch = MergePatch({"metadata": {"labels": {"t": str(world.loop.time())}}})
                    world.api.patch(kind, key, patch, Author("user"))


def test_in_calm_weather_everything_is_seen_at_once():
    diary = lived("calm", seconds=5)

    assert diary.of("secrets") == "2 2, 3 3, 4 4"
    assert diary.of("configmaps") == "0 read, 2 2, 3 3, 4 4"
    assert diary.troubles == [0] * 5


#: The fault at the read of second 3, and what is seen of config maps; of secrets, all at once.
VIEWS = {
    # silent from second 3 on for four
    "stall:ConfigMap:4": "2 2, 7 3, 7 4, 7 5, 7 6, 7 7, 8 8",
    "stall:ConfigMap:4:on": "2 2, 7 3, 7 4, 7 5, 7 6, 7 7, 8 8",
    # one by one, two seconds late, for four seconds
    "reorder:ConfigMap:2:4": "2 2, 5 3, 6 4, 7 5, 8 6, 9 7, 9 8",
}


@pytest.mark.parametrize("text", VIEWS)
def test_views(text):
    diary = lived(f"3={text}", seconds=14, script={n: f"+{n}" for n in range(2, 9)})

    assert diary.of("configmaps") == f"0 read, {VIEWS[text]}"
    assert diary.of("secrets") == "2 2, 3 3, 4 4, 5 5, 6 6, 7 7, 8 8"
    assert 1 in diary.troubles
    assert diary.troubles[-1] == 0


@pytest.mark.parametrize(("text", "seen"), [("", "2 a, 7 a"), (":on", "2 a, 7 a, 7 -a, 7 a")])
def test_after_silence_the_rest_is_listed_or_told(text, seen):
    diary = lived(f"3=stall:ConfigMap:4{text}", script={2: "+a", 3: "~a", 4: "-a", 5: "+a"})

    assert diary.of("configmaps") == f"0 read, {seen}"


def test_through_another_server_everything_is_late_and_in_step():
    diary = lived("3=server:2:5", seconds=14, script={n: f"+{n}" for n in range(2, 9)})

    assert diary.of("configmaps") == "0 read, 2 2, 5 3, 6 4, 7 5, 8 6, 8 7, 8 8"
    assert diary.of("secrets") == "2 2, 5 3, 6 4, 7 5, 8 6, 8 7, 8 8"
    assert diary.troubles[3:9] == [1, 1, 1, 1, 1, 0]


SCRIPTS = {
    # a deletion and what comes after it are seen as one change, or as none
    "2 +a, 5 -a, 6 +a": "2 a, 7 a",
    "2 +a, 5 ~a, 6 ~a": "2 a, 7 a",
    "2 +a, 5 +b, 6 -b": "2 a",
    "2 +a, 5 +b, 6 +c, 7 ~b": "2 a, 8 b, 8 c",
    # nothing more comes of the one that was hidden: after a minute it is shown
    "2 +a, 5 ~a": "2 a, 66 a",
    "2 +a": "2 a",
}


@pytest.mark.parametrize("text", SCRIPTS)
def test_unseen(text):
    script = {float(it.split()[0]): it.split()[1] for it in text.split(", ")}
    diary = lived("3=unseen:ConfigMap", seconds=70, script=script)

    assert diary.of("configmaps") == f"0 read, {SCRIPTS[text]}"
    assert diary.troubles[3] == 1
    assert diary.troubles[-1] == 0


def test_a_view_of_the_past_begins_with_another_process_and_ends_after_it_acts():
    # At the read of second 5 the newest revision is 8: read, then two each for 2, 3 and 4.
    diary = lived("5=stale:4:3", seconds=14)

    assert diary.of("configmaps").split(", ")[:8] == [
        *("0 read", "2 2", "3 3", "4 4"),  # before
        *("5 2", "5 read"),  # started again: the list of long ago
        *("9 3", "9 4"),  # three seconds after the first read of its own, at 6: the rest, in order
    ]
    assert diary.of("secrets").split(", ")[3:6] == ["5 2", "9 3", "9 4"]
    assert [who for who, _ in diary.reads[:6]] == ["op.1"] * 5 + ["op.2"]
    assert diary.troubles[5:10] == [1, 1, 1, 1, 0]


def test_or_only_of_some_kinds():
    diary = lived("5=stale-kinds:Secret:1:3", seconds=14)

    assert diary.of("configmaps").split(", ")[4:9] == ["5 2", "5 3", "5 4", "5 read", "5 5"]
    assert diary.of("secrets").split(", ")[3:7] == ["9 2", "9 3", "9 4", "9 5"]


def test_a_revision_may_be_counted_back():
    assert lived("5=stale:-4:3").lines == lived("5=stale:4:3").lines


def test_sigterm_asks_a_process_to_end_and_another_one_starts():
    diary = lived("3=sigterm", seconds=40)

    assert "3 ends gently" in diary.lines
    assert {who for who, _ in diary.reads} == {"op.1", "op.2"}
    assert 1 in diary.troubles, "nobody is there for a while"


CALLS = {
    # text: when the reads of the next process begin, and whether the third read was sent
    "crash-before:4": 8.0,
    "crash-after:4": 8.0,
    "crash-answered:4": 8.0,
}


@pytest.mark.parametrize("text", CALLS)
def test_a_process_that_dies_is_followed_by_another(text):
    diary = lived(f"3={text}", seconds=12)

    assert diary.reads[2] == ("op.1", 3.0)
    assert diary.reads[3] == ("op.2", CALLS[text])


def test_a_zombie_stands_still_and_is_late():
    diary = lived("3=zombie:5:1", seconds=12)

    assert [int(when) for _, when in diary.reads[2:4]] == [3, 9]
    assert diary.troubles[3:9] == [2, 2, 2, 2, 2, 0], "the call under way, and the pause"


def test_a_crash_before_a_call_leaves_it_undone():
    """The operator writes when it reads; who dies before has not written."""
    seen = {}
    for text in ("crash-before:0", "crash-after:0"):
        with running(SimLoop(Chance(1))) as loop:
            world = World(loop, 1)
            world.weather.planned[1] = [it.fault for it in Plan.parse(f"1={text}").hits]
            loop.run_until_complete(_write_once(world))
            seen[text] = world.api.store.get("configmaps", ObjectKey("ns", "op.1")) is not None
            loop.run_until_complete(world.end())

    assert seen == {"crash-before:0": False, "crash-after:0": True}


def test_what_is_forbidden_is_so_for_everybody_and_not_for_ever():
    """Who tries every second to create something, and to read it, is refused the one alone."""
    with running(SimLoop(Chance(1))) as loop:
        world, tries = World(loop, 1), Tries()
        world.weather.planned[1] = [it.fault for it in Plan.parse("1=403:3.5").hits]
        for name in ("a", "b"):
            world.run_operator(name, lambda line, _, name: Trying(line, name, tries))
        loop.run_until_complete(asyncio.sleep(2.5))
        assert (set(tries.said), world.troubled) == ({"a.1 Forbidden", "b.1 Forbidden"}, 1)
        tries.said.clear()
        loop.run_until_complete(asyncio.sleep(6))
        assert (set(tries.said[-2:]), world.troubled) == ({"a.1 made", "b.1 made"}, 0)
        loop.run_until_complete(world.end())


class Tries:
    """What came of it."""

    def __init__(self) -> None:
        self.said: list[str] = []


class Trying:
    """An operator that lists all the time, and makes something as soon as it may."""

    def __init__(self, line: Line, name: str, tries: Tries) -> None:
        self._line = line
        self._name = name
        self._tries = tries

    async def run(self, stop: asyncio.Event) -> None:
        body = {"metadata": {"namespace": "ns", "name": self._name}}
        while True:
            try:
                await self._line.client.create(CONFIG_MAPS, body)
            except Forbidden:
                self._tries.said.append(f"{self._name} Forbidden")
                await self._line.client.list(CONFIG_MAPS)
                await asyncio.sleep(1)
            else:
                self._tries.said.append(f"{self._name} made")
                await stop.wait()


class Writer:
    """An operator that writes its name."""

    def __init__(self, line: Line, name: str) -> None:
        self._line = line
        self._name = name

    async def run(self, stop: asyncio.Event) -> None:
        body = {"metadata": {"namespace": "ns", "name": self._name}}
        await self._line.client.create(CONFIG_MAPS, body)
        await stop.wait()


async def _write_once(world: World) -> None:
    world.run_operator("op", lambda line, _, name: Writer(line, name))
    await asyncio.sleep(2)


@pytest.mark.parametrize("text", ["stall:Nobody:3", "stale-kinds:Pod+Nobody:1:3"])
def test_a_kind_that_is_not_there_is_told(text):
    with pytest.raises(UsageError, match="Nobody"):
        lived(f"3={text}")


def test_what_breaks_in_the_world_itself_ends_the_run():
    with running(SimLoop(Chance(1))) as loop:
        world = World(loop, 1)
        world.later(1.0, lambda: 1 / 0)

        with pytest.raises(HouseError, match="fell over: ZeroDivisionError"):
            loop.run_until_complete(world.until("the end", lambda: False, within=5))
        with pytest.raises(HouseError, match="fell over: ZeroDivisionError"):
            loop.run_until_complete(world.end())
