"""The configuration of fdbmonitor in split images; the sidecar of a pod fills in its variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.fdb.build.basis import Basis
from stateward.fdb.build.servers.arguments import (
    Argument,
    Env,
    Host,
    Number,
    Piece,
    Text,
    arguments,
)
from stateward.fdb.model.classes import ProcessClass

#: New arguments wait until a process is told to end: all of them change at once.
_GENERAL: Final = "[general]\nkill_on_configuration_change = false\nrestart_delay = 60\n"
_COMMAND: Final = "command = $BINARY_DIR/fdbserver"


def conf(basis: Basis, process_class: ProcessClass, servers: int) -> str:
    """Return the text of a class with so many processes a pod; empty while nothing shall run."""
    if basis.connection is None:
        return ""
    if not basis.runs_servers:
        return _GENERAL
    said = arguments(basis, process_class, servers, "split")
    return _GENERAL + "".join("\n".join(_section(said, it)) for it in range(1, servers + 1))


def _section(said: tuple[Argument, ...], process: int) -> Iterator[str]:
    yield ""
    yield f"[fdbserver.{process}]"
    yield _COMMAND
    for it in said:
        yield f"{it.name} = {''.join(_text(piece, process) for piece in it.pieces)}"
    yield ""


def _text(piece: Piece, process: int) -> str:
    match piece:
        case Text(text):
            return text
        case Env(name) | Host(name, _):  # the sidecar knows the family, and writes brackets
            return f"${name}"
        case Number():
            return str(piece.of(process))
