"""What it costs to read a status of FoundationDB with a thousand processes, and to ask it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stateward.core.chance import Chance
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.database import STEP, Database
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model import exclusions as entries
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status import (
    clients,
    coordinators,
    exclusions,
    health,
    maintenance,
    movement,
    processes,
    recovery,
)
from stateward.fdb.status.reading import Status, read

_RECORDED: Final = Path(__file__).parents[2] / "tests/recordings/fdb/status/healthy.json"
PROCESSES: Final = 1_000
#: Milliseconds of processor: promised for reading, and for all questions.
READING, ASKING = 15.0, 5.0
#: Promised of the stand-in: steps in a second of processor.
STEPS: Final = 20_000
_RUNS: Final = 7
_NEXT: Final = Version(7, 4, 0)
QUESTIONS: Final[tuple[Callable[[Status], object], ...]] = (
    health.is_available,
    health.is_configured,
    health.is_locked,
    health.is_fully_replicated,
    health.fewest_replicas,
    health.tolerance,
    health.log_shortage,
    health.load,
    movement.moving_bytes,
    recovery.stage,
    recovery.age,
    recovery.old_generations,
    recovery.count,
    recovery.may_restart,
    maintenance.maintenance,
    coordinators.coordinators,
    coordinators.quorum_is_reachable,
    coordinators.connection_string,
    exclusions.excluded,
    lambda status: clients.cut_off_by(status, _NEXT),
)


def large_status(many: int = PROCESSES) -> bytes:
    """Return a recorded status with more processes, each with a name and an address of its own."""
    whole = json.loads(_RECORDED.read_bytes())
    few = list(whole["cluster"]["processes"].values())
    whole["cluster"]["processes"] = {
        f"{number:032x}": {
            **few[number % len(few)],
            "address": f"10.{number // 62_500}.{number // 250 % 250}.{number % 250}:4501",
            "locality": few[number % len(few)]["locality"] | {"instance_id": f"p-{number}"},
        }
        for number in range(many)
    }
    return json.dumps(whole, indent=4).encode()


def ask_all(status: Status) -> int:
    """Ask everything, of everybody; return how many were asked about."""
    for question in QUESTIONS:
        question(status)
    found, left = processes.roster(status), exclusions.Leftovers(status)
    if not isinstance(found, Known):
        return 0
    for name in found.value.groups:
        left.on(name, 1)
    return len(found.value.groups)


def _milliseconds(work: Callable[[], object]) -> list[float]:
    took = []
    for _ in range(_RUNS):
        began = time.process_time()
        work()
        took.append(1000 * (time.process_time() - began))
    return took


def busy_database() -> Database:
    """Return a model of a database whose data leaves a process, which takes days."""
    made = Database(ConnectionString.parse("bench:x@10.0.0.1:4501"), Chance(1))
    for number in range(1, 11):
        kind = ProcessClass.STORAGE if number <= 7 else ProcessClass.LOG
        where = {"zoneid": f"z{number}", "instance_id": f"p-{number}"}
        address = Address(f"10.0.0.{number}", 4501)
        made.join(Server((address,), Disk(f"{number:032x}"), kind, where))
    made.configure(tokens.read(["new", "double", "ssd"]))
    made.shards.fill(10**13)
    made.advance(60.0)
    made.exclude([entries.of_instance("p-2")])
    return made


def steps_a_second() -> float:
    """Return how often the model looks at moving data in a second of processor."""
    database, seconds = busy_database(), 5_000.0
    began = time.process_time()
    database.advance(database.now + seconds)
    return seconds / STEP / (time.process_time() - began)


def measure() -> bool:
    """Print it; return whether all promises are kept."""
    raw = large_status()
    status = read(raw, 0.0)
    reading, asking = _milliseconds(lambda: read(raw, 0.0)), _milliseconds(lambda: ask_all(status))
    print(f"\na FoundationDB status of {PROCESSES} processes, {len(raw) / 1e6:.1f} MB")
    print(f"{'':34} {'CPU ms':>7} {'aim':>6}")
    print(f"{'reading it':34} {min(reading):7.1f} {READING:6.1f}")
    print(f"{'all questions':34} {min(asking):7.1f} {ASKING:6.1f}")
    print(f"{'the first time, all addresses new':34} {asking[0]:7.1f}")
    steps = max(steps_a_second() for _ in range(3))
    print(f"the stand-in makes {steps:.0f} steps a second of a database of 10 processes", end=" ")
    print(f"whose data moves; aim {STEPS}")
    return min(reading) <= READING and min(asking) <= ASKING and steps >= STEPS


if __name__ == "__main__":
    sys.exit(0 if measure() else 1)
