"""The loop of a test waits for the other side's goodbye, which without that is an open socket."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trustme

from fakes import loops

AUTHORITY = trustme.CA()


@contextmanager
def slow_to_part(parts: threading.Event) -> Iterator[int]:
    """Listen for one who says goodbye; say it as well once we may. Yields the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("localhost").configure_cert(context)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            plain, _ = listening.accept()
            with context.wrap_socket(plain, server_side=True) as line:
                assert line.recv(1) == b""
                parts.wait(30)
                line.unwrap()

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(30)
        assert not thread.is_alive()


async def closed(port: int, parts: threading.Event) -> None:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    _, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="localhost"
    )
    writer.close()
    asyncio.get_running_loop().call_later(0.1, parts.set)


@pytest.mark.parametrize("patient", [True, False])
def test_a_goodbye_that_comes_late_is_waited_for(
    patient: bool, recwarn: pytest.WarningsRecorder
) -> None:
    parts = threading.Event()
    with slow_to_part(parts) as port:
        work = closed(port, parts)
        loops.run(work, 30) if patient else asyncio.run(work)
        parts.set()
        gc.collect()
    assert patient is not any(it.category is ResourceWarning for it in recwarn)
