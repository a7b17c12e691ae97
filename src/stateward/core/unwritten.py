"""Secrets for who takes files alone, as OpenSSL does: a path, and no disk where that can be."""

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
    descriptor = _in_memory()
    if descriptor is not None:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            os.fchmod(descriptor, 0o600)
            file.write(secret)
            yield f"/proc/self/fd/{descriptor}"
        return
    with tempfile.NamedTemporaryFile(prefix="stateward-", buffering=0) as kept:
        kept.write(secret)
        yield kept.name


def _in_memory() -> int | None:
    """Return a file that is in memory alone; None where there is none, or it is forbidden."""
    if not hasattr(os, "memfd_create"):
        return None
    try:
        return os.memfd_create("stateward")
    except OSError:
        return None
