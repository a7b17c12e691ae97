"""Steps run in order, and what they say is folded into one report.

The notation: ``d`` done, ``w`` wait, ``b`` blocked, ``r5`` retry after 5 s, ``s5`` stop for 5 s,
``x`` fails.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.hand_clock import HandClock
from stateward.core.errors import PeerUnreachable
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Retry, Stop, Wait, wake_after
from stateward.runtime.pipeline import Report, run_steps
from stateward.sim import loop as sim_loop

LAW = settings(max_examples=150)


def outcome(word: str, reason: str = "Because") -> Outcome:
    match word[0], word[1:]:
        case "d", _:
            return DONE
        case "w", _:
            return Wait(reason, "waiting")
        case "b", _:
            return Blocked(reason, "blocked", "do something")
        case "r", after:
            return Retry(float(after), reason, "trying again")
        case "s", after:
            return Stop(float(after), reason, "stopping")
    raise ValueError(word)


@dataclass
class Scripted:
    """A step that takes a second and says what its word says."""

    name: str
    word: str
    clock: HandClock
    seen: list[object] = field(default_factory=list)

    async def run(self, seen: object) -> Outcome:
        self.seen.append(seen)
        self.clock.advance(1)
        if self.word == "x":
            raise PeerUnreachable("nobody answers")
        return outcome(self.word, reason=self.name)


def run(words: str, snapshot: object = "snapshot") -> tuple[Report, list[Scripted]]:
    clock = HandClock()
    steps = [Scripted(f"Step{n}", word, clock) for n, word in enumerate(words.split())]
    return sim_loop.run(run_steps(steps, snapshot, clock)), steps


def said(report: Report) -> str:
    return " ".join(each.step.removeprefix("Step") for each in report.said)


@pytest.mark.parametrize(
    ("words", "ran", "settled"),
    [
        ("", "", True),
        ("d d d", "0 1 2", True),
        ("d w d", "0 1 2", False),
        ("r5 d", "0 1", False),
        ("b d", "0 1", False),
        ("d s5 d", "0 1", False),
        ("d x d", "0", False),
        ("x", "", False),
    ],
)
def test_steps_run_in_order_until_one_stops_or_fails(words, ran, settled):
    report, steps = run(words)

    assert said(report) == ran
    assert report.settled is settled
    reached = len(report.said) + (report.failure is not None)
    assert [step.seen for step in steps] == [["snapshot"]] * reached + [[]] * (len(steps) - reached)


def test_how_long_each_step_took_is_told():
    report, _ = run("d w")

    assert [each.seconds for each in report.said] == [1, 1]


@pytest.mark.parametrize(
    ("words", "folded"),
    [
        ("", DONE),
        ("d d", DONE),
        ("d w", Wait("Step1", "waiting")),
        ("b w", Blocked("Step0", "blocked", "do something")),
        ("w r5", Retry(5, "Step0", "waiting")),
        ("b r5", Retry(5, "Step0", "blocked")),
        ("r9 r5", Retry(5, "Step0", "trying again")),
        ("r5 r9", Retry(5, "Step0", "trying again")),
        ("d r9 w s2", Retry(2, "Step1", "trying again")),
        ("w s7", Retry(7, "Step0", "waiting")),
        ("d s7", Stop(7, "Step1", "stopping")),
    ],
)
def test_the_first_that_is_not_done_speaks_for_all_and_the_soonest_wakes(words, folded):
    assert run(words)[0].outcome == folded


WORDS = st.sampled_from(["d", "d", "w", "b", "r3", "r8", "s4", "x"])


@LAW
@given(words=st.lists(WORDS, max_size=6))
def test_what_a_report_says_follows_from_what_was_said(words):
    report, _ = run(" ".join(words))
    told = [each.outcome for each in report.said]
    times = [after for it in told if (after := wake_after(it)) is not None]
    open_ones = [it for it in told if not isinstance(it, Done)]

    assert report.wake_after == min(times, default=None)
    assert wake_after(report.outcome) == report.wake_after
    assert report.settled == (not open_ones and report.failure is None)
    assert (report.outcome == DONE) == (not open_ones)
    if open_ones:
        assert report.outcome.reason == open_ones[0].reason


def test_a_failure_says_which_step_and_why():
    report, _ = run("d x")

    assert (report.failure.step, report.failure.reason) == ("Step1", "PeerUnreachable")
    assert str(report.failure.error) == "nobody answers"


@dataclass
class Raising:
    name: str
    error: BaseException

    async def run(self, seen: object) -> Outcome:
        raise self.error


def test_a_bug_is_an_internal_error():
    steps = [Raising("Buggy", ZeroDivisionError("division by zero"))]
    report = sim_loop.run(run_steps(steps, None, HandClock()))

    assert (report.failure.step, report.failure.reason) == ("Buggy", "InternalError")


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt()], ids=repr)
def test_whoever_wants_the_pass_to_end_is_obeyed(error):
    async def passing() -> None:
        with pytest.raises(type(error)):
            await run_steps([Raising("Ends", error)], None, HandClock())

    sim_loop.run(passing())
