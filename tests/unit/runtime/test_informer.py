"""List once, then watch: what an informer shows and tells while all is well, or nearly."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from fakes.bench import Bench, config_map, key, running, until
from fakes.rough_wire import watch_ends
from stateward.core.errors import PeerUnreachable
from stateward.kube.client import MergePatch, Selection
from stateward.kube.errors import Gone
from stateward.kube.resources import CONFIG_MAPS, SECRETS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.runtime.cache import Delta, by_label
from stateward.runtime.informer import Informer
from stateward.runtime.own_writes import Deleted, Doubtful, Written

pytestmark = pytest.mark.virtual

CUT = PeerUnreachable("the watch was cut")


class Listener:
    """What was told, as ``+a`` new, ``~a`` changed, ``-a`` gone, ``=a`` our own write is seen."""

    def __init__(self, informer: Informer) -> None:
        self.words: list[str] = []
        informer.listen(self._hear)

    def _hear(self, delta: Delta) -> None:
        sign = "+" if delta.before is None else "-" if delta.now is None else "~"
        self.words.append(("=" if delta.before is delta.now else sign) + delta.key.name)

    def heard(self) -> str:
        words, self.words = self.words, []
        return " ".join(words)


async def started(bench: Bench, informer: Informer) -> Listener:
    listener = Listener(informer)
    await informer.synced.wait()
    await asyncio.sleep(0.1)
    return listener


async def edit(bench: Bench, name: str, **data: str) -> None:
    await bench.user.patch(CONFIG_MAPS, key(name), MergePatch({"data": data}))
    await asyncio.sleep(0)


async def test_what_was_there_and_what_comes_is_told_in_order():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    await bench.make("a")
    assert (informer.revision, informer.problem) == ("", "not listed yet")
    async with running(informer.run()):
        listener = await started(bench, informer)
        assert listener.heard() == "+a"
        assert (informer.revision, informer.problem) == ("2", None)

        await bench.make("b")
        await edit(bench, "a", x="1")
        await bench.remove("b")
        await asyncio.sleep(0.1)
        assert listener.heard() == "+b ~a -b"
        assert informer.revision == str(bench.api.store.revision)
        assert [it.data for it in informer.cache] == [{"x": "1"}]
    assert bench.wire.said() == ["list configmaps ", "watch configmaps "]


async def test_what_is_not_selected_is_not_shown():
    bench = Bench()
    chosen = {**config_map("a"), "metadata": {**config_map("a")["metadata"], "labels": {"x": "y"}}}
    informer = bench.informer(
        CONFIG_MAPS, selection=Selection("ns", labels="x=y"), indexes=(by_label("x"),)
    )
    async with running(informer.run()):
        listener = await started(bench, informer)
        await bench.user.create(CONFIG_MAPS, chosen)
        await bench.make("b")
        await asyncio.sleep(0.1)
        assert [it.metadata.name for it in informer.cache.find("label:x", "y")] == ["a"]

        await bench.user.patch(CONFIG_MAPS, key("a"), MergePatch({"metadata": {"labels": None}}))
        await asyncio.sleep(0.1)
        assert listener.heard() == "+a -a"


@pytest.mark.parametrize(
    "cut", [watch_ends(CUT, after=1), watch_ends(None, after=1, first_wait=2)], ids=["cut", "ended"]
)
async def test_a_cut_watch_goes_on_where_it_ended_without_a_second_list(cut):
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.wire.plan("watch", cut)
    async with running(informer.run()):
        listener = await started(bench, informer)
        for name in "abc":  # the wire breaks after the first
            await bench.make(name)
        await asyncio.sleep(3)
        assert listener.heard() == "+a +b +c"
    assert [call.split()[0] for call in bench.wire.said()] == ["list", "watch", "watch"]


async def test_after_a_410_all_is_listed_again_and_what_disappeared_is_told():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    for name in "abc":
        await bench.make(name)
    bench.wire.plan("watch", watch_ends(CUT, first_wait=5))
    async with running(informer.run()):
        listener = await started(bench, informer)
        assert listener.heard() == "+a +b +c"

        await asyncio.sleep(4.95)  # the wire is down now
        await bench.remove("a")
        await edit(bench, "b", x="1")
        await bench.remove("c")
        await bench.make("c")
        await bench.make("d")
        bench.api.store.compact()
        await asyncio.sleep(10)
        assert sorted(listener.heard().split()) == ["+d", "-a", "~b", "~c"]
        assert informer.problem is None
    assert bench.meter.told("relisted") == ["start", "gone"]
    assert bench.meter.told("objects")[-1] == 3


async def test_a_list_that_has_to_be_repeated_is_repeated_not_given_up():
    """A watch from the revision that the server refused would only be refused again."""
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)

    def fail_once(events):
        bench.wire.plan("list", _unreachable)
        return watch_ends(Gone("too old"))(events)

    bench.wire.plan("watch", fail_once)
    async with running(informer.run()):
        await started(bench, informer)
        await asyncio.sleep(10)
    verbs = [call.split()[0] for call in bench.wire.said()]
    assert verbs == ["list", "watch", "list", "list", "watch"]


async def _unreachable(perform):
    raise PeerUnreachable("nobody answers")


async def test_a_quiet_resource_keeps_up_by_bookmarks():
    bench = Bench(bookmark_every=10)
    informer = bench.informer(CONFIG_MAPS)
    async with running(informer.run()):
        listener = await started(bench, informer)
        was = informer.revision
        await bench.user.create(SECRETS, config_map("s"))
        assert informer.revision == was
        await asyncio.sleep(21)  # one may be on its way already
        assert informer.revision == str(bench.api.store.revision) != was
        assert listener.heard() == ""


async def test_an_end_of_the_stream_every_ten_minutes_is_nothing_special():
    bench = Bench(lifetime=600)
    informer = bench.informer(CONFIG_MAPS)
    async with running(informer.run()):
        listener = await started(bench, informer)
        for number in range(12):
            await asyncio.sleep(300)
            await bench.make(f"m{number}")
        await asyncio.sleep(0.1)
        assert len(listener.words) == 12
    assert len(bench.wire.times("list")) == 1
    assert 5 <= len(bench.wire.times("watch")) <= 7
    assert bench.loop.time() < 3700, "and there is no pause between them"


def garbled(name: str) -> dict:
    return {**config_map(name), "data": ["not", "a", "map"]}


async def test_objects_that_cannot_be_read_are_there_and_say_so():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.api.create(CONFIG_MAPS, "ns", garbled("a"), Author("user"))
    await bench.make("b")
    async with running(informer.run()):
        listener = await started(bench, informer)
        assert listener.heard() == "=a +b", "whoever owns it must look"
        assert [bad.metadata.name for bad in informer.cache.malformed] == ["a"]
        assert informer.problem is None, "one bad object is not the informer's problem"

        bench.api.update(CONFIG_MAPS, key("b"), garbled("b"), Author("user"))
        await bench.user.update(CONFIG_MAPS, config_map("a", x="1"))
        await asyncio.sleep(0.1)
        assert listener.heard() == "=b +a"
        assert [bad.metadata.name for bad in informer.cache.malformed] == ["b"]

        bench.api.delete(CONFIG_MAPS, key("b"), DeleteOptions())
        await asyncio.sleep(0.1)
        assert key("b") not in informer.cache
        assert listener.heard() == "-b"
    assert bench.meter.told("malformed") == [1, 2, 1, 0]


async def test_our_own_write_is_told_when_it_is_seen():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    async with running(informer.run()):
        listener = await started(bench, informer)
        informer.own_writes.note(Written(await bench.make("a")))
        assert len(informer.own_writes) == 1
        await asyncio.sleep(0.1)
        assert listener.heard() == "+a =a"
        assert len(informer.own_writes) == 0


async def test_our_own_write_is_told_even_if_it_came_and_went_unseen():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.wire.plan("watch", watch_ends(CUT, first_wait=5))
    async with running(informer.run()):
        listener = await started(bench, informer)
        await asyncio.sleep(4.95)  # the wire is down now
        informer.own_writes.note(Written(await bench.make("a")))
        await bench.remove("a")
        bench.api.store.compact()
        await asyncio.sleep(10)
        assert listener.heard() == "=a"
        assert len(informer.own_writes) == 0


async def test_our_own_deletion_is_told_when_it_is_seen_and_a_doubt_is_not():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    a, b = await bench.make("a"), await bench.make("b")
    async with running(informer.run()):
        listener = await started(bench, informer)
        informer.own_writes.note(Deleted(a))
        informer.own_writes.note(Doubtful(b))
        await bench.make("c")
        await asyncio.sleep(0.1)
        assert listener.heard() == "+a +b +c"
        await bench.remove("a")
        await asyncio.sleep(0.1)
        assert listener.heard() == "-a =a"
        assert [doubt.object for doubt in informer.own_writes.doubtful()] == [b]


async def test_a_write_to_what_is_not_selected_is_settled_by_a_bookmark():
    bench = Bench(bookmark_every=10)
    informer = bench.informer(CONFIG_MAPS, selection=Selection("elsewhere"))
    async with running(informer.run()):
        listener = await started(bench, informer)
        informer.own_writes.note(Written(await bench.make("a")))
        seen = await until(lambda: not len(informer.own_writes))
        assert seen < 11
        assert listener.heard() == "=a"


async def test_whoever_is_cancelled_leaves_nothing_behind():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    listeners = len(bench.api.store._listeners)
    async with running(informer.run()):
        await started(bench, informer)
        assert len(bench.api.store._listeners) == listeners + 1
    assert len(bench.api.store._listeners) == listeners


async def test_a_bug_of_a_listener_hides_nothing_from_the_others():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)

    def stumble(delta: Delta) -> None:
        raise ZeroDivisionError(delta.key)

    informer.listen(stumble)
    async with running(informer.run()):
        listener = await started(bench, informer)
        with capture_logs() as lines:
            await bench.make("a")
            await bench.make("b")
            await asyncio.sleep(0.1)
        assert listener.heard() == "+a +b"
        assert [line["key"] for line in lines] == ["ns/a", "ns/b"]
        assert all(line["log_level"] == "error" for line in lines)
