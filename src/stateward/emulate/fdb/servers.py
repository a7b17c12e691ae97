"""Processes of FoundationDB and their disks: who runs, as what, and what stays when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stateward.core.version import Version
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.exclusions import Exclusion

VERSION = Version(7, 3, 79)


@dataclass(slots=True)
class Disk:
    """A data folder: who writes to it keeps this name, and with another folder gets another."""

    process_id: str
    #: Which class somebody gave it with ``setclass``; lost with the folder.
    chosen_class: ProcessClass | None = None
    #: Generations of coordinators whose state it holds.
    coordinates: set[str] = field(default_factory=set)


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
    #: Whether others hear of it; one that nobody hears may well run.
    heard: bool = True
    #: Whether it answers, but slowly, and says so itself.
    degraded: bool = False

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
    def machine(self) -> str:
        """The machine that it is on."""
        return self.localities.get(locality.MACHINE, self.address.host)

    @property
    def zone(self) -> str:
        """What fails together with it."""
        return self.localities.get(locality.ZONE, self.machine)

    def is_meant(self, exclusions: Iterable[Exclusion]) -> bool:
        """Tell whether one of some exclusions means it."""
        localities = {locality.MACHINE: self.machine, locality.ZONE: self.zone, **self.localities}
        return any(it.covers(self.addresses, localities) for it in exclusions)
