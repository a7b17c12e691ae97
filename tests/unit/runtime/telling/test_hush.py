"""That somebody else wrote first is told to nobody, unless it lasts."""

from __future__ import annotations

import asyncio

import pytest

from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Stop, Wait
from stateward.kube.errors import Conflict, ServerFailed
from stateward.runtime.pipeline import Failure, Report, Said
from stateward.runtime.telling.hush import LASTS, Hush
from stateward.sim.loop import SimClock

CONFLICT = Retry(1.0, "Conflict", "process group storage-1 changed meanwhile")
CHANGED = Stop(0.5, "SpecChanged", "the spec was changed meanwhile; looking at it anew")
WAITS = Wait("PodsMissing", "no pod yet")


def report(*outcomes: Outcome, error: Exception | None = None) -> Report:
    said = [Said(f"Step{number}", it, 0.0) for number, it in enumerate(outcomes)]
    return Report(said, None if error is None else Failure("Last", error))


def words(found: Report) -> list[str]:
    return [getattr(outcome, "reason", "") for _, outcome in found.words]


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("said", "left"),
    [
        (report(WAITS, CONFLICT), ["PodsMissing"]),
        (report(WAITS, CHANGED), ["PodsMissing"]),
        (report(WAITS, error=Conflict("it changed")), ["PodsMissing"]),
        (report(WAITS, error=ServerFailed("it fails")), ["PodsMissing", ServerFailed.reason]),
        (report(DONE, Blocked("Conflict", "by the word of a person", "do it")), ["", "Conflict"]),
    ],
    ids=["a write", "the spec", "a failed pass", "trouble", "a person must act"],
)
async def test_what_is_ordinary_is_left_out(said: Report, left: list[str]) -> None:
    assert words(Hush(SimClock(asyncio.get_running_loop())).heard("uid", said)) == left


@pytest.mark.virtual
async def test_what_lasts_is_told() -> None:
    hush = Hush(SimClock(asyncio.get_running_loop()))
    for _ in range(int(LASTS)):
        assert words(hush.heard("uid", report(CONFLICT))) == []
        assert words(hush.heard("another", report(WAITS))) == ["PodsMissing"]
        await asyncio.sleep(1.0)
    assert words(hush.heard("uid", report(CONFLICT))) == ["Conflict"]
    hush.heard("uid", report(DONE))
    assert words(hush.heard("uid", report(CONFLICT))) == []
