"""Protocols of the stand-in: other minor releases do not join, patches mix, all at once upgrade it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_databases import configured, lose, names, server
from stateward.core.version import Version
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.telling import document

PATCH, NEXT = Version(7, 3, 80), Version(7, 4, 1)


def of(name: str, version: Version, now: float) -> Server:
    return replace(server(name, now), version=version)


def restart(database: Database, version: Version, *some: str) -> None:
    for name in some:
        lose(database, name)
        database.join(of(name, version, database.now))


def after(database: Database, seconds: float) -> Database:
    database.advance(database.now + seconds)
    return database


def test_patches_mix() -> None:
    database = configured()
    restart(database, PATCH, "storage-1", "log-1")
    after(database, 60)
    assert database.recovery.serves
    versions = {str(it.version) for it in database.servers.values()}
    assert versions == {"7.3.79", "7.3.80"}
    assert not database.strangers


def test_one_with_another_protocol_does_not_belong_to_it() -> None:
    database = configured()
    restart(database, NEXT, "storage-5")
    after(database, 60)
    found = document.status(database, database.string, "fdb.cluster")["cluster"]
    assert found["incompatible_connections"] == ["127.0.1.5:4501"]
    assert server("storage-5").disk.process_id not in found["processes"]
    assert database.line == (7, 3)
    assert database.recovery.serves


def test_all_at_once_it_speaks_the_new_one() -> None:
    database = configured()
    restart(database, NEXT, *names())
    after(database, 60)
    assert database.line == (7, 4)
    assert database.recovery.name == "fully_recovered"
    assert not database.strangers
    found = document.status(database, database.string, "fdb.cluster", Viewpoint(version=NEXT))
    assert found["client"]["database_status"] == {"available": True, "healthy": True}
    assert found["cluster"]["protocol_version"] == "fdb00b074000000"
    assert {it["version"] for it in found["cluster"]["processes"].values()} == {"7.4.1"}


def test_who_was_forgotten_is_incompatible_until_it_is_restarted() -> None:
    database = configured()
    restart(database, NEXT, *(it for it in names() if it != "storage-4"))
    after(database, 20)
    assert [str(it.address) for it in database.strangers.values()] == ["127.0.1.4:4501"]
    assert database.recovery.serves
    database.leave(server("storage-4").disk.process_id)
    database.join(of("storage-4", NEXT, database.now))
    after(database, 60)
    assert not database.strangers
    assert database.shards.fewest_copies(database.servers) == 2


def test_without_its_logs_a_half_upgraded_one_waits_for_them() -> None:
    database = configured()
    restart(database, NEXT, *(it for it in names() if not it.startswith("log")))
    after(database, 20)
    assert database.line == (7, 4)
    assert not database.recovery.serves
    for name in ("log-1", "log-2", "log-3"):
        database.leave(server(name).disk.process_id)
        database.join(of(name, NEXT, database.now))
    after(database, 20)
    assert database.recovery.serves


def test_coordinators_by_halves_are_no_majority_of_either() -> None:
    database = configured()
    lose(database, "storage-1")
    restart(database, NEXT, "storage-2")
    after(database, 10)
    assert database.line == (7, 3)
    assert not database.has_quorum


@pytest.mark.parametrize("version", [NEXT, Version(7, 1, 61)])
def test_a_client_of_another_protocol_sees_nobody(version: Version) -> None:
    """As recorded: it looks like an outage."""
    database = configured()
    seen = document.status(database, database.string, "f", Viewpoint(version=version))
    assert seen["client"]["coordinators"]["quorum_reachable"] is False
    assert all(
        it.keys() == {"address", "reachable"}
        for it in seen["client"]["coordinators"]["coordinators"]
    )
    assert seen["client"]["messages"][0]["name"] == "quorum_not_reachable"
    assert seen["cluster"] == {"layers": {"_valid": False}}


def test_one_that_is_restarted_as_another_release_is_there_once() -> None:
    database = configured()
    disk = server("storage-1").disk.process_id
    newer = replace(server("storage-1", database.now), version=Version(7, 4, 5))
    database.join(newer)
    assert (disk in database.servers, disk in database.strangers) == (False, True)
    database.join(server("storage-1", database.now + 1))
    assert (disk in database.servers, disk in database.strangers) == (True, False)
    database.join(newer)
    database.leave(disk)
    assert (disk in database.servers, disk in database.strangers) == (False, False)
