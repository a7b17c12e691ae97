"""Who uses a database is counted by libraries, named up to a number, and forgotten after a while."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_databases import configured
from fakes.fdb_statuses import document as recording
from fakes.hand_clock import HandClock
from stateward.core.chance import Chance
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.asking.clients import REMEMBERED, Client, Clients, section
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.programs.controller import Crown, begun
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk.messages import Kept
from stateward.emulate.fdb.telling import document
from stateward.fdb.status import clients
from stateward.fdb.status.reading import read

OLD, NOW, NEXT = Version(7, 1, 61), Version(7, 3, 79), Version(7, 4, 1)


def told(database: Database) -> dict[str, Any]:
    return document.status(database, database.string, "fdb.cluster")


def counted(database: Database) -> int:
    found: int = told(database)["cluster"]["clients"]["count"]
    return found


def test_who_left_is_counted_for_a_while() -> None:
    database = configured()
    database.client_comes(Client("10.0.0.1:4000"))
    database.client_comes(Client("10.0.0.2:4000"))
    assert counted(database) == 2
    database.client_goes("10.0.0.1:4000")
    database.client_goes("10.0.0.9:4000")
    assert counted(database) == 2
    database.advance(database.now + REMEMBERED)
    assert counted(database) == 1


def test_who_comes_back_is_one() -> None:
    database = configured()
    for _ in range(3):
        database.client_comes(Client("10.0.0.1:4000"))
        database.client_goes("10.0.0.1:4000")
    database.client_comes(Client("10.0.0.1:4000"))
    assert counted(database) == 1


async def test_who_asked_one_that_controlled_it_before_is_forgotten_by_the_next() -> None:
    database = configured()
    database.client_comes(Client("10.0.0.1:4000"))
    kept = Kept(version=1, state=saving.saved(database))
    council: Any = SimpleNamespace(string=database.string)
    pace = Pace(HandClock(database.now), 1.0)
    reign = begun(Crown(council, "me", 1), kept, pace, Chance(1))
    assert counted(reign.database) == 1, "it may have just left"
    reign.database.advance(reign.database.now + REMEMBERED)
    assert counted(reign.database) == 0


def test_each_is_named_under_all_its_libraries_and_counts_under_its_newest_protocol() -> None:
    every = [Client("a:1", (OLD, NOW)), Client("b:1", (OLD,)), Client("c:1", (NOW, NEXT))]
    found = {it["client_version"]: it for it in section(every)["supported_versions"]}
    assert [it["count"] for it in found.values()] == [2, 2, 1]
    assert [it["max_protocol_count"] for it in found.values()] == [1, 1, 1]
    assert found["7.1.61"]["protocol_version"] == "fdb00b071000000"


def test_whom_an_upgrade_cuts_off_is_read_from_it() -> None:
    database = configured()
    database.client_comes(Client("10.0.0.1:4000", (OLD, NOW), "shop"))
    database.client_comes(Client("10.0.0.2:4000", (NOW, NEXT), "till"))
    status = read(json.dumps(told(database)), 0.0)
    found = clients.cut_off_by(status, NEXT)
    assert isinstance(found, Known)
    assert [(it.address, it.log_group) for it in found.value] == [("10.0.0.1:4000", "shop")]


def test_no_more_than_sixty_are_named() -> None:
    real = recording("incompatible_server")["cluster"]["clients"]
    found = section([Client(f"10.0.0.1:{4000 + it}") for it in range(real["count"])])
    (ours,), (theirs,) = found["supported_versions"], real["supported_versions"]
    for name in ("connected_clients", "max_protocol_clients"):
        assert len(ours[name]) == len(theirs[name])
    assert ours["count"] == theirs["count"]


def test_what_a_client_complains_of_makes_all_unhealthy() -> None:
    database = configured()
    database.client_comes(Client("10.0.0.1:4000", issue=("x", "it has an issue")))
    found = told(database)
    assert found["client"]["database_status"]["healthy"] is False
    (message,) = found["cluster"]["messages"]
    assert message["name"] == "client_issues"
    assert message["issues"][0]["addresses"] == ["10.0.0.1:4000"]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.floats(0, 90)), max_size=30))
def test_who_is_here_is_always_counted(steps: list[tuple[bool, str, float]]) -> None:
    found, now, here = Clients(), 0.0, set[str]()
    for comes, name, seconds in steps:
        now += seconds
        if comes:
            found.comes(Client(name))
            here.add(name)
        else:
            found.goes(name, now)
            here.discard(name)
        names = [it.address for it in found.counted(now)]
        assert here <= set(names)
        assert len(names) == len(set(names))
    assert {it.address for it in found.counted(now + REMEMBERED)} == here
