"""What passes cost over a cluster at rest, beside what it costs to decode its status alone."""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from stateward.core.outcome import DONE
from stateward.fdb.status.reading import read
from tools.bench.groups.world import Paper, Rested

RUNS = 15


@dataclass(slots=True)
class Cost:
    """What was measured; times are milliseconds of processor, the best of a few."""

    groups: int
    #: How the cluster was made: writes for each group, by all who write for it.
    writes: float = 0.0
    megabytes: float = 0.0
    #: Decoding the status with msgspec alone, as plain values and as our types.
    decode: float = 0.0
    typed: float = 0.0
    #: A pass at rest, and one after the status of one pod changed, with the pass of its group.
    rest: float = 0.0
    changed: float = 0.0
    group: float = 0.0
    #: Calls to Kubernetes in all these passes, and questions to the database in one at rest.
    calls: int = 0
    asked: float = 0.0
    #: Megabytes that a pass takes while it lasts.
    peak: float = 0.0
    troubles: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How many times the decode a pass at rest costs."""
        return self.rest / self.decode


async def measured(paper: Paper) -> Cost:
    """Measure a cluster that was made: by an operator that was just started and has settled."""
    cost, counted = Cost(paper.groups, writes=paper.counted.writes / paper.groups), paper.counted
    rested = Rested(paper)
    await rested.look()
    keys = [it.metadata.key for it in rested.caches.groups]
    counted.calls.clear()
    for key in keys:
        cost.troubles += [] if await rested.look_at(key) == DONE else [f"{key} is not at rest"]
    cost.troubles += [] if await rested.look() == DONE else ["the cluster is not at rest"]
    raw = paper.database.text().encode()
    cost.megabytes, asked = len(raw) / 1e6, paper.database.asked

    async def changed() -> None:
        await rested.look_at(rested.touch_pod(len(keys) // 2))
        await rested.look()

    # Side by side, so that whatever else the machine does slows both.
    runs = [
        (
            _took(lambda: msgspec.json.decode(raw)),
            _took(lambda: read(raw, 0.0)),
            await _took_by(rested.look),
        )
        for _ in range(RUNS)
    ]
    cost.decode, cost.typed, cost.rest = (min(it) for it in zip(*runs, strict=True))
    cost.asked = (paper.database.asked - asked) / RUNS
    cost.changed = min([await _took_by(changed) for _ in range(RUNS)])
    cost.group = min([await _took_by(lambda: rested.look_at(keys[0])) for _ in range(RUNS)])
    cost.calls, cost.peak = counted.calls.total(), await _peak(rested)
    return cost


async def growth(rested: Rested, passes: int) -> int:
    """Return how many blocks of memory more are in use after so many passes; first it settles."""
    key = next(iter(rested.caches.groups)).metadata.key

    async def some(many: int) -> int:
        for _ in range(many):
            await rested.look()
            await rested.look_at(key)
        gc.collect()
        return sys.getallocatedblocks()

    before = await some(passes // 10)
    return await some(passes) - before


async def _peak(rested: Rested) -> float:
    gc.collect()
    tracemalloc.start()
    try:
        await rested.look()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _took(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


async def _took_by(work: Callable[[], Awaitable[object]]) -> float:
    began = time.process_time()
    await work()
    return 1000 * (time.process_time() - began)
