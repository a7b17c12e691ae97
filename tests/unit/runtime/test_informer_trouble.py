"""Whatever the peer does, an informer goes on, says what is wrong, and does not hammer."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from fakes.bench import Bench, key, running, until
from fakes.rough_wire import refuse, watch_ends
from stateward.core.errors import PeerConfused, PeerUnreachable
from stateward.kube.client import Change, Malformed, WatchEvent
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    Gone,
    NotFound,
    ServerFailed,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime.backoff import Backoff
from stateward.runtime.informer import Informer

pytestmark = pytest.mark.virtual

HOUR = 3600.0
#: Calls an hour when every one of them fails and the pauses have grown to 30 s, less a fifth.
PATIENT = HOUR / 24 + 10


def steady(bench: Bench) -> Informer:
    return bench.informer(CONFIG_MAPS, backoff=Backoff(first=1, limit=30, jitter=0))


def pauses(bench: Bench, verb: str) -> list[float]:
    return [round(later - earlier, 3) for earlier, later in pairwise(bench.wire.times(verb))]


def bookmark_and(error: Exception | None):
    """A watch that tells a revision at once and then ends."""

    async def ending(events):
        yield WatchEvent(Change.BOOKMARK, Malformed(ObjectMeta(), ""), "5")
        if error is not None:
            raise error

    return ending


@pytest.mark.parametrize(
    ("fate", "relists"),
    [
        pytest.param(watch_ends(Gone("too old")), True, id="always 410"),
        pytest.param(bookmark_and(Gone("too old")), True, id="a bookmark, then 410"),
        pytest.param(watch_ends(), False, id="ends at once"),
        pytest.param(bookmark_and(None), False, id="a bookmark, then the end"),
        pytest.param(watch_ends(PeerUnreachable("cut")), False, id="cut at once"),
        pytest.param(bookmark_and(PeerUnreachable("cut")), False, id="a bookmark, then a cut"),
    ],
)
async def test_a_server_whose_watches_are_of_no_use_is_not_hammered(fate, relists):
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.wire.always["watch"] = fate
    async with running(informer.run()):
        await asyncio.sleep(HOUR)
    assert 100 < len(bench.wire.times("watch")) < PATIENT
    assert len(bench.wire.times("list")) < (PATIENT if relists else 2)


async def test_a_server_that_tells_one_event_and_ends_is_not_hammered_and_all_is_told():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.wire.always["watch"] = watch_ends(after=1)
    async with running(informer.run()):
        await informer.synced.wait()
        for number in range(20):
            await bench.make(f"m{number}")
        await until(lambda: len(informer.cache) == 20, within=30)
    assert len(bench.wire.times("watch")) == 20


async def test_the_pauses_grow_while_the_first_list_fails():
    bench = Bench()
    informer = steady(bench)
    bench.wire.plan("list", *[refuse(PeerUnreachable("refused"))] * 7)
    await bench.make("a")
    async with running(informer.run()):
        await asyncio.sleep(50)
        assert not informer.synced.is_set()
        assert informer.problem == "refused"
        await informer.synced.wait()
        assert informer.problem is None
        assert key("a") in informer.cache
    assert pauses(bench, "list") == [1, 2, 4, 8, 16, 30, 30]


@pytest.mark.parametrize("verb", ["list", "watch"])
@pytest.mark.parametrize("kind", [TooManyRequests, Unavailable], ids=["429", "503"])
async def test_a_server_that_says_when_to_come_back_is_obeyed(verb, kind):
    bench = Bench()
    informer = steady(bench)
    error = kind("slow down", retry_after=45)
    bench.wire.plan(verb, refuse(error) if verb == "list" else watch_ends(error))
    async with running(informer.run()):
        await asyncio.sleep(60)
    assert pauses(bench, verb) == [45]


async def test_a_short_retry_after_does_not_make_the_pause_shorter():
    bench = Bench()
    informer = steady(bench)
    bench.wire.plan("list", *[refuse(TooManyRequests("slow down", retry_after=0.01))] * 3)
    async with running(informer.run()):
        await asyncio.sleep(60)
    assert pauses(bench, "list") == [1, 2, 4]


@pytest.mark.parametrize(
    "error",
    [NotFound("no such kind"), ApiError("404 page not found", code=404)],
    ids=["said so", "a page"],
)
async def test_a_kind_that_is_not_installed_yet_is_a_problem_and_then_none(error):
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.wire.always["list"] = refuse(error)
    async with running(informer.run()):
        await asyncio.sleep(600)
        assert informer.problem == str(error)
        assert not informer.synced.is_set()
        assert not bench.wire.times("watch"), "nothing to watch"

        del bench.wire.always["list"]  # now somebody installs it
        await bench.make("a")
        installed = bench.loop.time()
        await informer.synced.wait()
        assert bench.loop.time() - installed < 37
        assert (informer.problem, key("a") in informer.cache) == (None, True)


@pytest.mark.parametrize(
    ("error", "relists"),
    [
        (PeerUnreachable("cut"), []),
        (PeerConfused("garbage"), ["PeerConfused"]),
        (Unauthorized("who?"), []),
        (Forbidden("no"), []),
        (TooManyRequests("slow"), []),
        (ServerFailed("500"), []),
        (ServerFailed("502", code=502), []),
        (Unavailable("503"), []),
        (Gone("410"), ["gone"]),
        (BadRequest("revision?"), ["BadRequest"]),
        (NotFound("kind?"), ["NotFound"]),
        (ServerFailed("too large resource version", code=504), ["InternalError"]),
    ],
    ids=str,
)
async def test_which_errors_of_a_watch_mean_that_all_must_be_listed_again(error, relists):
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    bench.wire.plan("watch", watch_ends(error))
    async with running(informer.run()):
        await asyncio.sleep(20)
    assert bench.meter.told("relisted") == ["start", *relists]
    assert bench.meter.told("restarted") == [error.reason]


async def test_while_nobody_answers_the_cache_shows_what_it_knew_and_says_since_what():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    await bench.make("a")
    bench.wire.plan("watch", watch_ends(Gone("too old"), first_wait=5))
    async with running(informer.run()):
        await informer.synced.wait()
        bench.wire.always["list"] = refuse(Forbidden("you may not"))
        await bench.remove("a")
        await asyncio.sleep(HOUR)
        assert key("a") in informer.cache, "nothing observed is not nothing there"
        assert informer.problem == "you may not; give the operator's role the missing right"


async def test_pauses_start_anew_after_a_watch_that_lasted():
    bench = Bench(bookmark_every=10)
    informer = steady(bench)
    cut = PeerUnreachable("cut")
    bench.wire.plan("watch", *[watch_ends(cut)] * 4, watch_ends(cut, after=3), watch_ends(cut))
    async with running(informer.run()):
        await asyncio.sleep(120)
    # Four cuts at once; one after three bookmarks, 30 s, and a first pause; then a second one.
    assert pauses(bench, "watch") == [1, 2, 4, 8, 31, 2]


async def test_a_problem_is_over_when_something_is_heard_again():
    bench = Bench(bookmark_every=10)
    informer = steady(bench)
    bench.wire.plan("watch", watch_ends(ServerFailed("etcd is down"), first_wait=5))
    async with running(informer.run()):
        await until(lambda: informer.problem == "etcd is down")
        healed = await until(lambda: informer.problem is None)
        assert healed < 5 + 1 + 10 + 1
