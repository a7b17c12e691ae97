"""What there is of a database at a moment: processes, coordinators, roles, data, keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from stateward.core.chance import Chance
from stateward.emulate.fdb.asking.clients import Clients
from stateward.emulate.fdb.asking.clogs import Clog
from stateward.emulate.fdb.backups.state import Agents, Backups
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.keys import Store
from stateward.emulate.fdb.recruiting import Roles
from stateward.emulate.fdb.servers import VERSION, Server
from stateward.emulate.fdb.shards import Shards
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import Exclusion

#: Seconds until the data distributor begins anew after a recovery; until it has found anything to
#: say; and until it has looked at the data.
BEGUN, SILENT, LOOKED = 5.0, 1.0, 30.0


@dataclass(slots=True)
class Recovery:
    """How far the last recovery has come."""

    name: str = "configuration_never_created"
    #: When transactions were served again; None: they are not.
    served: float | None = None
    #: Grows by two with each.
    generation: int = 0
    #: What made it necessary, each with its moment.
    causes: list[tuple[float, str]] = field(default_factory=list)

    @property
    def serves(self) -> bool:
        """Whether transactions are served."""
        return self.served is not None


@dataclass(slots=True)
class LogSet:
    """The logs of one generation: how many copies they have, and of which versions."""

    epoch: int
    disks: tuple[str, ...]
    copies: int = 1
    begin: int = 0
    end: int | None = None
    #: Where regions are: logs beside the region that writes, and in the one that follows.
    satellites: tuple[str, ...] = ()
    satellite_copies: int = 0
    remote: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All disks of it."""
        return *self.disks, *self.satellites, *self.remote


@dataclass(slots=True)
class State:
    """All of it; what happens to it is elsewhere."""

    string: ConnectionString
    chance: Chance
    now: float = 0.0
    born: float = 0.0
    #: How many of its seconds are one of the world, by which processes tell how old they are.
    times: float = 1.0
    #: The minor release whose protocol the database speaks.
    line: tuple[int, int] = (VERSION.major, VERSION.minor)
    #: By the name of their disks: those who run.
    servers: dict[str, Server] = field(default_factory=dict)
    #: Processes that ended and are not yet known to be gone, and when they did.
    fallen: dict[str, tuple[Server, float]] = field(default_factory=dict)
    #: Those that are known to be gone, with their disks; they may come back.
    missing: dict[str, tuple[Server, float]] = field(default_factory=dict)
    #: Whether somebody came since it was last asked who is made for what.
    came: bool = False
    #: Whether nobody is recruited yet: those who were there before are about to come back.
    gathers: bool = False
    #: Those that run and speak another protocol, and those that run and nobody hears.
    strangers: dict[str, Server] = field(default_factory=dict)
    #: Addresses of more strangers, of whom nothing else is known.
    met: set[str] = field(default_factory=set)
    cut: dict[str, Server] = field(default_factory=dict)
    settings: Settings | None = None
    #: The data center that it is run from, where there are regions; for how many seconds the other
    #: one is behind, and since when it gets nothing at all.
    primary: str = ""
    region_lag: float = 0.0
    behind: float | None = None
    excluded: set[Exclusion] = field(default_factory=set)
    failed: set[Exclusion] = field(default_factory=set)
    recovery: Recovery = field(default_factory=Recovery)
    roles: Roles = field(default_factory=dict)
    logs: list[LogSet] = field(default_factory=list)
    shards: Shards = field(default_factory=Shards)
    #: By which engine storage servers keep what they have, by their disks; which of them the
    #: wiggle takes data from; and for how many seconds one has been made anew in its place.
    engines: dict[str, str] = field(default_factory=dict)
    wiggled: str = ""
    rewritten: float = 0.0
    store: Store = field(default_factory=Store)
    backups: Backups = field(default_factory=Backups)
    #: Who backs it up: they come again to whoever controls it next.
    agents: Agents = field(default_factory=Agents)
    clients: Clients = field(default_factory=Clients)
    #: What of a status is missing now.
    clog: Clog = field(default_factory=Clog)
    #: A zone that may be away, and until when.
    maintenance: tuple[str, float] | None = None
    #: When somebody begins to look at the data; before that, what was seen last still counts.
    looks: float = 0.0
    #: Whether somebody had data stay where it is, and the check of copies against each other stop.
    stays: bool = False
    unchecked: bool = False
    #: Until when pieces are cut anew.
    cuts: float = 0.0

    @property
    def barred(self) -> set[Exclusion]:
        """Who shall have neither data nor roles."""
        return self.excluded | self.failed

    def usable(self) -> list[Server]:
        """Return those who may have roles."""
        barred = self.barred
        return [it for it in self.servers.values() if not it.is_meant(barred)]

    def server_at(self, address: str) -> Server | None:
        """Return who listens at an address, without TLS."""
        found = (it for it in self.servers.values() if address in [a.plain for a in it.addresses])
        return next(found, None)

    def known(self, disk: str) -> Server | None:
        """Return a process by its disk, also one that is gone."""
        gone = self.fallen.get(disk) or self.missing.get(disk)
        return self.servers.get(disk) or (gone[0] if gone else None)

    def reachable(self, address: Address) -> bool:
        """Tell whether a coordinator answers."""
        return any(it.listens_at(address) for it in self.servers.values())

    def remembering(self, string: ConnectionString) -> int:
        """Return how many coordinators answer and know what is kept by them, or who follows."""
        return sum(
            any(
                string.id in it.disk.coordinates and it.listens_at(at)
                for it in self.servers.values()
            )
            for at in string.coordinators
        )

    def remember(self) -> None:
        """Have all coordinators that answer keep what they are to keep."""
        for it in self.servers.values():
            if any(map(it.listens_at, self.string.coordinators)):
                it.disk.remember(self.string.id)

    @property
    def has_quorum(self) -> bool:
        """Whether a majority of the coordinators answers."""
        answering = sum(self.reachable(it) for it in self.string.coordinators)
        return answering >= self.string.quorum

    @property
    def has_looked(self) -> bool:
        """Whether somebody looked at the data, and nobody has begun to do so again since."""
        is_looking = self.looks <= self.now < self.looks + LOOKED
        return self.recovery.serves and not is_looking

    def look_again(self) -> None:
        """Have the data distributor begin anew: soon, if it had looked, and else at once."""
        is_due = self.has_looked and self.looks > self.now
        if not is_due:
            self.looks = self.now + (BEGUN if self.has_looked else 0.0)

    def holder(self, role: str) -> Server | None:
        """Return who has a role that only one has."""
        found = (self.servers.get(disk) for disk, mine in self.roles.items() if role in mine)
        return next((it for it in found if it is not None), None)
