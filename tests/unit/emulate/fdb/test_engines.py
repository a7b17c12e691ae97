"""The stand-in goes from one storage engine to another as the real one does."""

from __future__ import annotations

from collections import Counter

import pytest

from fakes.fdb_regions import cluster, configure
from stateward.emulate.fdb.configuration import engines
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.saving import restored, saved
from stateward.emulate.fdb.telling import document

NEW = "ssd-redwood-1"


def has(database: Database) -> dict[str, int]:
    """Return how many storage servers are of each engine, by the status."""
    told = document.status(database, database.string, "f")["cluster"]["processes"].values()
    roles = [it for one in told for it in one["roles"] if it["role"] == "storage"]
    return dict(Counter(it["storage_metadata"]["storage_engine"] for it in roles))


def test_aggressive_makes_all_anew_where_they_are() -> None:
    database = cluster("dc1/s2 l2 x2", words="new double ssd-2")
    configure(database, NEW, "storage_migration_type=aggressive", seconds=31)
    assert has(database).get("ssd-2"), "it takes a while"
    database.advance(database.now + 60)
    assert has(database) == {NEW: 2}
    assert database.shards.fewest_copies(database.servers) == 2


def test_gradual_takes_one_after_another_and_never_has_fewer_copies() -> None:
    database = cluster("dc1/s4 l2 x2", words="new double ssd-2")
    configure(
        database, NEW, "storage_migration_type=gradual", "perpetual_storage_wiggle=1", seconds=1
    )
    seen = set()
    for _ in range(2000):
        database.advance(database.now + 0.5)
        seen.add(has(database).get(NEW, 0))
        assert database.shards.fewest_copies(database.servers) >= 2
    assert has(database) == {NEW: 4}
    assert seen == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ("dc1/s2 l2 x2", ("storage_migration_type=gradual", "perpetual_storage_wiggle=1")),
        ("dc1/s4 l2 x2", ("storage_migration_type=gradual",)),
        (
            "dc1/s4 l2 x2",
            (
                "storage_migration_type=gradual",
                "perpetual_storage_wiggle=1",
                "perpetual_storage_wiggle_locality=dcid:dc9",
            ),
        ),
    ],
    ids=["no room elsewhere", "no wiggle", "a wiggle elsewhere"],
)
def test_gradual_rests_where_it_cannot_go_on(places: str, words: tuple[str, ...]) -> None:
    database = cluster(places, words="new double ssd-2")
    configure(database, NEW, *words, seconds=300)
    assert has(database) == {"ssd-2": 2 if "s2" in places else 4}


@pytest.mark.parametrize(("last", "left"), [("c/s2 l2", {}), ("c/s1 l2", {"ssd-2": 1})])
def test_what_a_hall_has_stays_in_it(last: str, left: dict[str, int]) -> None:
    """Each has a copy of all: who is alone in its hall has nobody to give it to."""
    halls = ("a/s2 l2 x2", "b/s2 l2", last)
    database = cluster(*halls, words="new three_data_hall ssd-2", key="data_hall")
    gradual = ("storage_migration_type=gradual", "perpetual_storage_wiggle=1")
    configure(database, NEW, *gradual, seconds=1)
    for _ in range(2000):
        database.advance(database.now + 0.5)
        assert database.shards.fewest_copies(database.servers) >= 3
    found = has(database)
    assert found.pop(NEW) >= 4
    assert found == left


def test_who_came_later_is_of_the_engine_of_now_and_who_was_away_is_of_its_own() -> None:
    database = cluster("dc1/s3 l2 x2", words="new double ssd-2")
    configure(database, "storage_migration_type=disabled")
    first = min(database.shards.holders())
    gone = database.servers[first]
    database.leave(first)
    configure(database, NEW, "storage_migration_type=aggressive", seconds=1)
    database.join(gone)
    assert engines.engine_on(database, first) == "ssd-2"
    configure(database, "storage_migration_type=disabled", seconds=100)
    assert has(database).get("ssd-2", 0) >= 1, "nothing is made anew any more"


def test_what_is_kept_of_a_database_has_the_engines() -> None:
    database = cluster("dc1/s3 l2 x2", words="new double ssd-2")
    configure(database, NEW, "storage_migration_type=aggressive", seconds=1)
    again = restored(saved(database), database.chance, lambda _born: database.now)
    assert again.engines == database.engines
    assert set(again.engines.values()) == {"ssd-2"}
