"""The operator dies around every one of its calls, and another one finishes what it began.

Each n is tried twice: death right before the call is sent, and right after it was carried out, with
its answer unheard. Whatever n is: the cluster settles at the wanted size under the same cluster id,
holds every key, and nobody who was to stay has lost its id or its volume; nothing is left over.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from operators.etcd.crashing import Operation, Sweep
from operators.etcd.worlds import world

OPERATIONS = [
    Operation("three from nothing", None, 3),
    Operation("up 1 to 2", 1, 2),
    Operation("up 2 to 3", 2, 3),
    Operation("down 3 to 1", 3, 1),
    Operation("sleep", 1, 0),
    Operation("wake", 0, 1, via=(1,)),
]
REPLACE = Operation("replace", 3, 3, emptied=(2,), grace="5s")
#: A real control plane is slower to everything, so every how many-th n is tried there.
SAMPLE = 4


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
async def test_a_crash_between_any_two_calls_is_mended(plane: str, operation: Operation) -> None:
    await _sweep(plane, operation)


async def test_a_crash_while_a_member_is_replaced_is_mended(plane: str) -> None:
    """On the real plane only every fourth n is tried; the printed line says how many were."""
    await _sweep(plane, REPLACE)


async def _sweep(plane: str, operation: Operation) -> None:
    stride = SAMPLE if plane == "real" else 1
    async with world(plane) as it:
        sweep = Sweep(it, replace(operation, stride=stride))
        await sweep.run()
        print(sweep)
        assert sweep.tried >= 2 * (len(sweep.calls) // stride)
