"""What an instance may believe: about its lease, its own writes, and a server that was set back."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bench import Bench, key, running, until
from fakes.campaign import Campaign
from fakes.rough_wire import refuse
from fakes.shop import Shop
from stateward.core.errors import OutcomeUnknown
from stateward.core.outcome import DONE
from stateward.kube.codec import encode
from stateward.kube.errors import LONGEST_WAIT, Details, Status, TooManyRequests, from_status
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS
from stateward.local.api import Api
from stateward.runtime.cache import Cache, Index, by_label
from stateward.runtime.own_writes import Doubtful, Written

pytestmark = pytest.mark.virtual


async def test_a_late_starter_does_not_lead_while_anybody_may_believe_in_a_deleted_lease():
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(7)
    a.wire.always["get"] = refuse(TooManyRequests("slow down"))
    await stand.delete()
    b = stand.stand("b")
    await until(lambda: b.led)  # two believers at once would have raised

    assert b.led[0] >= 7 + 15
    assert stand.leaders == ["b"]
    await stand.end()


@pytest.mark.parametrize("age", [0.0, 4.9])
async def test_a_lease_is_not_let_go_while_a_write_may_be_under_way(age):
    stand = Campaign()
    a = stand.stand("a")
    await until(lambda: a.led)
    a.leadership.unsure()
    await asyncio.sleep(age)
    a.task.cancel()
    await a.elector.release()

    assert (await stand.lease()).spec.holder_identity == "a", "it runs out instead"
    await stand.end()


async def test_a_write_that_takes_itself_out_of_our_sight_is_waited_for_all_the_same():
    shop = Shop()
    async with running(shop.maps.run(), shop.secrets.run(), shop.controller.run()):
        await shop.make("a")
        await asyncio.sleep(1)
        before = len(shop.passes)
        # It belongs to nobody any more: only who wrote it tells that "a" must wait.
        text = b'{"metadata":{"namespace":"ns","name":"released","resourceVersion":"900"}}'
        shop.maps.own_writes.note(Written(CONFIG_MAPS.read(text), by=("shop", key("a"))))
        shop.queue.add(key("a"))
        await asyncio.sleep(5)
        assert len(shop.passes) == before, "the cache does not show it yet"
        shop.maps.own_writes.settle("900")
        await asyncio.sleep(2)
        assert len(shop.passes) > before


async def test_a_server_that_was_set_back_is_believed_and_our_writes_are_looked_up():
    bench = Bench()
    informer = bench.informer(CONFIG_MAPS)
    async with running(informer.run()):
        for _ in range(20):
            await bench.make("x")
            await bench.remove("x")
        made = await bench.make("a")
        await asyncio.sleep(0.1)
        late = CONFIG_MAPS.read(
            b'{"metadata":{"namespace":"ns","name":"a","resourceVersion":"900"}}'
        )
        informer.own_writes.note(Written(late, by=("shop", key("a"))))
        restored = Api(bench.ports)
        bench.user._api = restored
        await bench.make("a")
        bench.api.store.compact()
        await informer._list("restored")

        assert isinstance(informer.own_writes.doubtful()[0], Doubtful)
        assert informer.cache.get(key("a")).metadata.uid != made.metadata.uid


def test_one_object_that_cannot_be_filed_hides_no_other():
    cache = Cache(CONFIG_MAPS, [Index("zone", lambda it: (it.data["zone"],)), by_label("app")])
    for name, data in (("odd", {}), ("good", {"zone": "z1"})):
        text = {"metadata": {"namespace": "ns", "name": name, "resourceVersion": "1"}, "data": data}
        cache.put(CONFIG_MAPS.read(encode(text)))

    assert [bad.metadata.name for bad in cache.malformed] == ["odd"]
    assert cache.get(ObjectKey("ns", "good")).data == {"zone": "z1"}


@pytest.mark.parametrize("asked", [999_999_999, 10**400, -5])
def test_no_server_makes_us_wait_for_ever(asked):
    error = from_status(Status(code=429, details=Details(retry_after_seconds=asked)))

    assert 0 <= error.retry_after <= LONGEST_WAIT


async def test_a_doubt_is_noted_with_whoever_wrote():
    shop = Shop()
    shop.wire.plan("create", refuse(OutcomeUnknown("no answer")))

    async def create(_name: str):
        body = {"metadata": {"namespace": "ns", "name": "elsewhere"}}
        await shop.acting.create(CONFIG_MAPS, body)
        return DONE

    async with running(shop.maps.run(), shop.secrets.run(), shop.controller.run()):
        shop.acts["a"] = [create]
        await shop.make("a")
        await asyncio.sleep(0.2)
        (doubt,) = shop.maps.own_writes.doubtful()

    assert doubt.by == ("shop", key("a"))
