"""What a pass over one cluster looks at: all of it is seen once, before anything is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stateward.fdb.admin.ports import Admin
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.build.detection import WholeCronJob
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.cluster.book import Book
from stateward.fdb.decide.groups.leftovers import Left
from stateward.fdb.decide.groups.replacing import Pair
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.codec import Json
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.network import Service


@dataclass(frozen=True, slots=True)
class Seen:
    """One cluster, its objects, its database, and what is wanted of all of them."""

    cluster: FoundationDBCluster
    view: ClusterView
    #: Objects of its process groups, by name.
    groups: Mapping[str, FoundationDBProcessGroup]
    wanted: Wanted
    #: The names of those that shall stay and are not what they would be made as now.
    outdated: frozenset[str]
    #: The config map as it shall be, and as it is.
    config: Json
    config_map: ConfigMap | None
    #: The service below which pods have names, as it is.
    service: Service | None
    #: Whoever can act on the database; None: there is none yet.
    admin: Admin | None
    #: What earlier clusters of its name left, and what it lost.
    left: Left = field(default_factory=Left)
    #: Objects of process groups of its name that nobody owns, by name.
    ownerless: Mapping[str, FoundationDBProcessGroup] = field(default_factory=dict)
    #: Why the database could not be asked once the version asked for runs; empty: it could.
    program_missing: str = ""
    #: Clusters that were here first, with the same prefix and the same database.
    rivals: tuple[str, ...] = ()
    #: Clusters of the same database that keep their lock elsewhere in it.
    apart: tuple[str, ...] = ()
    #: The job that looks for missing processes, as it is.
    detection_job: WholeCronJob | None = None
    #: Why nobody knows whether there is one; empty: it can be seen.
    jobs_unseen: str = ""
    book: Book = field(default_factory=Book)

    def pairs(self) -> Iterator[Pair]:
        """Return who stays and is not as wanted, each with what it is and what it shall be.

        Whoever has another prefix than wanted is among them: its own shape says nothing of that.
        """
        prefix = self.view.spec.process_group_id_prefix
        for it in self.view.staying():
            if it.name in self.outdated or it.id.prefix != prefix:
                yield it, self.groups[it.name].spec, self.wanted.group(it.id)

    def object_of(self, group: GroupView) -> FoundationDBProcessGroup:
        """Return the object of a process group."""
        return self.groups[group.name]
