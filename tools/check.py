"""Run the checks of this repository one after another and end with a one-line verdict.

Usage: check.py STAGE...     where STAGE is one of lint, types, test, long, crashes, real,
                           real-alone, cluster
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent

#: Where tests ask a real Kubernetes that they share, and where each has one of its own.
REAL = (
    "contract",
    "kubectl",
    "local/test_lost_node.py",
    "local/test_real_control_plane.py",
    "local/test_up.py",
    "local/test_workloads.py",
    "real",
)
REAL_STORIES = ("operators",)

#: Where tests wait for nobody.
COMPUTING = ("house", "simulation", "unit")

#: Where tests wait for real members of etcd, or for processes of FoundationDB.
STORIES = ("local/test_demo.py", "operators/etcd", "operators/fdb")

#: Where the operator of FoundationDB dies: at some calls, or as STATEWARD_CRASHES says at all.
CRASHES = (
    "unit/fdb/stories/test_crashes.py",
    "unit/fdb/stories/test_crashes_backups.py",
    "unit/fdb/stories/test_crashes_lost.py",
    "unit/fdb/stories/test_crashes_maintenance.py",
    "unit/fdb/stories/test_crashes_tls.py",
    "unit/fdb/stories/test_crashes_upgrade.py",
    "unit/fdb/stories/test_tls_sidecar.py::test_while_sidecars_change",
    "unit/fdb/stories/test_tls_sidecar.py::test_while_certificates_are_renewed",
)

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

#: Tests of a marked group stay with one worker.
GROUPED = ("--dist", "loadgroup")


def pytest(workers: int | str, *words: str) -> list[str]:
    """Return the command that runs tests."""
    return [str(BIN / "pytest"), "--numprocesses", str(workers), "--quiet", *words]


def without(*names: str) -> list[str]:
    """Return the words that leave tests out."""
    return [f"--ignore=tests/{name}" for name in names]


def asking(flag: str) -> list[list[str]]:
    """Return the commands that ask a real Kubernetes.

    Most of the time they wait for a server, so there are more workers than cores; a whole control
    plane for each of them would starve the machine.
    """
    return [
        # What FoundationDB answers has nothing to do with Kubernetes; `make test` asks it.
        pytest(
            4, *GROUPED, *(f"tests/{name}" for name in REAL), "--ignore=tests/contract/fdb", flag
        ),
        pytest(2, *GROUPED, *(f"tests/{name}" for name in REAL_STORIES), flag),
    ]


STAGES: dict[str, list[list[str]]] = {
    "lint": [
        [str(BIN / "ruff"), "check"],
        [str(BIN / "ruff"), "format", "--check", "--quiet"],
        [str(BIN / "lint-imports"), "--no-cache"],
    ],
    "types": [[str(BIN / "mypy")]],
    "test": [
        # Who has nothing left takes from others: those that take long stand together.
        pytest(CORES, "--dist", "worksteal", "src", *(f"tests/{name}" for name in COMPUTING)),
        # One more at once than there are cores: many wait for servers, but none must starve.
        pytest(CORES + 1, "--dist", "worksteal", "tests", *without(*COMPUTING, *STORIES)),
        pytest(CORES + 1, *GROUPED, *(f"tests/{name}" for name in STORIES)),
    ],
    # What `test` leaves out: more of the same by other examples.
    "long": [pytest(CORES, *GROUPED, "tests", "--every-story", "-m", "long")],
    # How many there were is in the output of each story; each is as long as it has calls.
    "crashes": [
        pytest(
            *("auto", "--dist", "worksteal", "-rP", "--every-story"),
            *(f"tests/{name}" for name in CRASHES),
        )
    ],
    "real": asking("--real"),
    # After `test`, which asks the embedded one the same.
    "real-alone": asking("--real-alone"),
    # One cluster of machines, which all stories share.
    "cluster": [pytest(0, "tests/cluster", "--cluster", "--capture=no")],
}


def run(stage: str) -> bool:
    """Run every command of a stage; the first failure ends the stage."""
    for command in STAGES[stage]:
        print(f"== {stage}: {Path(command[0]).name} {' '.join(command[1:])}", flush=True)
        if subprocess.run(command, check=False).returncode != 0:
            return False
    return True


def main(stages: list[str]) -> int:
    """Run the stages in order, all of them, and say which failed."""
    if not stages or (unknown := set(stages) - STAGES.keys()):
        wrong = ", ".join(sorted(unknown)) if stages else "nothing"
        print(f"check: asked for {wrong}; name one or more of {', '.join(STAGES)}", file=sys.stderr)
        return 2
    # Who is told to end is told so with all that it started: it waits for them, since they tidy up,
    # and begins nothing more.
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    started = time.monotonic()
    failed = [stage for stage in stages if told or not run(stage)]
    took = f"{time.monotonic() - started:.0f} s"
    if failed:
        print(f"check: FAILED in {', '.join(failed)} ({took})")
        return 1
    print(f"check: passed {', '.join(stages)} ({took})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
