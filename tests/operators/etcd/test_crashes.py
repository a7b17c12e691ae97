"""The operator dies around every one of its calls, and another one finishes what it began.

Whatever n is: the cluster settles at the wanted size under the same cluster id, holds every key,
and nobody who was to stay has lost its id or its volume; nothing is left over.

Death comes right after the n-th call was carried out, with its answer unheard, and once before the
first. Death right before call n+1 leaves the same behind as death right after call n, because the
operator keeps nothing that outlives it; that this is so is seen where it costs little.

``make test`` tries every n of falling asleep, and of most other operations the part that is their
own; ``--every-story`` tries them all. The simulation dies at every call of every scenario, in a model.
"""

from __future__ import annotations

from collections.abc import Collection

import pytest

from operators.dooms import Side
from operators.etcd.crashing import Operation, Sweep
from operators.etcd.worlds import world

OPERATIONS = [
    Operation("three from nothing", None, 3, about=19),
    Operation("up 1 to 2", 1, 2, about=15),
    Operation("up 2 to 3", 2, 3, about=18),
    Operation("down 3 to 2", 3, 2, about=12),
    Operation("down 2 to 1", 2, 1, about=12),
]
SLEEP = Operation("sleep", 1, 0, about=4)
WAKE = Operation("wake", 0, 1, via=(1,), about=7)
REPLACE = Operation("replace", 3, 3, emptied=(2,), grace="5s", about=24)
#: An operation is tried in so many parts, so that none of them takes long: n = part, part + 5...
PARTS = 5
#: A real control plane is slower in everything: every how many-th n of a part is tried there.
SAMPLE = 4


def _left_out(part: int, usual: Collection[int]) -> Collection[pytest.MarkDecorator]:
    return () if part in usual else (pytest.mark.long,)


IN_PARTS = [
    pytest.param(it, part, marks=_left_out(part, [usual]), id=f"{it}-{part}")
    for usual, it in enumerate(OPERATIONS, 1)
    for part in range(1, PARTS + 1)
]
#: Each of them waits minutes until etcd lets a member in, so there are more parts.
REPLACE_PARTS = 10


@pytest.mark.parametrize(("operation", "part"), IN_PARTS)
async def test_a_crash_between_any_two_calls_is_mended(
    plane: str, operation: Operation, part: int
) -> None:
    await _sweep(plane, operation, part)


@pytest.mark.parametrize("operation", [SLEEP, pytest.param(WAKE, marks=pytest.mark.long)], ids=str)
async def test_a_crash_on_either_side_of_a_call_is_mended(plane: str, operation: Operation) -> None:
    await _sweep(plane, operation, 1, stride=1, sides=tuple(Side))


@pytest.mark.long
@pytest.mark.parametrize("part", range(1, REPLACE_PARTS + 1))
async def test_a_crash_while_a_member_is_replaced_is_mended(plane: str, part: int) -> None:
    """On a real plane only a sample is tried; the printed line says how many n that were."""
    await _sweep(plane, REPLACE, part, stride=REPLACE_PARTS)


async def _sweep(
    plane: str,
    operation: Operation,
    first: int,
    *,
    stride: int = PARTS,
    sides: tuple[Side, ...] = (Side.AFTER,),
) -> None:
    steps = stride * (SAMPLE if plane == "real" else 1)
    async with world(plane) as it:
        sweep = Sweep(it, operation, first, steps, sides)
        await sweep.run()
    print(sweep)  # noqa: T201 - says how many were tried
    assert sweep.tried >= len(range(first, len(sweep.calls), steps)) * len(sides) > 0
