"""Statuses that the stand-in tells of databases in two regions: no real one was recorded of these."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from fakes.fdb_regions import lose, two_regions
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document


def _without(database: Database, disks: tuple[str, ...], seconds: float = 1.0) -> Database:
    """Return a database right after it lost some disks, before anybody noticed."""
    for it in disks:
        database.leave(it)
    database.advance(database.now + seconds)
    return database


def _satellite_lost() -> Database:
    database = two_regions()
    return _without(database, database.logs[-1].satellites[:1])


def _remote_log_lost(*, satellites: bool = True) -> Database:
    database = two_regions(satellites=satellites)
    return _without(database, database.logs[-1].remote[:1])


def _center_lost(center: str, seconds: float) -> Database:
    database = two_regions()
    lose(database, center, seconds)
    return database


#: By what happened.
_MADE: dict[str, Callable[[], Database]] = {
    "healthy": two_regions,
    "satellite log lost": _satellite_lost,
    "remote log lost": _remote_log_lost,
    "remote log lost, no satellites": lambda: _remote_log_lost(satellites=False),
    "first region lost": lambda: _center_lost("dc1", 5.0),
    "second region lost": lambda: _center_lost("dc2", 30.0),
    "satellites lost": lambda: _center_lost("dc3", 5.0),
}
REGIONAL = sorted(_MADE)


@cache
def told(name: str) -> bytes:
    """Return what ``status json`` prints of a database in two regions."""
    database = _MADE[name]()
    return json.dumps(document.status(database, database.string, "fdb.cluster")).encode()
