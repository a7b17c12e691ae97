"""What all documents of a cluster are made from: its spec, and what is true of it now."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.version import Version
from stateward.fdb.api.processes import ImageType
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.versions import are_compatible


@dataclass(frozen=True, slots=True)
class Basis:
    """A cluster that documents are made for."""

    name: str
    namespace: str
    uid: str
    #: Normalized: nothing is left to be filled in.
    spec: FoundationDBClusterSpec
    #: What the processes run now.
    running: Version
    #: Where processes listen; both while one takes the place of the other.
    tls: bool
    plain: bool
    #: None: there is no database yet, and so nothing to run.
    connection: ConnectionString | None = None
    #: The database was made: who loses the status must not take it for one that is yet to be.
    made: bool = False
    #: Which certificate sidecars shall show, by class and SHA-256; none: nobody can tell.
    certificates: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not (self.tls or self.plain):
            raise ValueError("processes must listen with TLS, without it, or both")

    @property
    def image_type(self) -> ImageType:
        """Which images pods have."""
        return self.spec.image_type or "unified"

    @property
    def log_group(self) -> str:
        """What traces say."""
        return self.spec.log_group or self.name

    @property
    def main_version(self) -> str:
        """The version of fdbserver's image: the new one only if others understand it.

        Otherwise the sidecar brings the new program, and all processes change to it at once.
        """
        wanted = Version.parse(self.spec.version)
        return self.spec.version if are_compatible(self.running, wanted) else str(self.running)

    @property
    def staged(self) -> str:
        """The version whose programs pods are given, for all to change at once; empty: none."""
        version = self.spec.version
        return "" if are_compatible(self.running, Version.parse(version)) else version

    @property
    def runs_servers(self) -> bool:
        """Whether processes shall run at all."""
        return self.connection is not None and not self.spec.buggify.empty_monitor_conf
