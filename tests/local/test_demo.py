"""`stateward demo` with real etcd: it tells its story, ends, and leaves nothing behind."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local.clusters import STATEWARD, processes_with, until

#: Together on one worker: each of these keeps the machine busy for a while.
pytestmark = pytest.mark.xdist_group("demo")

CHAPTERS = 11
#: Seconds within which anything here has ended, on a machine that does other things as well.
PATIENCE = 400.0


def start(temporary: Path, *words: str, **more: Any) -> subprocess.Popen[str]:
    environment = os.environ | {"TMPDIR": str(temporary), "COLUMNS": "200"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.Popen([str(STATEWARD), "demo", *words], env=environment, text=True, **streams)


def nothing_is_left(temporary: Path) -> bool:
    folders = list((temporary / f"stateward-{os.getuid()}").iterdir())
    return not processes_with(str(temporary)) and not folders


def test_every_chapter_comes_true(tmp_path: Path) -> None:
    told, complaints = start(tmp_path).communicate(timeout=PATIENCE)

    assert complaints == ""
    lines = told.splitlines()
    assert lines[0].startswith("etcd 3.")
    assert any("kubectl get etcd,fdb,pods" in line and "FoundationDB 7.3" in line for line in lines)
    assert sum("ledger-" in line and "2/2" in line and "Running" in line for line in lines) == 8
    assert f"demo: all {CHAPTERS} chapters came true" in lines[-1]
    assert " 0 lost, " in lines[-1]
    assert sum("shop-" in line and "1/1" in line and "Running" in line for line in lines) == 3
    assert nothing_is_left(tmp_path)


@pytest.mark.long  # each chapter is there always
def test_a_check_of_seeds_loses_nothing_and_prints_a_report_alone(tmp_path: Path) -> None:
    process = start(tmp_path, "--check", "--seed", "4", "--seeds", "2")
    told, progress = process.communicate(timeout=PATIENCE)

    found = json.loads(told)
    assert (process.returncode, found["ok"], found["writes"]["lost"]) == (0, True, 0), told
    assert found["writes"]["acknowledged"] > 100
    assert [it["seed"] for it in found["seeds"]] == [4, 5]
    assert any(step["kills"] for it in found["seeds"] for step in it["steps"])
    assert "seed 5: ✔ three members from nothing" in progress
    assert nothing_is_left(tmp_path)


def read_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    pytest.fail(f"it ended before it said {text!r}")


def runs_etcd(temporary: Path) -> Callable[[], bool]:
    def found() -> bool:
        words = (Path(f"/proc/{it}/cmdline") for it in processes_with(str(temporary)))
        return any(b"--data-dir" in _bytes(it) for it in words)

    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it ended meanwhile


@pytest.mark.parametrize("moment", ["as it starts", "while members start"])
def test_ctrl_c_at_any_moment_and_twice_leaves_nothing_behind(tmp_path: Path, moment: str) -> None:
    process = start(tmp_path)
    if moment == "as it starts":
        read_until(process, "API server")
    else:
        until("etcd runs", runs_etcd(tmp_path))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)

    assert process.returncode == 130
    assert complaints.strip() == "stateward: interrupted"
    assert nothing_is_left(tmp_path)


#: The first terminal that the leader of a session opens is its own: Ctrl-C there reaches it.
OWN_TERMINAL = (
    "import os, sys; os.open(os.ttyname(0), os.O_RDWR); os.execv(sys.argv[1], sys.argv[1:])"
)


def test_ctrl_c_on_a_narrow_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    environment = {name: it for name, it in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    environment |= {"TMPDIR": str(tmp_path), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, str(STATEWARD), "demo"],
        env=environment,
        start_new_session=True,
        **streams,
    )
    os.close(theirs)
    shown = read_screen(ours, "follower")
    os.write(ours, b"\x03\x03")
    shown += read_screen(ours)
    code = process.wait(timeout=60)
    os.close(ours)

    assert code == 130
    assert "three members from nothing" in shown
    assert "stateward: interrupted" in shown
    assert nothing_is_left(tmp_path)


def read_screen(terminal: int, text: str = "") -> str:
    """Return what a terminal shows until there is a text; without one, until its program ends."""
    shown = b""
    while not text or text.encode() not in shown:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # nobody has it open any more
            break
        if not piece:
            break
        shown += piece
    return shown.decode(errors="replace")
