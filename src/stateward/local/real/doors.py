"""The ports of a control plane: chosen once, so that a program that is started again keeps its own.

They lie below those that the kernel gives to outgoing connections. Otherwise a client that calls a
program which is just away might be given that very port, and the program could not come back.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Final

from stateward.core.chance import Chance
from stateward.core.errors import UsageError

_HOST: Final = "127.0.0.1"
_LOWEST: Final = 16_384
_BEYOND: Final = 32_768
_TRIES: Final = 100


def free(chance: Chance, taken: Sequence[int] = ()) -> int:
    """Return a port on which nobody listens, and which is none of some others."""
    for _ in range(_TRIES):
        port = _LOWEST + chance.below(_BEYOND - _LOWEST)
        if port not in taken and _refusal(port) is None:
            return port
    raise UsageError(f"a port between {_LOWEST} and {_BEYOND} must be free, and {_TRIES} were not")


def check_free(port: int) -> None:
    """Raise UsageError when somebody listens on a port."""
    if (error := _refusal(port)) is not None:
        raise UsageError(
            f"{_HOST}:{port} must be free to listen on: {error.strerror or error}",
            hint="choose another port, or none to have a free one chosen",
        )


def _refusal(port: int) -> OSError | None:
    with socket.socket() as it:
        # Connections of one who listened here before do not count.
        it.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            it.bind((_HOST, port))
            it.listen()
        except OSError as error:
            return error
    return None
