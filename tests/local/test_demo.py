"""`stateward demo` without a terminal: it tells its story, ends, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from local.clusters import STATEWARD, processes_with


def start(temporary: Path, path: str) -> subprocess.Popen[str]:
    environment = os.environ | {"TMPDIR": str(temporary), "PATH": path, "COLUMNS": "200"}
    return subprocess.Popen(
        [str(STATEWARD), "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )


@pytest.mark.parametrize(
    "path", [os.environ["PATH"], str(STATEWARD.parent)], ids=["usual", "no kubectl"]
)
def test_every_chapter_comes_true(tmp_path: Path, path: str) -> None:
    told, complaints = start(tmp_path, path).communicate(timeout=90)

    assert complaints == ""
    lines = told.splitlines()
    assert "demo: all 6 chapters came true" in lines[-1]
    assert sum("node-" in line and "Ready" in line for line in lines) == 3
    assert sum("web-" in line and "1/1" in line and "Running" in line for line in lines) == 3
    assert not processes_with(str(tmp_path))


def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    process = start(tmp_path, os.environ["PATH"])
    assert process.stdout is not None
    for line in process.stdout:
        if "start three servers" in line:
            break
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=30)

    assert process.returncode == 130
    assert complaints.strip() == "stateward: interrupted"
    assert not processes_with(str(tmp_path))
    assert not list((tmp_path / f"stateward-{os.getuid()}").iterdir())
