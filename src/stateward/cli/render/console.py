"""Where commands print: who reads us may go, for example ``| head``, and that is no failure."""

from __future__ import annotations

from rich.console import Console


class Output(Console):
    """A console that says so when nobody reads it any more, as everything else does."""

    def on_broken_pipe(self) -> None:
        """Let the command clear up: ending the process here would leave what it started."""
        raise BrokenPipeError
