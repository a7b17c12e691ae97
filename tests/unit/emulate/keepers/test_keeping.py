"""When a process is started again, and what a new configuration means for those that run."""

from __future__ import annotations

import pytest

from stateward.core.chance import Chance
from stateward.emulate.keepers.classic import pauses
from stateward.emulate.keepers.classic.changes import Begin, Drop, Keep, Renew, changes
from stateward.emulate.keepers.classic.commands import Command, Delays
from stateward.emulate.keepers.unified.backoff import Failures


def story(delays: Delays, *ends: tuple[int, float]) -> list[int]:
    """Return the pauses after some ends: exit codes, each after so many seconds of life."""
    current, found = delays.first, []
    for code, lived in ends:
        pause = pauses.after(code, lived, current, delays, Chance(1))
        current = pause.current
        found.append(pause.seconds)
    return found


FAILED, KILLED, LONG = (1, 1.0), (-9, 1.0), (1, 100.0)


@pytest.mark.parametrize(
    ("delays", "ends", "near"),
    [
        (Delays(), [(0, 1.0)] * 3, [0, 0, 0]),
        (Delays(), [FAILED, FAILED, KILLED], [0, 60, 60]),
        (Delays(), [FAILED, (0, 1.0), FAILED], [0, 0, 60]),
        (Delays(), [FAILED, FAILED, LONG, FAILED], [0, 60, 0, 60]),
        (Delays(60, 2, 3, 60), [FAILED] * 5, [2, 6, 18, 54, 60]),
        (Delays(0, 0, 1, 0), [FAILED] * 3, [0, 0, 0]),
    ],
)
def test_pauses(delays: Delays, ends: list[tuple[int, float]], near: list[int]) -> None:
    found = story(delays, *ends)
    assert all(
        abs(a - b) <= max(1, 0.1 * b) if b else a == 0 for a, b in zip(found, near, strict=True)
    )


def test_jitter_is_a_tenth() -> None:
    seen = {pauses.after(1, 0, 60, Delays(), Chance(seed)).seconds for seed in range(300)}
    assert (min(seen), max(seen), len(seen)) == (54, 66, 13)


def test_failures_are_squared_up_to_a_minute() -> None:
    failures, found = Failures(), []
    for _ in range(10):
        found.append(failures.pause)
        failures = failures.another()
    assert found == [0, 1, 4, 9, 16, 25, 36, 49, 60, 60]
    assert failures.remembered(300).pause == 60
    assert failures.remembered(300.1).pause == 0


def commands(*told: str) -> dict[str, Command]:
    """``1a`` is process 1 with arguments a; ``1a-`` one that no change ends."""
    return {it[0]: Command(it[0], (it[1],), kills=not it.endswith("-")) for it in told}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], ""),
        ([], ["1a", "2a"], "begin 1, begin 2"),
        (["1a", "2a"], ["1a", "2a"], "keep 2, keep 1"),
        (["1a", "2a"], ["1a", "2b", "3a"], "renew 2!, keep 1, begin 3"),
        (["1a", "2a", "3a"], ["1a", "2a"], "drop 3!, keep 2, keep 1"),
        (["1a", "2a"], [], "drop 2!, drop 1!"),
        (["1a-"], ["1b-"], "renew 1"),
        (["1a-"], [], "drop 1"),
        (["1a-"], ["1a"], "renew 1!"),
        (["1a"], ["1a-"], "keep 1"),
        (["1a"], ["1b-"], "renew 1"),
    ],
)
def test_changes(before: list[str], after: list[str], expected: str) -> None:
    def told(change: Drop | Renew | Keep | Begin) -> str:
        name = change.name if isinstance(change, Drop) else change.command.name
        kills = isinstance(change, Drop | Renew) and change.kills
        return f"{type(change).__name__.lower()} {name}" + ("!" if kills else "")

    assert ", ".join(map(told, changes(commands(*before), commands(*after)))) == expected
