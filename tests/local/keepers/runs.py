"""Keepers as they are run: processes of their own, with programs of cardboard below them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[3] / "src"
PATIENCE = 30.0

#: Says that it joined; ends with 0 and with 7 on demand; by its folder it may be deaf, or fail at once.
FDBSERVER = """\
#!{python} -IS
import os, signal, sys
here = os.path.dirname(os.path.abspath(__file__))
def is_told(word): return os.path.exists(os.path.join(here, word))
if is_told("deaf"): signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
signal.signal(signal.SIGUSR2, lambda *_: os._exit(7))
if is_told("failing"):
    print("cannot begin", file=sys.stderr, flush=True)
    os._exit(3)
print("FDBD joined cluster.", flush=True)
while True: signal.pause()
"""


def fdbserver(folder: Path) -> Path:
    """Write the program of cardboard."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "fdbserver"
    path.write_text(FDBSERVER.format(python=sys.executable))
    path.chmod(0o755)
    return path


def put(path: Path, text: str) -> None:
    """Write a file in one step, as whoever knows fdbmonitor does."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text)
    beside.replace(path)


@dataclass(slots=True)
class Run:
    """A keeper that runs, or ran."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)
    _told: asyncio.Event = field(default_factory=asyncio.Event)

    def count(self, text: str) -> int:
        return sum(text in line for line in self.lines)

    async def said(self, text: str, times: int = 1) -> str:
        """Wait until a text was said so often; return the last such line."""
        await self.until(lambda: self.count(text) >= times, f"{text!r} is said {times} times")
        return [line for line in self.lines if text in line][times - 1]

    async def until(self, holds: Callable[[], bool], what: str = "it holds") -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"until {what}:\n" + "\n".join(self.lines)) from None

    def documents(self) -> list[dict[str, Any]]:
        """Return the lines of one that writes JSON."""
        return [json.loads(line) for line in self.lines]

    def children(self) -> list[int]:
        """Return the numbers of its children, in the order of their start."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return sorted(int(it) for it in path.read_text().split())

    async def ended(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return await self.ended()


@asynccontextmanager
async def running(
    program: str, *words: str | Path, env: dict[str, str] | None = None
) -> AsyncIterator[Run]:
    """Run a keeper; whatever is left of it afterwards is killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"stateward.emulate.keepers.{program}",
        *map(str, words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **(env or {})},
        start_new_session=True,
    )
    run = Run(process)
    hearing = asyncio.create_task(_hear(run))
    try:
        yield run
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        await hearing


async def _hear(run: Run) -> None:
    assert run.process.stdout is not None
    async for line in run.process.stdout:
        run.lines.append(line.decode(errors="replace").rstrip("\n"))


async def outcome(
    program: str, *words: str | Path, env: dict[str, str] | None = None
) -> tuple[int, list[str]]:
    """Run a keeper that ends by itself; return its exit code and what it said."""
    async with running(program, *words, env=env) as run:
        code = await run.ended()
    return code, run.lines


def is_alive(pid: int) -> bool:
    """Tell whether a process is there, and not only waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def words_of(pid: int) -> list[str]:
    """Return the arguments that a program of cardboard was started with."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0")
    return words[3:]


def variables_of(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().rstrip("\0").split("\0")
    return dict(it.split("=", 1) for it in pairs)
