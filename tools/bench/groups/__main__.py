"""Print what FoundationDB clusters of several sizes cost, and fail when a promise is not kept."""

from __future__ import annotations

import logging
import math
import sys
from typing import Final

import structlog

from tools.bench.groups.passes import Cost, measured
from tools.bench.groups.world import Paper, lived

SIZES: Final = (100, 1_000, 5_000)
#: Promised of the second size: how many times the decode of its status a pass at rest costs, and
#: how many writes each group takes until all is as asked.
RATIO, WRITES = 5.0, 4.0


async def _cost(groups: int) -> Cost:
    paper = Paper(groups)
    await paper.make()
    return await measured(paper)


def _at_rest(cost: Cost) -> str:
    numbers = f"{cost.megabytes:7.1f} {cost.decode:8.1f} {cost.typed:7.1f} {cost.rest:8.1f}"
    more = f"{cost.ratio:6.1f}x {cost.changed:8.1f} {1000 * cost.group:9.0f} {cost.calls:6}"
    return f"{cost.groups:7} {numbers} {more} {cost.peak:8.1f} {cost.writes:9.2f}"


def measure() -> bool:
    """Print it; return whether all promises are kept."""
    level = structlog.make_filtering_bound_logger(logging.ERROR)
    structlog.configure(wrapper_class=level)
    print(
        "\nFoundationDB clusters at rest, CPU ms: status decoded by msgspec (plain, typed), a pass,"
    )
    print(
        "a pass after a pod changed; a pass of a group in µs; calls in all of these but questions"
    )
    print("to the database; MB that a pass takes; writes a group until the cluster was as asked")
    head = f"{'groups':>7} {'MB':>7} {'decode':>8} {'typed':>7} {'pass':>8} {'ratio':>7}"
    print(f"{head} {'changed':>8} {'group':>9} {'calls':>6} {'peak MB':>8} {'writes':>9}")
    costs = []
    for groups in SIZES:
        costs.append(lived(lambda groups=groups: _cost(groups)))  # type: ignore[misc]
        print(_at_rest(costs[-1]), *costs[-1].troubles[:3])
    first, middle, last = costs
    many = last.groups / first.groups
    power = math.log(last.rest / first.rest) / math.log(many)
    print(f"{many:.0f} times the groups take {last.rest / first.rest:.0f} times as long", end=" ")
    print(
        f"(power {power:.2f}); promised at {middle.groups}: {RATIO:g}x, {WRITES:g} writes a group"
    )
    quiet = not any(it.calls or it.troubles for it in costs)
    return quiet and middle.ratio <= RATIO and middle.writes <= WRITES


if __name__ == "__main__":
    sys.exit(0 if measure() else 1)
