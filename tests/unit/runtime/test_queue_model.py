"""The work queue against a model of it, under every order of calls that hypothesis can think of."""

from __future__ import annotations

import asyncio

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fakes.hand_clock import HandClock
from fakes.tally import Tally
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.runtime.backoff import Backoff
from stateward.runtime.queue import QueueClosed, WorkQueue
from stateward.sim.loop import SimLoop

KEYS = st.sampled_from("abcd")
SECONDS = st.sampled_from([0.5, 1, 2, 5])


class QueueMachine(RuleBasedStateMachine):
    """Each rule does something to the queue and to the model, then everybody who can run runs."""

    @initialize(pace=st.sampled_from([0, 1.5]))
    def begin(self, pace: float) -> None:
        self.loop = SimLoop()
        self.clock = HandClock()
        self.queue: WorkQueue[str] = WorkQueue(
            Ports(self.clock, Chance(0)), Tally(), Backoff(first=1, limit=8, jitter=0), pace=pace
        )
        self.pace = pace
        self.rests: dict[str, float] = {}  # until when
        self.takers: list[asyncio.Task[str]] = []  # who waits, in order
        self.line: list[str] = []
        self.work: list[str] = []
        self.again: set[str] = set()
        self.later: dict[str, tuple[float, int]] = {}  # when, and which was asked for first
        self.failures: dict[str, int] = {}
        self.asked = 0

    # ------------------------------------------------------------------ the model
    def model_add(self, key: str) -> None:
        rest = self.rests.get(key, 0) - self.clock.monotonic()
        if rest > 0 and key not in self.work:
            self.model_later(key, rest)
        else:
            self.model_line_up(key)

    def model_line_up(self, key: str) -> None:
        if key in self.work:
            self.again.add(key)
        elif key not in self.line:
            self.line.append(key)

    def model_later(self, key: str, delay: float) -> None:
        due = self.clock.monotonic() + delay
        if key not in self.later or due < self.later[key][0]:
            self.asked += 1
            self.later[key] = (due, self.asked)

    def settle(self) -> None:
        """Let everybody run; those who wait get the keys in line, first come, first served."""
        self.loop.run_until_complete(_soon())
        while self.takers and self.line:
            taker, key = self.takers.pop(0), self.line.pop(0)
            assert taker.done(), f"{key} is in line, somebody waits for it and does not get it"
            assert taker.result() == key
            self.work.append(key)
            self.later.pop(key, None)
            self.rests[key] = self.clock.monotonic() + self.pace
        assert not any(taker.done() for taker in self.takers), "nobody gets what is not there"

    # ------------------------------------------------------------------ the rules
    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.model_add(key)
        self.settle()

    @rule(key=KEYS, delay=SECONDS)
    def add_after(self, key: str, delay: float) -> None:
        self.queue.add_after(key, delay)
        self.model_later(key, delay)
        self.settle()

    @rule(key=KEYS, at_least=st.sampled_from([0, 3]))
    def fail(self, key: str, at_least: float) -> None:
        failures = self.failures[key] = self.failures.get(key, 0) + 1
        delay = max(at_least, min(2 ** (failures - 1), 8))
        assert self.queue.add_failed(key, at_least=at_least) == delay
        self.model_later(key, delay)
        self.settle()

    @rule(key=KEYS)
    def succeed(self, key: str) -> None:
        self.queue.forget_failures(key)
        self.failures.pop(key, None)

    @rule()
    def take(self) -> None:
        self.takers.append(self.loop.create_task(self.queue.take()))
        self.settle()

    @precondition(lambda self: self.work)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.work))
        self.queue.done(key)
        self.work.remove(key)
        if key in self.again:
            self.again.discard(key)
            self.model_add(key)
        self.settle()

    @precondition(lambda self: self.takers)
    @rule(data=st.data(), arriving=st.lists(KEYS, max_size=3))
    def give_up_while_keys_arrive(self, data: st.DataObject, arriving: list[str]) -> None:
        """Whoever gives up may have been chosen a moment before: the key must reach another."""
        quitter = data.draw(st.sampled_from(self.takers))
        for key in arriving:
            self.queue.add(key)
            self.model_add(key)
        quitter.cancel()
        self.takers.remove(quitter)
        self.settle()
        assert quitter.cancelled()

    @rule(seconds=SECONDS)
    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        due = [key for key in self.later if self.later[key][0] <= self.clock.monotonic()]
        for key in sorted(due, key=self.later.__getitem__):
            del self.later[key]
            self.model_line_up(key)
        self.settle()

    # ------------------------------------------------------------------ what always holds
    @invariant()
    def the_numbers_agree(self) -> None:
        assert len(self.queue) == len(self.line)
        assert self.queue.in_work == len(self.work)
        assert {key: self.queue.failures(key) for key in self.failures} == self.failures

    @invariant()
    def nothing_is_kept_that_is_not_needed(self) -> None:
        timers = [timer for timer in self.clock._timers if timer.callback is not None]
        assert len(timers) == len(self.later)
        assert len(self.queue._waiters) == len(self.takers)
        assert len(self.queue._failures) == len(self.failures)

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        try:
            self.queue.close()
            self.loop.run_until_complete(_soon())
            assert all(isinstance(taker.exception(), QueueClosed) for taker in self.takers)
            for key in self.work:
                self.queue.done(key)
            self.clock.advance(100)
            assert (len(self.queue), self.queue.in_work) == (0, 0)
        finally:
            self.loop.close()


async def _soon() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=40)
