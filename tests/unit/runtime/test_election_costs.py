"""What an election asks of the server, at rest and in trouble; and doing without one."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bench import until
from fakes.campaign import HOUR, LOOK, RENEW, Campaign
from fakes.rough_wire import refuse, watch_ends
from fakes.tally import Tally
from stateward.kube.errors import Forbidden, Gone, ServerFailed
from stateward.runtime.election import Alone

pytestmark = pytest.mark.virtual


async def test_at_rest_a_leader_writes_only_and_a_standby_hardly_asks():
    stand = Campaign()
    a, b = await stand.pair()
    await asyncio.sleep(10)
    for it in (a, b):
        it.wire.calls.clear()
    await asyncio.sleep(HOUR)
    asked = [call.verb for _, call in a.wire.calls]

    assert set(asked) == {"patch"}, "who wrote last need not read"
    assert 0.95 * HOUR / 5 <= len(asked) <= 1.05 * HOUR / 5
    assert len(b.wire.calls) <= HOUR / 300 * 2, "but for watches that the server ends"
    assert stand.leaders == ["a"]
    await stand.end()


async def test_a_failed_renewal_is_tried_again_soon():
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(1)
    a.wire.plan("patch", refuse(ServerFailed("500")))
    a.wire.plan("get", refuse(ServerFailed("500")))
    await asyncio.sleep(11)
    claim, failed, renewed = a.wire.times("patch")[:3]

    assert 4 <= failed - claim <= RENEW
    assert 2 * 1.6 <= renewed - failed <= 2 * LOOK, "a look failed in between"
    assert stand.leaders == ["a"]
    await stand.end()


@pytest.mark.parametrize(
    "watch",
    [
        pytest.param(watch_ends(), id="ends at once"),
        pytest.param(watch_ends(ServerFailed("500")), id="fails"),
        pytest.param(watch_ends(Forbidden("no right")), id="is forbidden"),
    ],
)
async def test_who_cannot_watch_looks_by_itself_and_does_not_spin(watch):
    stand = Campaign()
    a, b = await stand.pair()
    b.wire.always["watch"] = watch
    await asyncio.sleep(60)
    assert 60 / LOOK - 1 <= len(b.wire.times("get")) <= 60 / 1.6 + 1
    a.task.cancel()
    await a.elector.release()
    taken = await until(lambda: b.led)

    assert taken - 61 <= LOOK + 0.02
    await stand.end()


async def test_a_lease_that_was_written_long_ago_is_watched_all_the_same():
    """As after a restart of the server, or of a holder that has been dead for minutes."""
    stand = Campaign()
    a, b = await stand.pair()
    await asyncio.sleep(10)
    a.process.crash()
    stand.api.store.compact()
    b.wire.plan("watch", refuse(Gone("too old")))
    b.wire.calls.clear()
    await until(lambda: b.led)
    assert [call.verb for _, call in b.wire.calls].count("list") <= 1
    assert len(b.wire.times("get")) <= 2, "it listens, and does not ask again and again"
    a.process.bury()
    await stand.end()


async def test_a_watch_that_tells_nothing_hides_no_renewal():
    stand = Campaign()
    _, b = await stand.pair()
    b.wire.always["watch"] = watch_ends(first_wait=1e9)
    await asyncio.sleep(HOUR)
    assert stand.leaders == ["a"]
    assert len(b.wire.times("get")) <= HOUR / 15 + 1
    await stand.end()


async def test_who_hears_by_the_watch_takes_over_when_the_holder_has_been_silent_and_no_later():
    stand = Campaign()
    a, b = await stand.pair()
    await asyncio.sleep(100)
    a.process.crash()
    last = a.wire.times("patch")[-1]
    await until(lambda: b.led)

    assert b.led[0] - last == pytest.approx(15, abs=0.1)
    a.process.bury()
    await stand.end()


async def test_who_is_alone_leads_without_a_lease_until_it_ends():
    stand = Campaign(lease=False)
    meter = Tally()
    me = Alone(stand.clock, meter)
    assert not me.leadership.held
    await me.acquire()
    kept = asyncio.create_task(me.keep())
    await asyncio.sleep(HOUR)
    me.leadership.check()
    assert not kept.done()
    kept.cancel()
    await me.release()

    assert not me.leadership.held
    assert meter.told("leads") == [True, False]
