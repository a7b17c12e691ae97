"""Who reads us may go: a command is told, so that it can clear up."""

from __future__ import annotations

import os

import pytest

from stateward.cli.render.console import Output


def test_a_command_is_told_that_nobody_reads_it() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", buffering=1) as nobody:
        with pytest.raises(BrokenPipeError):
            Output(file=nobody).print("hello")
        nobody.detach()
