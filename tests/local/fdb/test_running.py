"""Programs are run without a shell, end in time, print no more than they may, and leave nothing."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.running import Call, run

HERE = Path(__file__).parent


def call(*argv: str, seconds: float = 20.0, most: int = 1000) -> Call:
    return Call(argv, {"PATH": os.environ["PATH"]}, HERE, seconds, most)


def python(text: str, **limits: float) -> Call:
    return call(sys.executable, "-c", text, **limits)  # type: ignore[arg-type]


async def test_both_outputs_and_the_code_are_told() -> None:
    answer, cost = await run(python("import sys; print(1); sys.stderr.write('no'); sys.exit(3)"))
    assert (answer.code, answer.out, answer.err, answer.in_time) == (3, "1\n", "no", True)
    assert cost.cpu > 0
    assert cost.wall > 0


async def test_what_is_no_text_is_told_as_far_as_it_goes() -> None:
    answer, _ = await run(python("import sys; sys.stdout.buffer.write(b'a\\xff\\x00b')"))
    assert answer.out == "a?\x00b"
    answer, _ = await run(python("import sys; sys.stdout.buffer.write('ä'.encode())"))
    assert answer.out == "ä"


@pytest.mark.parametrize(
    "argv", [["/no/such/fdbcli"], [str(HERE)], [str(HERE / "test_running.py")], ["a\0b"]], ids=str
)
async def test_what_cannot_be_run_is_said_to(argv: Sequence[str]) -> None:
    with pytest.raises(ProgramUnusable, match="must be a program that can be run"):
        await run(call(*argv))


async def test_who_hangs_is_ended_with_all_that_it_started() -> None:
    text = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "print(child.pid, flush=True); time.sleep(600)\n"
    )
    began = time.monotonic()
    answer, _ = await run(python(text, seconds=1.5))
    assert time.monotonic() - began < 20
    assert (answer.in_time, answer.code) == (False, -9)
    assert is_gone(int(answer.out))


async def test_who_prints_without_end_is_ended() -> None:
    with pytest.raises(ProgramUnusable, match="must print less than 100000 bytes"):
        await run(python("while True: print('x' * 1000)", most=100_000))


async def test_what_it_leaves_is_ended() -> None:
    text = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid)"
    answer, _ = await run(python(text))
    assert answer.in_time
    assert is_gone(int(answer.out))


async def test_who_gives_up_ends_it() -> None:
    started = asyncio.create_task(run(python("import time; time.sleep(600)")))
    await asyncio.sleep(0.3)
    started.cancel()
    with pytest.raises(asyncio.CancelledError):
        await started


def is_gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False
