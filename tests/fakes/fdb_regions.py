"""Clusters that are in several places: ``dc1/s3 l3 x2`` are eight processes of a data center."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stateward.core.chance import Chance
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString

_CLASSES = {
    "s": ProcessClass.STORAGE,
    "l": ProcessClass.LOG,
    "x": ProcessClass.STATELESS,
    "c": ProcessClass.COORDINATOR,
}
#: Two data centers with everything, one with logs only, coordinators in all of them.
WORLD = ("dc1/s3 l3 x3 c3", "dc2/s3 l3 x3 c3", "dc3/l3 c3")


def servers(*places: str, key: str = "dcid") -> Iterator[Server]:
    """Yield processes; every one of a class in a place is in a zone of its own."""
    for row, text in enumerate(places, start=1):
        name, _, rest = text.partition("/")
        for word in rest.split():
            for number in range(1, int(word[1:]) + 1):
                zone = f"{name}-z{number}"
                where = {key: name, "zoneid": zone, "machineid": zone}
                where["instance_id"] = f"{name}-{word[0]}{number}"
                address = Address(f"10.{row}.{ord(word[0])}.{number}", 4501)
                disk = Disk(where["instance_id"].encode().hex().ljust(32, "0"))
                yield Server((address,), disk, _CLASSES[word[0]], where)


def cluster(*places: str, words: str = "new double ssd logs=3", key: str = "dcid") -> Database:
    """Return a database that has been healthy for a while, with the coordinators that are there."""
    every = list(servers(*places, key=key))
    some = [it for it in every if it.process_class is ProcessClass.COORDINATOR] or every[:3]
    text = f"far:abcdefgh@{','.join(str(it.address) for it in some)}"
    made = Database(ConnectionString.parse(text), Chance(1))
    for it in every:
        made.join(it)
    made.configure(tokens.read(words.split()))
    made.shards.fill(60_000_000)
    made.advance(60.0)
    return made


def configure(database: Database, *words: str, seconds: float = 60.0) -> None:
    """Have it be so, and wait."""
    database.configure(tokens.read(list(words)))
    database.advance(database.now + seconds)


def regions(second: int = 0, *, satellites: bool = True) -> str:
    """Return the word for two regions; the first is wanted more."""
    beside = {"satellite_redundancy_mode": "one_satellite_double", "satellite_logs": 2}
    extra = beside if satellites else {}
    third = [{"id": "dc3", "priority": 1, "satellite": 1}] if satellites else []
    found = [
        {"datacenters": [{"id": "dc1", "priority": 1}, *third], **extra},
        {"datacenters": [{"id": "dc2", "priority": second}, *third], **extra},
    ]
    return "regions=" + json.dumps(found, separators=(",", ":"))


def two_regions(*, satellites: bool = True) -> Database:
    """Return a database in two regions, as somebody would have made it one step after another.

    In the first, storage is in one data center only, as it must be.
    """
    database = cluster("dc1/s3 l3 x3 c3", "dc2/l3 x3 c3", "dc3/l3 c3")
    configure(database, regions(-1, satellites=satellites))
    for it in servers("dc1/", "dc2/s3"):
        database.join(it)
    configure(database, "usable_regions=2")
    configure(database, regions(0, satellites=satellites))
    return database


def lose(database: Database, center: str, seconds: float = 10.0) -> list[Server]:
    """Let a whole data center go; return who was there."""
    gone = [it for it in database.servers.values() if it.localities["dcid"] == center]
    for it in gone:
        database.leave(it.disk.process_id)
    database.advance(database.now + seconds)
    return gone
