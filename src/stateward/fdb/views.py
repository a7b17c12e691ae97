"""What is known of a cluster and its process groups in one pass: frozen values, judged by others.

A view is made once, from caches and from one status of the database. Whoever judges looks at it
and at nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final

from stateward.core.version import Version
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.model.transport import Transport
from stateward.fdb.status.processes import Reporting
from stateward.fdb.status.reading import Status
from stateward.kube.meta import ObjectKey

_WELL: Final = frozenset({GroupConditionType.READY})


@dataclass(frozen=True, slots=True)
class PodSeen:
    """The pod of a group, as its cache shows it; times are seconds of Unix."""

    uid: str
    created: float = 0.0
    phase: str = "Running"
    ready: bool = True
    node: str = ""
    ips: tuple[str, ...] = ()
    terminating_since: float | None = None
    #: Somebody looks into it, so nobody deletes it.
    isolated: bool = False
    #: What keeps it from running, by the word of Kubernetes; empty: nothing does.
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class GroupView:
    """One process group: what was decided of it, what it is, and who of it reports."""

    name: str
    uid: str
    id: ProcessGroupID
    servers: int = 1
    #: What is true of it, since when; what is not there is not true.
    conditions: Mapping[GroupConditionType, float] = field(default_factory=dict)
    #: It shall go, since when; its data has left it; it goes with what it holds.
    marked: bool = False
    marked_since: float | None = None
    excluded: bool = False
    skipped: bool = False
    #: Its object is being deleted: its pod goes, then its claim, then its service.
    leaving: bool = False
    pod: PodSeen | None = None
    #: The pod that is to be made anew, by its UID.
    obsolete_pod: str = ""
    has_claim: bool = False
    has_service: bool = False
    #: Hosts that it has or had, the last one first.
    addresses: tuple[str, ...] = ()
    zone: str = ""
    #: Those of its processes that report to the database now.
    processes: tuple[Reporting, ...] = ()
    #: When it was last proved that its data has left it.
    proved_at: float | None = None
    #: Until when the last order counted that its pod shall be made anew; None: there was none.
    ordered_until: float | None = None
    #: When its object was made, and whether one of its processes has ever reported.
    created: float = 0.0
    reported: bool = False

    def reporting(self, processes: tuple[Reporting, ...]) -> GroupView:
        """Return the same with those who report now; others are kept in mind as they are."""
        return GroupView(
            self.name,
            self.uid,
            self.id,
            self.servers,
            self.conditions,
            self.marked,
            self.marked_since,
            self.excluded,
            self.skipped,
            self.leaving,
            self.pod,
            self.obsolete_pod,
            self.has_claim,
            self.has_service,
            self.addresses,
            self.zone,
            processes,
            self.proved_at,
            self.ordered_until,
            self.created,
            self.reported,
        )

    @property
    def process_class(self) -> ProcessClass:
        """What it is for."""
        return self.id.process_class

    @property
    def holds_nothing(self) -> bool:
        """Whether it may go: nothing is left on it, or what is left does not matter."""
        return self.excluded or self.skipped

    def has(self, *kinds: GroupConditionType) -> bool:
        """Tell whether one of some conditions is true of it."""
        return not self.conditions.keys().isdisjoint(kinds)

    def lasts(self, kind: GroupConditionType, now: float) -> float | None:
        """Return for how long a condition has been true; None: it is not."""
        since = self.conditions.get(kind)
        return None if since is None else max(0.0, now - since)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One cluster: what it shall be, what was told of it last, its groups and its database."""

    key: ObjectKey
    generation: int
    #: Normalized: nothing is left to be filled in.
    spec: FoundationDBClusterSpec
    #: What was written last.
    status: FoundationDBClusterStatus
    now: float
    #: What the database said; empty, with the reason among its flaws, when it was not asked.
    database: Status
    groups: tuple[GroupView, ...]
    #: How many pods of each class there shall be; a class that is not there has none.
    counts: Mapping[ProcessClass, int]
    running_version: Version
    connection: ConnectionString | None = None
    #: The database was made once.
    configured: bool = False
    #: How processes shall listen now.
    transport: Transport = field(default_factory=Transport)
    #: Pods are given the programs of another version, for all processes to change to it at once.
    staging: bool = False
    #: Why nobody knows the taints of nodes; empty: somebody does, or they do not matter.
    taints_unknown: str = ""
    #: For how many seconds we have looked at it without a pause.
    watched: float = inf
    #: Groups of which something is true beside that they are ready: what a step looks for.
    unwell: tuple[GroupView, ...] = field(init=False, repr=False, compare=False)
    _staying: tuple[GroupView, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Every step asks for these, and of a thousand groups hardly one is unwell.
        unwell = (it for it in self.groups if it.conditions.keys() - _WELL)
        object.__setattr__(self, "unwell", tuple(unwell))
        object.__setattr__(self, "_staying", tuple(it for it in self.groups if not it.marked))

    def of_class(self, process_class: ProcessClass) -> tuple[GroupView, ...]:
        """Return the groups of a class."""
        return tuple(it for it in self.groups if it.process_class is process_class)

    def staying(self) -> tuple[GroupView, ...]:
        """Return the groups that shall stay."""
        return self._staying

    def named(self, names: Iterable[str]) -> tuple[GroupView, ...]:
        """Return the groups whose objects have these names."""
        wanted = set(names)
        return tuple(it for it in self.groups if it.name in wanted)
