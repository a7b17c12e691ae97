"""What the work queue promises, each promise as a little play."""

from __future__ import annotations

import asyncio

import pytest

from fakes.hand_clock import HandClock
from fakes.tally import Tally
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.runtime.backoff import Backoff
from stateward.runtime.queue import QueueClosed, WorkQueue

STEADY = Backoff(first=1, limit=8, jitter=0)


def queue(
    clock: HandClock | None = None, meter: Tally | None = None, pace: float = 0
) -> WorkQueue[str]:
    return WorkQueue(Ports(clock or HandClock(), Chance(0)), meter or Tally(), STEADY, pace=pace)


async def play(script: str, pace: float = 0) -> str:
    """Play a script and return the keys taken, with a dot where there was none to take.

    ``+a`` add, ``!a`` fail, ``?a`` succeed, ``/a`` end the pass, ``a~5`` add after 5 s, ``<`` take,
    ``>5`` let 5 s pass, ``x`` close.
    """
    clock = HandClock()
    line = queue(clock, pace=pace)
    verbs = {
        "+": line.add,
        "!": line.add_failed,
        "?": line.forget_failures,
        "/": line.done,
        ">": lambda seconds: clock.advance(float(seconds)),
        "x": lambda _: line.close(),
    }
    taken = ""
    for word in script.split():
        if word == "<":
            taken += await line.take() if len(line) else "."
        elif "~" in word:
            key, _, delay = word.partition("~")
            line.add_after(key, float(delay))
        else:
            verbs[word[0]](word[1:])
    return taken


PROMISES = {
    "added many times, one pass": ("+a +a +a < /a <", "a."),
    "first come, first served": ("+b +a +c < < < <", "bac."),
    "not twice at a time": ("+a < +a < ", "a."),
    "added during its pass, one more afterwards": ("+a < +a +a /a < /a <", "aa."),
    "ended without being added, no more": ("+a < /a <", "a."),
    "a busy key goes to the end of the line": ("+a < +b +a /a < <", "aba"),
    "others are served meanwhile": ("+a < +b < +a < /a <", "ab.a"),
    "a delayed key comes back by itself": ("a~5 < >4 < >1 <", "..a"),
    "a delay of nothing is no delay": ("a~0 <", "a"),
    "the soonest delay counts, asked for first": ("a~2 a~5 >2 < /a >9 <", "a."),
    "the soonest delay counts, asked for last": ("a~5 a~2 >2 < /a >9 <", "a."),
    "a pass makes a delay obsolete": ("a~5 +a < /a >9 <", "a."),
    "a delay asked for during the pass stands": ("+a < a~5 /a < >5 <", "a.a"),
    "a delay that ends during the pass means again": ("+a < a~5 >5 < /a <", "a.a"),
    "again now makes a delay obsolete": ("+a < a~5 +a /a < /a >9 <", "aa."),
    "delays of other keys stay": ("a~5 b~5 +a < /a >5 <", "ab"),
    "a failure delays": ("!a < >1 <", ".a"),
    "failures grow": ("!a >1 < !a /a >1 < >1 < !a /a >3 < >1 <", "a.a.a"),
    "failures of one key delay that key alone": ("!a >1 < !a /a !b >1 < >1 <", "aba"),
    "a success lets the next failure be the first": ("!a >1 < !a /a >2 < ?a !a /a >1 <", "aaa"),
    "an event does not wait for the delay of a failure": ("!a !a !a +a <", "a"),
    "closed, there is no more work": ("+a b~1 x +c d~1 >9 <", "."),
    "closed during a pass, it is the last": ("+a < +a x /a <", "a."),
}


#: With five seconds between two passes of a key.
PACED = {
    "the first event is served at once": ("+a <", "a"),
    "events of a burst are one more pass": ("+a < /a +a +a >4 < +a >1 < /a <", "a.a."),
    "an event during the pass waits as well": ("+a < +a /a < >5 <", "a.a"),
    "a pass longer than the pace needs no rest": ("+a < +a >6 /a <", "aa"),
    "it rests from the beginning of a pass": ("+a < >3 /a +a < >2 <", "a.a"),
    "others do not rest": ("+a < /a +a +b <", "ab"),
    "who has rested is served at once": ("+a < /a >5 +a <", "aa"),
    "a delay that was asked for is not made longer": ("+a < a~1 /a +a >1 <", "aa"),
    "a longer delay is made shorter by an event": ("+a < a~9 /a +a >5 < /a >9 <", "aa."),
    "no delay means now": ("+a < /a a~0 <", "aa"),
}


@pytest.mark.virtual
@pytest.mark.parametrize(("script", "taken"), PACED.values(), ids=PACED)
async def test_pace(script, taken):
    assert await play(script, pace=5) == taken


@pytest.mark.virtual
async def test_who_has_rested_is_forgotten():
    clock = HandClock()
    line = queue(clock, pace=5)
    for key in ("a", "b", "c"):
        line.add(key)
        line.done(await line.take())
        clock.advance(3)
    assert [*line._rests] == ["b", "c"]


@pytest.mark.virtual
@pytest.mark.parametrize(("script", "taken"), PROMISES.values(), ids=PROMISES)
async def test_promises(script, taken):
    assert await play(script) == taken


async def soon() -> None:
    """Let everybody who can run, run."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.virtual
async def test_whoever_waits_gets_a_key_in_the_order_of_waiting():
    line = queue()
    takers = [asyncio.create_task(line.take()) for _ in range(3)]
    await soon()
    for key in "abc":
        line.add(key)

    assert await asyncio.gather(*takers) == ["a", "b", "c"]


@pytest.mark.virtual
async def test_whoever_is_chosen_and_cancelled_passes_the_key_on():
    line = queue()
    first, second = (asyncio.create_task(line.take()) for _ in range(2))
    await soon()
    line.add("a")  # this chose the first ...
    first.cancel()  # ... who will not come

    assert await second == "a"
    assert first.cancelled()


@pytest.mark.virtual
async def test_whoever_gives_up_waiting_is_forgotten():
    line = queue()
    for _ in range(100):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await line.take()

    assert not line._waiters
    line.add("a")
    assert await line.take() == "a"


@pytest.mark.virtual
async def test_closing_wakes_everybody():
    line = queue()
    takers = [asyncio.create_task(line.take()) for _ in range(3)]
    await soon()
    line.close()

    ended = await asyncio.gather(*takers, return_exceptions=True)
    assert [type(error) for error in ended] == [QueueClosed] * 3
    with pytest.raises(QueueClosed):
        await line.take()


@pytest.mark.virtual
async def test_closing_leaves_no_timer():
    clock = HandClock()
    line = queue(clock)
    for key in "abc":
        line.add_failed(key)
    line.close()
    line.add_after("d", 5)

    assert not [timer for timer in clock._timers if timer.callback is not None]


@pytest.mark.virtual
async def test_the_growing_delay_is_told_and_never_less_than_asked_for():
    line = queue()

    assert [line.add_failed("a") for _ in range(5)] == [1, 2, 4, 8, 8]
    assert line.failures("a") == 5
    assert line.add_failed("b", at_least=30) == 30
    assert line.add_failed("a", at_least=3) == 8
    line.forget_failures("a")
    assert (line.failures("a"), line.failures("never heard of")) == (0, 0)


@pytest.mark.virtual
async def test_what_it_tells_about_itself():
    clock, meter = HandClock(), Tally()
    line = queue(clock, meter)
    line.add("a")
    line.add("b")
    clock.advance(3)
    key = await line.take()
    clock.advance(4)
    line.add(key)  # in work: not in line yet
    line.done(key)
    line.add_failed("c")
    line.close()

    assert meter.told("added") == [(), (), ()]
    assert meter.told("depth") == [1, 2, 1, 2, 0]
    assert meter.told("started") == [3]
    assert meter.told("finished") == [4]
    assert meter.told("retried") == [()]
