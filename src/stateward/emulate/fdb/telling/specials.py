"""Keys that are no data: what the database says of itself to who reads such a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document
from stateward.fdb.model import exclusions

SPECIAL: Final = b"\xff\xff"
MANAGEMENT: Final = b"\xff\xff/management/"
#: By the folder of a key: whether who is named there counts as failed.
FOLDERS: Final = {
    b"excluded": False,
    b"excluded_locality": False,
    b"failed": True,
    b"failed_locality": True,
}
_STATUS: Final = b"\xff\xff/status/json"


def value(database: Database, key: bytes, path: str = "fdb.cluster") -> bytes | None:
    """Return what is at a key, for somebody with a cluster file."""
    if key == _STATUS:
        return json.dumps(document.status(database, database.string, path)).encode()
    if key == b"\xff\xff/cluster_file_path":
        return path.encode()
    return dict(entries(database)).get(key)


def span(database: Database, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
    """Return all of them from one on and below another, but for those that must be asked for."""
    return sorted(it for it in entries(database) if begin <= it[0] < end)


def entries(database: Database) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys with their values."""
    yield b"\xff\xff/connection_string", str(database.string).encode()
    yield from _coordinators(database)
    yield from _exclusions(database)
    yield from _processes(database)
    if (zone := database.maintained()) is not None:
        yield MANAGEMENT + b"maintenance/" + zone.zone.encode(), str(int(zone.seconds)).encode()
    mode = b"0" if database.stays else b"1"
    yield MANAGEMENT + b"data_distribution/mode", mode
    if database.unchecked:
        yield MANAGEMENT + b"consistency_check_suspended", b""
    if database.store.locked_by:
        yield MANAGEMENT + b"db_locked", database.store.locked_by.encode()


def _coordinators(database: Database) -> Iterator[tuple[bytes, bytes]]:
    folder, string = b"\xff\xff/configuration/coordinators/", database.string
    yield folder + b"cluster_description", string.description.encode()
    yield folder + b"processes", ",".join(map(str, string.coordinators)).encode()


def _exclusions(database: Database) -> Iterator[tuple[bytes, bytes]]:
    for folder, failed in FOLDERS.items():
        is_locality = folder.endswith(b"_locality")
        for it in database.failed if failed else database.excluded:
            if isinstance(it, exclusions.ByLocality) == is_locality:
                yield MANAGEMENT + folder + b"/" + str(it).encode(), b""
    for server in database.servers.values():
        if server.is_meant(database.barred) and not data.is_drained(database, server):
            name = server.address.plain.encode()
            yield MANAGEMENT + b"in_progress_exclusion/" + name, b""


def _processes(database: Database) -> Iterator[tuple[bytes, bytes]]:
    folder = b"\xff\xff/configuration/process/"
    for it in database.servers.values():
        name = it.address.plain.encode()
        yield folder + b"class_source/" + name, it.class_source.encode()
        yield folder + b"class_type/" + name, str(it.process_class).encode()
        yield b"\xff\xff/worker_interfaces/" + name, b""
