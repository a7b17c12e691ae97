"""Who reads us may go: a command is told, so that it can clear up."""

from __future__ import annotations

import io

import pytest

from stateward.cli.render.console import Output


class Nobody(io.StringIO):
    """An output that nobody reads."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_command_is_told_that_nobody_reads_it() -> None:
    with pytest.raises(BrokenPipeError):
        Output(file=Nobody()).print("hello")
