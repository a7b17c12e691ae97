"""The lock of fdbmonitor: one holds it, and what was taken away is not held."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from stateward.core.clock import SystemClock
from stateward.emulate.keepers.classic import lock


def never() -> None:
    raise AssertionError("nobody else holds it")


async def test_it_is_a_file_with_our_number_while_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "deep/lock"
    path.parent.mkdir()
    path.write_text("something longer than a number")
    held = await lock.hold(path, SystemClock(), never)
    assert path.read_text() == f"{os.getpid()}\n"
    held.release()
    assert not path.exists()


async def test_a_file_that_was_taken_away_in_between_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, waited, locked = tmp_path / "lock", [], fcntl.lockf

    def ended_just_then(descriptor: int, how: int) -> None:
        monkeypatch.undo()
        path.unlink()
        path.write_text("another")
        locked(descriptor, how)

    monkeypatch.setattr(lock.fcntl, "lockf", ended_just_then)
    held = await lock.hold(path, SystemClock(), lambda: waited.append(1))
    assert (path.read_text(), waited) == (f"{os.getpid()}\n", [1])
    held.release()
