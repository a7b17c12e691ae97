"""Secrets for who takes files alone, as OpenSSL does: given a path, and never written to a disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_file(secret: bytes) -> Iterator[str]:
    """Give a path where the bytes can be read, by us alone and only within the block.

    It takes no folder that can be written to: a container may have none.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("stateward"), "wb", buffering=0) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(secret)
            yield f"/proc/self/fd/{file.fileno()}"
        return
    with tempfile.NamedTemporaryFile(prefix="stateward-", buffering=0) as kept:
        kept.write(secret)
        yield kept.name
