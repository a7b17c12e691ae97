"""`python -m tools.bench.etcd`: measure the etcd operator, print a table, fail below a target."""

from __future__ import annotations

import asyncio
import sys

from tools.bench.etcd.steps import Result
from tools.bench.etcd.steps import measure as measured

#: What a whole minute of rest and the process may cost.
REQUESTS, MEGABYTES = 15.0, 90.0


def measure() -> bool:
    """Print what every step takes; return whether every target was reached."""
    print("\nthe etcd operator, beside the same etcd driven directly (takes six minutes)")
    return _told(asyncio.run(measured()))


def _told(result: Result) -> bool:
    print(result.etcds)
    print(f"{'step':28} {'seconds':>8} {'reference':>10} {'ratio':>6}  {'target':16} ok")
    for it in result.lines:
        ratio = it.seconds / max(it.reference, 0.01)
        print(
            f"{it.step:28} {it.seconds:8.1f} {it.reference:10.1f} {ratio:6.1f}"
            f"  {it.target!s:16} {'yes' if it.ok else 'NO'}"
        )
    rest = result.rest
    thrifty, small = rest.requests_a_minute <= REQUESTS, rest.megabytes <= MEGABYTES
    print(
        f"{'at rest, API requests':28} {rest.requests_a_minute:8.1f} a minute"
        f"{'':10} {REQUESTS:g} a minute{'':5} {'yes' if thrifty else 'NO'}"
    )
    print(
        f"{'operator, memory':28} {rest.megabytes:8.0f} MB"
        f"{'':16} {MEGABYTES:g} MB{'':11} {'yes' if small else 'NO'}"
    )
    return thrifty and small and all(it.ok for it in result.lines)


if __name__ == "__main__":
    sys.exit(0 if measure() else 1)
