"""How many lives of etcd clusters are simulated in a minute, what one costs, and where that goes."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass
from types import FrameType

from stateward.app.simulate.campaign import Campaign, Wish
from stateward.app.simulate.crew import Crew
from stateward.app.simulate.workers import be_quiet
from stateward.sim.etcd.life import Ask, Life, live
from stateward.sim.etcd.scenarios import SCENARIOS
from stateward.sim.explore.plans import read_letters

#: The aim: lives a minute on two cores.
AIM, AIM_CORES = 2_000, 2
#: Seconds for which plans are lived, and how often the reference life is.
SECONDS, TIMES = 20.0, 5
#: Seconds of processor between two looks at what runs (kernels make about four of one), and in how
#: many times as many lives it is looked at.
_LOOK, _MORE = 0.001, 4

#: Whose work a module's is; the first that fits. What all share counts for who calls it.
_PARTS = (
    ("laws", ("stateward.sim.laws.", "stateward.sim.etcd.laws.", "stateward.sim.etcd.oracles.")),
    ("world", ("stateward.sim.", "stateward.emulate.")),
    ("store", ("stateward.local.",)),
    ("operator", ("stateward.etcd.", "stateward.runtime.")),
)
#: The last of them is what belongs to nobody: the interpreter's own loop, and so on.
PARTS = ("operator", "store", "world", "laws", "rest")


def part_of(modules: list[str]) -> str:
    """Return whose work it is that these modules are at, the innermost first.

    >>> part_of(["msgspec", "stateward.kube.codec", "stateward.local.api", "stateward.sim.loop"])
    'store'
    """
    for module in modules:
        for part, prefixes in _PARTS:
            if module.startswith(prefixes):
                return part
    return "rest"


@dataclass(frozen=True, slots=True)
class Reference:
    """What the reference life costs: milliseconds of processor, and the share of each part."""

    life: Life
    milliseconds: float
    shares: dict[str, float]


def reference(times: int = TIMES) -> Reference:
    """Live a cluster's bootstrap in calm a few times: the best time, and looks at what runs."""
    ask = Ask("bootstrap")
    life, took = live(ask), []
    for _ in range(times):
        began = time.process_time()
        live(ask)
        took.append(time.process_time() - began)
    seen: Counter[str] = Counter()
    before = signal.signal(signal.SIGPROF, lambda _, frame: seen.update([_running(frame)]))
    signal.setitimer(signal.ITIMER_PROF, _LOOK, _LOOK)
    try:
        for _ in range(_MORE * times):
            live(ask)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    shares = {part: seen[part] / max(1, seen.total()) for part in PARTS}
    return Reference(life, 1000 * min(took), shares)


def _running(frame: FrameType | None) -> str:
    modules = []
    while frame is not None:
        modules.append(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return part_of(modules)


def lives_a_minute(scenarios: tuple[str, ...], jobs: int, seconds: float = SECONDS) -> float:
    """Live plans of all families for a while, as `stateward simulate` does."""
    with Crew(jobs) as crew:
        campaign = Campaign(crew, Wish(scenarios, read_letters(""), seconds=seconds))
        campaign.prepare()
        calm, began = campaign.results.lives, time.monotonic()
        campaign.run()
        lived = campaign.results.lives - calm + campaign.results.lived_twice
        return 60 * lived / (time.monotonic() - began)


def measure() -> None:
    """Print all of it."""
    be_quiet()
    logging.disable(logging.CRITICAL)
    jobs = len(os.sched_getaffinity(0))
    aim = AIM * jobs / AIM_CORES
    print(f"\netcd worlds, laws included, all families of faults, {jobs} cores")
    print(f"{'':22} {'a minute':>9} {'aim':>7} {'ratio':>7}")
    names = tuple(SCENARIOS)
    for title, some in (("bootstrap", names[:1]), (f"all {len(names)} scenarios", names)):
        found = lives_a_minute(some, jobs)
        print(f"{title:22} {found:9.0f} {aim:7.0f} {found / aim:6.2f}x")
    found_one = reference()
    life = found_one.life
    print(f"one calm bootstrap: {found_one.milliseconds:.0f} ms of processor for", end=" ")
    print(
        f"{life.seconds:.0f} virtual seconds, {len(life.calls)} calls, {life.steps} steps:", end=" "
    )
    print(", ".join(f"{part} {share:.0%}" for part, share in found_one.shares.items()))


if __name__ == "__main__":
    measure()
