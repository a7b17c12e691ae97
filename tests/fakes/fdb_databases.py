"""A database as in the recordings: five storage processes, three of logs, two without state."""

from __future__ import annotations

from stateward.core.chance import Chance
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString

#: By class: the third number of addresses, and how many there are.
LAYOUT = {"storage": (1, 5), "log": (2, 3), "stateless": (3, 2)}
STRING = "lab:abcdefgh@127.0.1.1:4501,127.0.1.2:4501,127.0.1.3:4501"


def server(name: str, started: float = 0.0, disk: Disk | None = None) -> Server:
    """Return a process of the recordings by its name, as ``storage-1``."""
    kind, number = name.split("-")
    address = Address(f"127.0.{LAYOUT[kind][0]}.{number}", 4501)
    zone = f"z{number}"
    localities = {"dcid": "dc1", "zoneid": zone, "machineid": zone, "instance_id": name}
    kept = disk or Disk(f"{name}".encode().hex().ljust(32, "0"))
    return Server((address,), kept, ProcessClass(kind), localities, started=started)


def names() -> list[str]:
    """Return the names of all processes."""
    return [f"{kind}-{n}" for kind, (_, many) in LAYOUT.items() for n in range(1, many + 1)]


def unconfigured() -> Database:
    """Return processes that found each other, and no database yet."""
    made = Database(ConnectionString.parse(STRING), Chance(1))
    for name in names():
        made.join(server(name))
    return made


def configured(
    words: str = "new double ssd logs=2", size: int = 60_000_000, seconds: float = 60.0
) -> Database:
    """Return a database that has been healthy for a while."""
    made = unconfigured()
    made.configure(tokens.read(words.split()))
    made.shards.fill(size)
    made.advance(seconds)
    return made


def two_unset(string: str, name: str, where: dict[str, str]) -> Database:
    """Return two processes that were told nothing; the first coordinates."""
    made = Database(ConnectionString.parse(string), Chance(1))
    first = made.string.coordinators[0]
    host = first.host.rpartition(".")[0]
    for number in (1, 2):
        zone = f"tz{number}"
        localities = {**where, "zoneid": zone, "machineid": zone, "instance_id": f"{name}{number}"}
        addresses = [Address(f"{host}.{number}", 4501, tls=first.tls)]
        if first.tls and number == 2:  # half way from one to the other
            addresses.append(Address(f"{host}.{number}", 4502))
        made.join(Server(tuple(addresses), Disk(f"{number:032x}"), localities=localities))
    return made


def tls(words: str = "", seconds: float = 0.0) -> Database:
    """Return the cluster of the recordings whose processes have certificates."""
    made = two_unset("lab:abcdefgh@127.0.7.1:4501:tls", "t", {"dcid": "dc1"})
    if words:
        made.configure(tokens.read(words.split()))
    made.advance(seconds)
    return made


def unset_pair(words: str) -> Database:
    """Return two processes without a data center, as under fdbmonitor in the recordings."""
    made = two_unset("mon:abcdefgh@127.0.5.1:4501", "mon-", {})
    made.configure(tokens.read(words.split()))
    made.advance(60.0)
    return made


def small_server(number: int, kind: str = "storage") -> Server:
    """Return a process of the recordings' small cluster."""
    zone, name = f"z{number}", "st1" if kind == "stateless" else f"s{number}"
    localities = {"dcid": "dc1", "zoneid": zone, "machineid": zone, "instance_id": name}
    address = Address(f"127.0.8.{number}", 4501)
    return Server((address,), Disk(f"{number:032x}"), ProcessClass(kind), localities)


def small(words: str = "") -> Database:
    """Return three storage processes, which coordinate too, and one without state."""
    string = "small:smallsm1@127.0.8.1:4501,127.0.8.2:4501,127.0.8.3:4501"
    made = Database(ConnectionString.parse(string), Chance(1))
    for number in (1, 2, 3):
        made.join(small_server(number))
    made.join(small_server(4, "stateless"))
    if words:
        made.configure(tokens.read(words.split()))
        made.advance(60.0)
    return made


def lose(database: Database, *lost: str) -> None:
    """Let processes end."""
    for name in lost:
        database.leave(server(name).disk.process_id)


def come_back(database: Database, *back: str) -> None:
    """Let processes start again on their disks."""
    for name in back:
        database.join(server(name, database.now))
