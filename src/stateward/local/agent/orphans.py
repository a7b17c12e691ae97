"""Processes that a container or an earlier agent of the same cluster left: found and ended.

A process is ours by one of these signs, and each of them is certain:

- It carries the cluster's name in its environment, as all do that did not empty it.
- Its group or session is that of a leader whom we started, or it descends from one.
- It holds the pipe in which the output of such a leader goes, which nobody gets but by descent.

We do not have the kernel make us the parent of strays (as a subreaper): they would stand among the
children that other parts of this program started, whom we may neither kill nor reap.

Leaders are written down with their start time. A process is hit only while it is the one we mean:
it is held by a descriptor first and compared afterwards, so a number that was given to somebody
else is spared.
"""

from __future__ import annotations

import os
import re
import signal
import stat
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stateward.core.chance import Chance
from stateward.core.clock import Clock

#: The variables that every process of ours carries.
CLUSTER = "STATEWARD_CLUSTER"
CONTAINER = "STATEWARD_CONTAINER"

_PROC = Path("/proc")
#: In the folder of an agent or a control plane: its name, and which folder it is the name of.
_NAME = re.compile(r"([0-9a-f-]{36}) (\d+:\d+)\n")
#: Seconds that killed processes get to be gone; only one that hangs in the kernel takes longer.
_PATIENCE = 5.0
_STEP = 0.02
#: So often a container's remains are looked for: they may start others while they are hunted.
_ROUNDS = 3


class Origin(NamedTuple):
    """What is known of the leader of a group: when it began, and the pipe of its output."""

    began: int
    pipe: int


class _Stat(NamedTuple):
    """What the kernel says of a process."""

    is_dead: bool
    parent: int
    group: int
    session: int
    began: int


def start_time(pid: int) -> int | None:
    """Return when a process began, in the kernel's ticks, or None when it is gone or a zombie."""
    found = _stat(pid)
    return None if found is None or found.is_dead else found.began


def _stat(pid: int) -> _Stat | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in parentheses may contain anything, so we count from its end.
    fields = text.rpartition(")")[2].split()
    return _Stat(fields[0] in {"Z", "X"}, *(int(fields[it]) for it in (1, 2, 3, 19)))


def _numbers() -> Iterator[int]:
    return (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def descended(origins: Mapping[int, Origin]) -> dict[int, int]:
    """Return the processes that come from some leaders, each with its start time."""
    everybody = {pid: it for pid in _numbers() if (it := _stat(pid)) is not None}
    # A leader's number is its own as long as it is there, and its group's while one is in it; of
    # one that is gone we cannot tell whether the number was given away since.
    leaders = {
        pid
        for pid, origin in origins.items()
        if pid in everybody and everybody[pid].began == origin.began
    }
    pipes = {f"pipe:[{it.pipe}]" for it in origins.values()}
    found = {
        pid
        for pid, it in everybody.items()
        if {pid, it.group, it.session} & leaders or _holds(pid, pipes)
    }
    while more := {pid for pid, it in everybody.items() if it.parent in found} - found:
        found |= more
    found.discard(os.getpid())
    return {pid: it.began for pid, it in everybody.items() if pid in found and not it.is_dead}


def _holds(pid: int, pipes: Set[str]) -> bool:
    """Tell whether a process can speak into one of some pipes; of a stranger's we see nothing.

    We listen at their other ends, and so does, for an instant, whoever is being started by us.
    """
    if pid == os.getpid() or not pipes:
        return False
    try:
        entries = list(os.scandir(_PROC / str(pid) / "fd"))
    except OSError:
        return False
    return any(_leads_to(it, pipes) for it in entries)


def _leads_to(entry: os.DirEntry[str], pipes: Set[str]) -> bool:
    try:
        speaks = entry.stat(follow_symlinks=False).st_mode & stat.S_IWUSR
        return bool(speaks) and os.readlink(entry.path) in pipes  # noqa: PTH115 - the text
    except OSError:
        return False


def marked(cluster: str, container: str = "") -> dict[int, int]:
    """Return the processes of a cluster, or of a container, each with its start time."""
    wanted = {f"{CLUSTER}={cluster}".encode()}
    if container:
        wanted.add(f"{CONTAINER}={container}".encode())
    found: dict[int, int] = {}
    for pid in _numbers():
        with suppress(OSError):
            variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
            began = start_time(pid) if wanted.issubset(variables) else None
            if began is not None:
                found[pid] = began
    return found


class Records:
    """Which process groups were started, written down for whoever comes after us."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        #: Numbers, moments and pipes mean something else after the machine was started again.
        self._boot = _boot()

    def add(self, pid: int, origin: Origin) -> None:
        """Write down a group by its leader."""
        with suppress(OSError):  # on a full disk its mark must do
            (self._folder / str(pid)).write_text(f"{origin.began} {origin.pipe} {self._boot}")

    def remove(self, pid: int) -> None:
        """Strike out a group that ended."""
        (self._folder / str(pid)).unlink(missing_ok=True)

    def all(self) -> dict[int, Origin]:
        """Return the groups that are written down; what makes no sense is not one."""
        found: dict[int, Origin] = {}
        for entry in self._entries():
            with suppress(OSError, ValueError):
                began, pipe, boot = entry.read_text().split(" ")
                if boot == self._boot:
                    found[int(entry.name)] = Origin(int(began), int(pipe))
        return found

    def clear(self) -> None:
        """Strike out everything."""
        for entry in self._entries():
            entry.unlink(missing_ok=True)

    def _entries(self) -> list[Path]:
        try:
            return list(self._folder.iterdir())
        except FileNotFoundError:  # somebody removed it under a cluster that runs
            return []


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


def clear(cluster: str, container: str, origins: Mapping[int, Origin]) -> None:
    """Kill what is left of a container: processes that had left its group."""
    for _ in range(_ROUNDS):
        left = marked(cluster, container) | descended(origins)
        hit = [kill(pid, began) for pid, began in left.items()]
        if not any(hit):
            return


async def sweep(cluster: str, records: Records, clock: Clock) -> list[int]:
    """End everything that is left of a cluster; return whom it hit.

    Processes may start others while they are hunted, so it looks until nothing is found.
    """
    hit: list[int] = []
    until = clock.monotonic() + _PATIENCE
    while (left := marked(cluster) | descended(records.all())) and clock.monotonic() < until:
        hit += [pid for pid, began in left.items() if kill(pid, began)]
        await clock.sleep(_STEP)
    records.clear()
    return list(dict.fromkeys(hit))


def _boot() -> str:
    """Return by what this run of the machine is known."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "-"


def private(folder: Path) -> None:
    """Make a folder that only its owner looks into, also where it was there before."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)


def owned(root: Path, chance: Chance) -> tuple[str, Records]:
    """Return by which name the processes of a folder are known, and the list of them.

    The name is the same after every restart. A copy of a folder is another one: what it says of
    processes is true of those of its original, which may run beside it and are to be spared.
    """
    private(root)
    records = Records(root / "processes")
    if name := name_of(root):
        return name, records
    records.clear()
    name = chance.uuid()
    fresh = root / "cluster.new"
    fresh.write_text(f"{name} {_identity(root)}\n")
    fresh.replace(root / "cluster")
    return name, records


def name_of(root: Path) -> str:
    """Return the name of a folder's processes; empty when it has none that is its own."""
    try:
        kept = _NAME.fullmatch((root / "cluster").read_text(errors="replace"))
        return kept[1] if kept and kept[2] == _identity(root) else ""
    except OSError:
        return ""


def _identity(folder: Path) -> str:
    found = folder.stat()
    return f"{found.st_dev}:{found.st_ino}"


def left_in(root: Path) -> dict[int, int]:
    """Return the processes that a folder knows as its own, each with its start time."""
    if not (name := name_of(root)):
        return {}
    return marked(name) | descended(Records(root / "processes").all())


async def end_all(root: Path, clock: Clock) -> list[int]:
    """End everything that an agent left which worked in a folder; return whom it hit."""
    if not (name := name_of(root)):
        return []
    return await sweep(name, Records(root / "processes"), clock)
