"""A controller gives keys their passes: when, how many at once, and when again."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bench import config_map, key, running, until
from fakes.rough_wire import take
from fakes.shop import Shop, fail, say, work
from stateward.core.outcome import DONE, Blocked, Retry, Stop, Wait
from stateward.kube.client import MergePatch
from stateward.kube.resources import CONFIG_MAPS, SECRETS

pytestmark = pytest.mark.virtual

HOUR = 3600.0


async def edit(shop: Shop, name: str, **data: str) -> None:
    await shop.user.patch(CONFIG_MAPS, key(name), MergePatch({"data": data}))
    await asyncio.sleep(0.01)


async def test_everything_that_is_there_gets_a_pass_once_the_caches_are_filled():
    shop = Shop()
    for name in "abc":
        await shop.make(name)
    shop.wire.plan("list", take(1), take(5))
    async with running(*shop.parts()):
        await asyncio.sleep(4)
        assert shop.maps.synced.is_set()
        assert not shop.passes, "one of the caches is not filled yet"
        await asyncio.sleep(2)
        assert "".join(sorted(name for _, name in shop.passes)) == "abc"
        assert {when for when, _ in shop.passes} == {5.0}


async def test_a_change_wakes_the_key_at_once():
    shop = Shop()
    await shop.make("a")
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        await shop.make("b")
        await edit(shop, "a", x="1")
        assert len(shop.times("a")) == 2
        assert len(shop.times("b")) == 1

        await shop.user.create(SECRETS, config_map("s", owner="a"))
        await asyncio.sleep(0.01)
        assert len(shop.times("a")) == 3


async def test_what_changes_hands_wakes_both_hands():
    shop = Shop()
    for name in "ab":
        await shop.make(name)
    await shop.user.create(SECRETS, config_map("s", owner="a"))
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        before = {name: len(shop.times(name)) for name in "ab"}
        await shop.user.update(SECRETS, config_map("s", owner="b"))
        await asyncio.sleep(0.01)
        assert {name: len(shop.times(name)) for name in "ab"} == {
            name: count + 1 for name, count in before.items()
        }


async def test_a_key_that_changes_during_its_pass_gets_exactly_one_more():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [work(10), say(DONE)]
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        for number in range(5):
            await edit(shop, "a", x=str(number))
        await asyncio.sleep(20)
        assert shop.pauses("a") == [10]


async def test_so_many_passes_at_once_and_no_more():
    shop = Shop(workers=3)
    for name in "abcdefg":
        await shop.make(name)
        shop.acts[name] = [work(10)]
    async with running(*shop.parts()):
        await asyncio.sleep(25)
        assert [when for when, _ in shop.passes] == [0, 0, 0, 10, 10, 10, 20]
        assert shop.busiest == 3
    assert shop.results.told("limit") == [3]
    assert max(shop.results.told("active")) == 3


@pytest.mark.parametrize(
    ("outcome", "least", "most"),
    [
        pytest.param(DONE, 48, 72, id="done: looked at again"),
        pytest.param(Wait("R", "m"), 48, 72, id="wait: looked at again"),
        pytest.param(Blocked("R", "m", "h"), 48, 72, id="blocked: looked at again"),
        pytest.param(Retry(5, "R", "m"), 5, 5, id="retry"),
        pytest.param(Stop(7, "R", "m"), 7, 7, id="stop"),
        pytest.param(Retry(500, "R", "m"), 48, 72, id="retry much later: looked at before"),
    ],
)
async def test_when_a_key_comes_back_by_itself(outcome, least, most):
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [say(outcome)]
    async with running(*shop.parts()):
        await asyncio.sleep(10 * 72)
    assert len(shop.pauses("a")) >= 9
    assert all(least <= pause <= most for pause in shop.pauses("a"))
    assert (len(set(shop.pauses("a"))) > 1) == (least != most), "looks are not in step"


async def test_a_change_makes_the_next_look_obsolete():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [say(Retry(30, "R", "m")), say(Retry(30, "R", "m"))]
    async with running(*shop.parts()):
        await asyncio.sleep(20)
        await edit(shop, "a", x="1")
        await asyncio.sleep(45)
        assert [round(when) for when in shop.times("a")] == [0, 20, 50]


async def test_what_is_gone_is_not_looked_at_for_ever():
    shop = Shop()
    for name in "abc":
        await shop.make(name)
    async with running(*shop.parts()):
        await asyncio.sleep(100)
        for name in "abc":
            await shop.remove(name)
        await asyncio.sleep(1)
        last = len(shop.passes)
        await asyncio.sleep(HOUR)
        assert len(shop.passes) == last, "each was told of its end, and that is all"
        assert not shop.queue._later
        assert not shop.queue._failures

        await shop.make("a")
        await asyncio.sleep(100)
        assert len(shop.times("a")) > 3, "one that comes again is looked at again"


async def test_what_is_gone_and_not_done_with_is_looked_at_until_it_is():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [say(DONE), say(Wait("Leaving", "m")), say(Wait("Leaving", "m")), say(DONE)]
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        await shop.remove("a")
        await asyncio.sleep(HOUR)
        assert len(shop.times("a")) == 4


async def test_what_cannot_be_read_is_looked_at_all_the_same():
    shop = Shop()
    await shop.make("a")
    garbled = {**config_map("a"), "data": []}
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        with pytest.raises(Exception, match="expected a JSON document"):
            await shop.user.update(CONFIG_MAPS, garbled)
        await asyncio.sleep(HOUR)
        assert len(shop.times("a")) > 40


async def test_close_lets_the_running_pass_end_and_begins_no_other():
    shop = Shop(workers=1)
    for name in "ab":
        await shop.make(name)
    ended: list[str] = []

    async def slow(name: str):
        await asyncio.sleep(10)
        ended.append(name)
        return Retry(1, "R", "m")

    shop.acts["a"] = [slow]
    async with running(*shop.parts()) as (_, _, controller):
        await asyncio.sleep(1)
        shop.controller.close()
        assert not shop.controller.idle
        await until(controller.done)
        assert (shop.loop.time(), ended) == (pytest.approx(10, abs=0.02), ["a"])
        assert shop.controller.idle
        await edit(shop, "a", x="1")
        await asyncio.sleep(HOUR)
        assert [name for _, name in shop.passes] == ["a"]
        assert not shop.queue._later, "no timer is left"


async def test_a_controller_that_is_cancelled_stops_at_once():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [work(100)]
    async with running(*shop.parts()) as (_, _, controller):
        await asyncio.sleep(1)
        controller.cancel()
        await until(controller.done)
        assert shop.loop.time() < 1.1
        assert shop.queue.in_work == 0
        assert not shop.busy.total()


async def test_what_it_tells_about_itself():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [work(2), say(Retry(5, "R", "m")), fail(ValueError("bug")), say(DONE)]
    async with running(*shop.parts()):
        for number in range(3):
            await asyncio.sleep(3)
            await edit(shop, "a", x=str(number))
        await asyncio.sleep(1)
    results = [(result, round(seconds)) for result, seconds in shop.results.told("finished")]
    assert results[:4] == [("success", 2), ("requeue_after", 0), ("error", 0), ("success", 0)]
    assert shop.results.told("active")[-1] == 0
