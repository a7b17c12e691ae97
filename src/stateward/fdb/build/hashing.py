"""Whether two documents say the same, in one short text that can be written on an object."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec


def digest(document: Any) -> str:
    """Return the SHA-256 of a document; the order of its fields does not count.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(msgspec.json.encode(document, order="deterministic")).hexdigest()
