"""Processes of FoundationDB and their disks: who runs, as what, and what stays when it ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from stateward.core.version import Version
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.exclusions import Exclusion

VERSION = Version(7, 3, 79)
#: Bytes of a disk that nobody else fills, and what is left of them.
TOTAL, FREE = 109_405_454_336, 75_102_941_184
#: Seconds behind from which on a storage server says so.
LAGGING: Final = 60.0


@dataclass(slots=True)
class Disk:
    """A data folder: who writes to it keeps this name, and with another folder gets another."""

    process_id: str
    #: Which class somebody gave it with ``setclass``; lost with the folder.
    chosen_class: ProcessClass | None = None
    #: Generations of coordinators whose state it holds, or who follow them.
    coordinates: tuple[str, ...] = ()
    total: int = TOTAL
    free: int = FREE

    def remember(self, *generations: str) -> None:
        """Hold the state of some generations too; in an order, so that it is always kept alike."""
        self.coordinates = tuple(sorted({*self.coordinates, *generations}))


@dataclass(slots=True)
class Server:
    """A process: where it listens, what it was told, and since when it runs."""

    addresses: tuple[Address, ...]
    disk: Disk
    told_class: ProcessClass = ProcessClass.UNSET
    localities: Mapping[str, str] = field(default_factory=dict)
    version: Version = VERSION
    command_line: str = ""
    started: float = 0.0
    #: Whether it answers, but slowly, and says so itself.
    degraded: bool = False
    #: The share of time for which it has something to do.
    busy: float = 0.07
    #: Seconds for which its copies are behind.
    lag: float = 0.0
    #: What it complains of, by name.
    complaints: dict[str, str] = field(default_factory=dict)
    #: Whether its name leads nowhere, though it was told one.
    nameless: bool = False

    @property
    def address(self) -> Address:
        """The first, by which it is called."""
        return self.addresses[0]

    @property
    def process_class(self) -> ProcessClass:
        """What it would rather do."""
        return self.disk.chosen_class or self.told_class

    @property
    def class_source(self) -> str:
        """Who said so."""
        return "set_class" if self.disk.chosen_class else "command_line"

    @property
    def line(self) -> tuple[int, int]:
        """The minor release, whose protocol it speaks."""
        return self.version.major, self.version.minor

    @property
    def machine(self) -> str:
        """The machine that it is on."""
        return self.localities.get(locality.MACHINE) or self.address.host

    @property
    def zone(self) -> str:
        """What fails together with it."""
        return self.localities.get(locality.ZONE) or self.machine

    def listens_at(self, address: Address) -> bool:
        """Tell whether it is the one at an address, which may be a name."""
        name = None if self.nameless else self.localities.get(locality.DNS_NAME)
        return any(
            address.host in (it.host, name) and (it.port, it.tls) == (address.port, address.tls)
            for it in self.addresses
        )

    def is_meant(self, exclusions: Collection[Exclusion]) -> bool:
        """Tell whether one of some exclusions means it."""
        if not exclusions:
            return False
        localities = {locality.MACHINE: self.machine, locality.ZONE: self.zone, **self.localities}
        return any(it.covers(self.addresses, localities) for it in exclusions)
