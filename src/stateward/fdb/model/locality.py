"""Localities: words by which a process says where it is, given with ``--locality-KEY VALUE``."""

from __future__ import annotations

import re
from typing import Final

ZONE: Final = "zoneid"
MACHINE: Final = "machineid"
DATA_CENTER: Final = "dcid"
DATA_HALL: Final = "data_hall"
#: The process group: it stays the same when a pod, an address or a disk is another.
INSTANCE: Final = "instance_id"
#: One of several processes of a pod.
PROCESS: Final = "process_id"
DNS_NAME: Final = "dns_name"

_PREFIX: Final = "locality_"
_KEY: Final = re.compile(r"[a-z0-9_]+")


def word(key: str, value: str) -> str:
    """Return how exclusions name all processes with a locality.

    >>> word(INSTANCE, "storage-1")
    'locality_instance_id:storage-1'
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"the key of a locality must have a-z, 0-9 and _ only, got {key!r}")
    if not value or any(it.isspace() or it in ";\"'\\" for it in value):
        raise ValueError(f"the value of a locality must have no spaces and quotes, got {value!r}")
    return f"{_PREFIX}{key}:{value}"


def parse(text: str) -> tuple[str, str] | None:
    """Return key and value of such a word; None: it is none."""
    key, colon, value = text.removeprefix(_PREFIX).partition(":")
    is_one = text.startswith(_PREFIX) and colon and value and _KEY.fullmatch(key)
    return (key, value) if is_one else None
