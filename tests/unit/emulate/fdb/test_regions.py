"""Databases that are in several places: what is refused, who has what, and what fails over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes import fdb_regions
from fakes.fdb_regions import WORLD, cluster, configure, lose, regions, two_regions
from stateward.core.facts import Known
from stateward.emulate.fdb import data
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.configuration import refusals, tokens
from stateward.emulate.fdb.configuration.refusals import Seen, objection
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document
from stateward.fdb.status import configuration, health
from stateward.fdb.status.reading import read


def told(database: Database) -> dict[str, Any]:
    found: dict[str, Any] = document.status(database, database.string, "fdb.cluster")["cluster"]
    return found


def roles_in(database: Database, center: str) -> set[str]:
    """Return which roles are in a data center, but for coordinators."""
    every = told(database)["processes"].values()
    mine = (it for it in every if it["locality"]["dcid"] == center)
    return {role["role"] for it in mine for role in it["roles"]} - {"coordinator"}


# -------------------------------------------------------------------------- what is refused

BOTH, ONE = regions(0), regions(-1)
EVERYWHERE = Seen(zones=9, centers=frozenset({"dc1", "dc2"}))


@pytest.mark.parametrize(
    ("before", "words", "seen", "why"),
    [
        ("", BOTH, EVERYWHERE, ""),
        ("", BOTH, Seen(9, frozenset({"dc1", "dc9"})), refusals.OUTSIDE),
        ("", BOTH, Seen(9, frozenset({"dc1"})), ""),
        (ONE, "usable_regions=2", EVERYWHERE, ""),
        (ONE, "usable_regions=2", Seen(9, frozenset({"dc1"})), ""),
        (BOTH, "usable_regions=2", EVERYWHERE, refusals.TWO_WANTED),
        ("", f"{ONE} usable_regions=2", EVERYWHERE, refusals.BOTH),
        (f"{ONE} usable_regions=2", BOTH, EVERYWHERE, ""),
        (
            f"{ONE} usable_regions=2",
            BOTH,
            Seen(9, frozenset({"dc1", "dc2"}), lacking=frozenset({"dc2"})),
            refusals.NOT_REPLICATED,
        ),
        (
            f"{ONE} usable_regions=2",
            "logs=4",
            Seen(9, frozenset({"dc1", "dc2"}), lacking=frozenset({"dc2"})),
            "",
        ),
        (BOTH, "three_datacenter", EVERYWHERE, refusals.NO_REGIONS),
        ("", "triple", Seen(2), refusals.TOO_FEW),
        ("", "encryption_at_rest_mode=domain_aware", EVERYWHERE, refusals.SEALED),
        ("", "usable_regions=2", EVERYWHERE, refusals.INVALID),
    ],
)
def test_what_is_refused(before: str, words: str, seen: Seen, why: str) -> None:
    config = Settings().changed(tokens.read(["new", "double", "ssd", *before.split()]))
    assert objection(config, tokens.read(words.split()), seen) == why
    forced = objection(config, tokens.read(["FORCE", *words.split()]), seen)
    assert forced == (why if why in (refusals.SEALED, refusals.INVALID) else "")


def test_data_centers_count_where_they_were_no_regions() -> None:
    config = Settings().changed(tokens.read(["new", "three_datacenter", "ssd", *ONE.split()]))
    asked, here = tokens.read(["double", "usable_regions=2"]), Seen(9, frozenset({"dc1"}))
    assert objection(config, asked, here) == refusals.NOBODY_THERE
    one_more = Seen(9, frozenset({"dc1", "dc2", "dc9"}))
    assert objection(config, asked, one_more) == "", "of three data centers one is left out"


def test_it_is_refused_in_words_of_fdbcli() -> None:
    database = cluster(*WORLD)
    escaped = BOTH.replace('"', '\\"').replace("dc2", "dc7")
    answer = Fdbcli(database).run(f"configure {escaped}", 90)
    assert answer.code == 1
    assert answer.err == f"{refusals.OUTSIDE}\n"


# -------------------------------------------------------------------------- two regions


def test_both_have_all_data_and_one_is_written_to() -> None:
    database = two_regions()
    assert database.recovery.name == "fully_recovered"
    assert [data.fewest_copies(database, it) for it in ("dc1", "dc2")] == [2, 2]
    assert {"log", "commit_proxy", "master", "storage"} <= roles_in(database, "dc1")
    assert roles_in(database, "dc2") == {"log", "router", "storage"}
    assert roles_in(database, "dc3") == {"log"}
    found = told(database)
    assert found["active_primary_dc"] == "dc1"
    (logs,) = found["logs"]
    assert (logs["satellite_log_replication_factor"], logs["remote_log_fault_tolerance"]) == (2, 1)
    assert [it["primary"] for it in found["data"]["team_trackers"]] == [True, False]
    status = read(json.dumps({"cluster": found}), 0.0)
    seen = configuration.configuration(status)
    assert isinstance(seen, Known)
    assert (seen.value.usable_regions, len(seen.value.regions)) == (2, 2)
    left = health.tolerance(status)
    assert isinstance(left, Known)
    assert (left.value.data, left.value.availability) == (3, 1)


def test_a_lost_region_with_satellites_is_failed_over_and_back() -> None:
    database = two_regions()
    gone = lose(database, "dc1")
    assert database.recovery.serves
    assert database.primary == "dc2"
    assert database.recovery.name == "accepting_commits", "the other region has nobody"
    assert database.recovery.causes[-1][1].endswith("was lost")
    database.advance(database.now + 300.0)
    found = told(database)
    assert found["datacenter_lag"]["seconds"] > 300
    assert found["data"]["state"]["name"] == "healthy", "all that is written to is there"
    assert found["full_replication"] is False
    assert found["fault_tolerance"]["max_zone_failures_without_losing_availability"] == 1
    for it in gone:
        database.join(it)
    database.advance(database.now + 120.0)
    assert database.primary == "dc1", "it is wanted more"
    assert database.recovery.name == "fully_recovered"
    assert told(database)["datacenter_lag"]["seconds"] == 0
    assert told(database)["full_replication"] is True


def test_without_satellites_what_was_just_written_may_be_lost_so_it_waits() -> None:
    database = two_regions(satellites=False)
    gone = lose(database, "dc1")
    assert database.recovery.name == "locking_coordinated_state"
    for it in gone:
        database.join(it)
    database.advance(database.now + 60.0)
    assert database.recovery.serves
    assert database.primary == "dc1"


def test_the_other_region_may_be_away() -> None:
    database = two_regions()
    gone = lose(database, "dc2")
    assert (database.recovery.serves, database.primary) == (True, "dc1")
    database.advance(database.now + 600.0)
    assert not database.shards.is_moving(), "its copies are not made anew elsewhere"
    for it in gone:
        database.join(it)
    database.advance(database.now + 120.0)
    assert database.recovery.name == "fully_recovered"
    assert told(database)["full_replication"] is True


def test_priorities_move_it() -> None:
    database = two_regions()
    swapped = regions().replace('"dc1"', '"x"').replace('"dc2"', '"dc1"').replace('"x"', '"dc2"')
    configure(database, swapped)
    assert database.primary == "dc2"
    assert database.recovery.name == "fully_recovered"


def test_one_disk_of_a_region_heals_within_it() -> None:
    database = two_regions()
    disk = next(it for it in database.servers if it.startswith(b"dc2-s1".hex()))
    database.leave(disk)
    database.advance(database.now + 120.0)
    assert [data.fewest_copies(database, it) for it in ("dc1", "dc2")] == [2, 2]


# -------------------------------------------------------------------------- halls, three centers


def halls(*there: str) -> Database:
    words = "new three_data_hall ssd logs=4"
    return cluster(*there, words=words, key="data_hall")


def test_three_data_halls_that_exist() -> None:
    database = halls("h1/s2 l2 x2", "h2/s2 l2 x2", "h3/s2 l2 x2")
    assert database.recovery.name == "fully_recovered"
    logs = [database.servers[it] for it in database.logs[-1].disks]
    assert len({it.localities["data_hall"] for it in logs}) == 2
    for piece in database.shards.pieces:
        assert len({database.servers[it].localities["data_hall"] for it in piece.team}) == 3
    for it in list(database.servers.values()):
        if it.localities["data_hall"] == "h3":
            database.leave(it.disk.process_id)
    database.advance(database.now + 120.0)
    assert database.recovery.serves, "two halls are enough for logs"
    assert data.fewest_copies(database) == 2


def test_two_halls_are_not_enough_for_its_logs_where_one_has_one_zone() -> None:
    database = halls("h1/s2 l1 x2", "h2/s1 l1")
    assert database.recovery.name == "recruiting_transaction_servers"


def test_three_data_centers() -> None:
    places = ("dc1/s2 l2 x2", "dc2/s2 l2 x2", "dc3/s2 l2 x2")
    database = cluster(*places, words="new three_datacenter ssd")
    assert data.fewest_copies(database) == 6
    for piece in database.shards.pieces:
        where = [database.servers[it].localities["dcid"] for it in piece.team]
        assert sorted(where) == ["dc1", "dc1", "dc2", "dc2", "dc3", "dc3"]
    lose(database, "dc3", 60.0)
    assert database.recovery.serves
    assert data.fewest_copies(database) == 4


def test_the_world_of_these_tests() -> None:
    assert len(list(fdb_regions.servers(*WORLD))) == 30
