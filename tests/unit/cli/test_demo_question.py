"""The demonstration's one question, asked on a terminal: only who says yes has agreed."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator

import pytest
from rich.console import Console

from stateward.cli.commands import demo


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Have a terminal in place of standard input; what is written to it was typed."""
    here, there = pty.openpty()
    with os.fdopen(there) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield here
    os.close(here)


@pytest.mark.parametrize(
    ("typed", "agrees"),
    [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("yesterday\n", False)],
)
async def test_what_is_typed(keyboard: int, typed: str, agrees: bool) -> None:
    os.write(keyboard, typed.encode())
    console = Console(file=io.StringIO())
    assert await demo._agrees(console, "Fetch it?") is agrees


async def test_who_says_nothing_has_not_agreed(
    keyboard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    del keyboard
    monkeypatch.setattr(demo, "_ANSWERED", 0.05)
    console = Console(file=io.StringIO())
    assert await demo._agrees(console, "Fetch it?") is False
