"""Local clusters as a user starts them: the real command in a process of its own, and kubectl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fakes.kubectl import find

STATEWARD = Path(sys.executable).parent / "stateward"
EXAMPLES = Path(__file__).parents[2] / "examples" / "local"
PATIENCE = 40.0


@dataclass(slots=True)
class Command:
    """A running `stateward local up`."""

    process: subprocess.Popen[str]
    temporary: Path
    said: list[str] = field(default_factory=list)

    def read_until(self, text: str) -> str:
        """Return the first line with a text; fail when the process ends before."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if text in line:
                return line.strip()
        pytest.fail(f"it ended before it said {text!r}:\n" + "\n".join(self.said))

    @property
    def kubeconfig(self) -> Path:
        line = next(it for it in self.said if "export KUBECONFIG=" in it)
        return Path(line.partition("=")[2].strip())

    def interrupt(self) -> int:
        """Press Ctrl-C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        out, _ = self.process.communicate(timeout=PATIENCE)
        self.said += out.splitlines()
        return self.process.returncode

    def offspring(self) -> set[int]:
        """Return the processes that were started below this one's temporary folder or by it."""
        return processes_with(str(self.temporary))


def processes_with(mark: str) -> set[int]:
    """Return the processes whose environment names a folder: all that a cluster of ours started."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.add(int(entry.name))
            except OSError:
                continue  # it ended, or is not ours
    return found


@contextmanager
def up(temporary: Path, *options: str) -> Iterator[Command]:
    """Run `stateward local up` until the end of the block; it must not need more than Ctrl-C."""
    environment = os.environ | {"TMPDIR": str(temporary), "COLUMNS": "200"}
    process = subprocess.Popen(
        [str(STATEWARD), "local", "up", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        start_new_session=True,
    )
    command = Command(process, temporary)
    try:
        yield command
    finally:
        if process.poll() is None:
            try:
                command.interrupt()
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise


def stateward(temporary: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run another command of ours, beside a cluster."""
    environment = os.environ | {"TMPDIR": str(temporary), "COLUMNS": "200"} | env
    return subprocess.run(
        [str(STATEWARD), *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE,
        check=False,
    )


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl, pointed at a cluster."""

    program: str
    kubeconfig: Path
    home: Path

    def __call__(self, *words: str, stdin: str = "", code: int | None = 0, **env: str) -> str:
        """Run kubectl; return what it printed; fail when its exit code is not the expected one."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
        }
        ended = subprocess.run(
            [self.program, *words],
            input=stdin,
            capture_output=True,
            text=True,
            env=environment | env,
            timeout=PATIENCE,
            check=False,
        )
        told = ended.stdout + ended.stderr
        assert code is None or ended.returncode == code, (
            f"kubectl {' '.join(words)}: {ended.returncode}\n{told}"
        )
        return told

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "-o", "json"))

    def names(self, *words: str) -> list[str]:
        return [it["metadata"]["name"] for it in self.json("get", *words)["items"]]


def kubectl_for(kubeconfig: Path, home: Path) -> Kubectl:
    found = find()
    if not found.program:
        pytest.skip(f"kubectl: {found.told}")
    return Kubectl(found.program, kubeconfig, home)


def until(what: str, holds: Callable[[], Any], within: float = PATIENCE) -> float:
    """Wait for something to hold in the world outside; return the seconds that it took."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > within:
            pytest.fail(f"{what}: not within {within:g} s")
        time.sleep(0.05)
    return time.monotonic() - began
