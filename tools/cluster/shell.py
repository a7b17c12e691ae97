"""Runs commands, and daemons that are known by their pid and the word that they were started with."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_STEP: Final = 0.1
_STOP: Final = 10.0
#: They outlive the command that started them, and nobody is to be warned of that.
_DAEMONS: Final[list[subprocess.Popen[bytes]]] = []


class ClusterFailed(Exception):
    """Something that must work did not; the text says what."""


def environment() -> dict[str, str]:
    """Return our environment without proxies: the cluster's network has no way to any."""
    return {name: it for name, it in os.environ.items() if not name.lower().endswith("_proxy")}


def run(*words: str | Path, given: str | None = None) -> str:
    """Run a command and return what it says; raise ClusterFailed when it fails."""
    argv = [str(it) for it in words]
    done = subprocess.run(
        argv, input=given, capture_output=True, text=True, check=False, env=environment()
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise ClusterFailed(f"{' '.join(argv)} ended with {done.returncode}: {said}")
    return done.stdout


def does(*words: str | Path) -> bool:
    """Run a command and tell whether it ended well."""
    argv = [str(it) for it in words]
    done = subprocess.run(argv, capture_output=True, check=False, env=environment())
    return done.returncode == 0


def inside(namespace: str, *words: str | Path) -> list[str]:
    """Return the words that run a command in a network namespace."""
    return ["nsenter", f"--net=/run/netns/{namespace}", *map(str, words)]


def until(what: str, is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so; raise ClusterFailed when it does not come."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise ClusterFailed(f"{what} did not come within {seconds:g} s")
        time.sleep(_STEP)


def start(
    words: Sequence[str | Path],
    record: Path,
    log: Path,
    *,
    env: Mapping[str, str],
) -> int:
    """Start a daemon in a session of its own; keep its pid and the words that know it again."""
    argv = [str(it) for it in words]
    with log.open("ab") as said:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**environment(), **env},
        )
    _DAEMONS.append(process)
    record.write_text(f"{process.pid}\n{_born(process.pid)}\n")
    return process.pid


def pid_of(record: Path) -> int | None:
    """Return the pid of a daemon that still runs; another one with its number is none."""
    try:
        pid, born = record.read_text().split()
    except (OSError, ValueError):
        return None
    return int(pid) if _born(int(pid)) == born else None


def stop(record: Path, number: int = signal.SIGTERM) -> None:
    """End a daemon, by force if it takes long."""
    pid = pid_of(record)
    if pid is not None:
        _signal(pid, number)
        try:
            until(f"the end of {record.stem}", lambda: pid_of(record) is None, _STOP)
        except ClusterFailed:
            _signal(pid, signal.SIGKILL)
            until(f"the end of {record.stem}", lambda: pid_of(record) is None, _STOP)
    record.unlink(missing_ok=True)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _born(pid: int) -> str:
    """Return when a process began, in ticks; nothing for one that is no more, or a zombie of ours."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]
