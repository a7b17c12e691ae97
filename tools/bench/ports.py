"""Ports for programs that are measured."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(many: int) -> list[int]:
    """Return ports of this machine that nobody has taken, each another."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(many)]
        for it in taken:
            it.bind(("127.0.0.1", 0))
        return [int(it.getsockname()[1]) for it in taken]
