"""Processes that an earlier agent of the same cluster left behind: found and ended.

Every process of ours carries the cluster's name in its environment, and every group is written down
with its leader's start time. A process is hit only while it is the one we mean: it is held by a
descriptor first and compared afterwards, so a number that was given to somebody else is spared.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from stateward.core.clock import Clock

#: The variables that every process of ours carries.
CLUSTER = "STATEWARD_CLUSTER"
CONTAINER = "STATEWARD_CONTAINER"

_PROC = Path("/proc")
#: Seconds that killed processes get to be gone; only one that hangs in the kernel takes longer.
_PATIENCE = 5.0
_STEP = 0.02
#: So often a container's remains are looked for: they may start others while they are hunted.
_ROUNDS = 3


def start_time(pid: int) -> int | None:
    """Return when a process began, in the kernel's ticks, or None when it is gone or a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in parentheses may contain anything, so we count from its end.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def marked(cluster: str, container: str = "") -> dict[int, int]:
    """Return the processes of a cluster, or of a container, each with its start time."""
    wanted = {f"{CLUSTER}={cluster}".encode()}
    if container:
        wanted.add(f"{CONTAINER}={container}".encode())
    found: dict[int, int] = {}
    for entry in os.scandir(_PROC):
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            variables = (_PROC / entry.name / "environ").read_bytes().split(b"\0")
            began = start_time(int(entry.name)) if wanted.issubset(variables) else None
            if began is not None:
                found[int(entry.name)] = began
    return found


class Records:
    """Which process groups were started, written down for whoever comes after us."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, pid: int) -> None:
        """Write down a group by its leader."""
        began = start_time(pid)
        if began is not None:
            with suppress(OSError):  # on a full disk its mark must do
                (self._folder / str(pid)).write_text(str(began))

    def remove(self, pid: int) -> None:
        """Strike out a group that ended."""
        (self._folder / str(pid)).unlink(missing_ok=True)

    def all(self) -> dict[int, int]:
        """Return the groups that are written down; what makes no sense is not one."""
        found: dict[int, int] = {}
        for entry in self._folder.iterdir():
            with suppress(OSError, ValueError):
                found[int(entry.name)] = int(entry.read_text())
        return found

    def clear(self) -> None:
        """Strike out everything."""
        for entry in self._folder.iterdir():
            entry.unlink(missing_ok=True)


def kill(pid: int, began: int) -> bool:
    """Kill a process if it is still the one that began then; tell whether it was."""
    try:
        held = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if start_time(pid) != began:
            return False
        signal.pidfd_send_signal(held, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(held)
    return True


def clear(cluster: str, container: str) -> None:
    """Kill what is left of a container: processes that had left its group."""
    for _ in range(_ROUNDS):
        hit = [kill(pid, began) for pid, began in marked(cluster, container).items()]
        if not any(hit):
            return


async def sweep(cluster: str, records: Records, clock: Clock) -> list[int]:
    """End everything that is left of a cluster; return whom it hit.

    Processes may start others while they are hunted, so it looks until nothing is found.
    """
    hit: list[int] = []
    until = clock.monotonic() + _PATIENCE
    while (left := marked(cluster) | _living(records.all())) and clock.monotonic() < until:
        hit += [pid for pid, began in left.items() if kill(pid, began)]
        await clock.sleep(_STEP)
    records.clear()
    return list(dict.fromkeys(hit))


def _living(recorded: dict[int, int]) -> dict[int, int]:
    return {pid: began for pid, began in recorded.items() if start_time(pid) == began}


async def end_all(root: Path, clock: Clock) -> list[int]:
    """End everything that an agent left which worked in a folder; return whom it hit."""
    name = root / "cluster"
    if not name.exists():
        return []
    return await sweep(name.read_text().strip(), Records(root / "processes"), clock)
