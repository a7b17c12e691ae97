"""What we ask of a database and do to it, in small parts: nobody is given more than it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from stateward.core.version import Version
from stateward.fdb.admin.answers import ExclusionList, Stage
from stateward.fdb.admin.keys import Keys
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.status.maintenance import Maintenance
from stateward.fdb.status.reading import Status
from stateward.kube.meta import ObjectKey


class StatusReader(Protocol):
    """Who knows how a database is."""

    async def status(self) -> Status:
        """Return what it says of itself; raise only when nobody could even ask."""


class Configurer(Protocol):
    """Who makes a database, and makes it another."""

    async def create(self, configuration: Configuration) -> None:
        """Make it; raise DatabaseRefused (EXISTS) when it is there."""

    async def configure(self, configuration: Configuration) -> None:
        """Have it be so from now on."""


class Excluder(Protocol):
    """Who lets data leave processes, and come back to them."""

    async def exclude(self, targets: Sequence[Exclusion]) -> Mapping[Exclusion, Stage]:
        """Have data leave; return how far that is. To be asked again until nothing is left."""

    async def include(self, targets: Sequence[Exclusion]) -> None:
        """Let them have data again."""

    async def exclusions(self) -> ExclusionList:
        """Return who is excluded."""


class CoordinatorChanger(Protocol):
    """Who says where a database is found."""

    async def change_coordinators(self, addresses: Sequence[Address]) -> ConnectionString:
        """Have others coordinate; return how the database is found from now on."""

    async def connection_string(self) -> ConnectionString:
        """Return how it is found, as far as whoever asked it last was told."""


class Killer(Protocol):
    """Who restarts processes."""

    async def kill(self, addresses: Sequence[Address], *, twice: bool = False) -> int:
        """Have processes end, so that they are started again; return how many were told to."""


class Maintainer(Protocol):
    """Who says that a zone may be away."""

    async def begin_maintenance(self, zone: str, seconds: int) -> None:
        """Let processes of a zone be away for a while, with no data moved for it."""

    async def end_maintenance(self) -> None:
        """End that."""

    async def maintenance(self) -> Maintenance | None:
        """Return the zone that may be away, if there is one."""


class Admin(
    StatusReader, Configurer, Excluder, CoordinatorChanger, Killer, Maintainer, Keys, Protocol
):
    """One database with all that can be asked of it."""


class Databases(Protocol):
    """Who reaches databases: by programs of their version, or in memory."""

    def reach(self, cluster: ObjectKey, connection: ConnectionString, version: Version) -> Admin:
        """Return the database of a cluster, found by this from now on; nobody is asked yet."""

    def lacking(self, version: Version) -> str:
        """Return why databases of a version could not be reached; empty: they could."""

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of what was kept for a cluster that is gone."""
