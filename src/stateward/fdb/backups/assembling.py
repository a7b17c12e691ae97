"""The controllers of backups and restores, put together for one namespace, or for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from stateward.core.ports import Ports
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.backups import caches as waking
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.caches import BackupCaches, Everywhere
from stateward.fdb.backups.cleaning.chores import CONTROLLER as CHORES
from stateward.fdb.backups.cleaning.chores import ChoreReconciler, Chores
from stateward.fdb.backups.cleaning.expiring import Expiring
from stateward.fdb.backups.controller import CONTROLLER, BackupReconciler
from stateward.fdb.backups.drills.seen import DrillEyes
from stateward.fdb.backups.observe import BackupEyes
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.backups.restores.controller import CONTROLLER as RESTORING
from stateward.fdb.backups.restores.controller import RestoreReconciler
from stateward.fdb.backups.restores.seen import RestoreEyes
from stateward.fdb.backups.telling import Voice
from stateward.fdb.backups.whereabouts import Places
from stateward.fdb.build.backup_agents import WHOLE_DEPLOYMENTS
from stateward.fdb.cluster.hands.fence import PatientFence
from stateward.fdb.model.names import OURS
from stateward.fdb.tell.metrics import Series
from stateward.kube.client import Client, Selection
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource
from stateward.kube.selector import LabelSelector
from stateward.runtime import triggers
from stateward.runtime.cache import Index
from stateward.runtime.controller import Controller, Habits, Reconciler, Source
from stateward.runtime.election import Candidate
from stateward.runtime.fencing import Fencing
from stateward.runtime.informer import Informer
from stateward.runtime.queue import WorkQueue
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.teller import Teller
from stateward.runtime.tracking import Tracking

T = TypeVar("T", bound=Object)

#: Seconds between two looks at a backup, or a restore, at rest: a database tells nobody.
_LOOK_AGAIN: Final = 30.0
#: Seconds between two passes that events ask for.
_PACE: Final = 0.5
_LONGEST_PASS: Final = 600.0
#: Seconds that files may take to be deleted; what is left then is deleted in another pass.
_LONGEST_CHORE: Final = 3600.0
_CHORES_AT_ONCE: Final = 4
#: Objects looked at at once: who waits for a database that does not answer keeps nobody waiting.
_WORKERS: Final = 32


class Kit(Protocol):
    """What the parts of one instance share."""

    @property
    def client(self) -> Client:
        """Kubernetes."""

    @property
    def ports(self) -> Ports:
        """Time and chance."""

    @property
    def metrics(self) -> Metrics:
        """Who counts."""

    @property
    def elector(self) -> Candidate:
        """Who knows whether we lead."""

    @property
    def backup_series(self) -> Series:
        """What is shown of backups."""

    def informer(
        self, resource: Resource[T], selection: Selection, *indexes: Index[Any]
    ) -> Informer[T]:
        """Return an informer of some objects."""

    def queue(self, name: str, pace: float) -> WorkQueue[ObjectKey]:
        """Return a line of objects that want a pass."""

    def teller(self, controller: str, client: Client) -> Teller:
        """Return who tells what a controller does."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Where backups and restores are looked after, and what is there already."""

    namespace: str
    clusters: Informer[Any]
    ours: LabelSelector
    databases: BackupDatabases
    everywhere: Everywhere


@dataclass(frozen=True, slots=True)
class _Watched:
    backups: Informer[Any]
    restores: Informer[Any]
    deployments: Informer[Any]

    def all(self) -> tuple[Informer[Any], ...]:
        return self.backups, self.restores, self.deployments


@dataclass(frozen=True, slots=True)
class _Bench:
    """What the controllers share."""

    kit: Kit
    around: Neighbourhood
    watched: _Watched
    caches: BackupCaches
    places: Places
    acting: Acting

    def controller(
        self,
        name: str,
        reconciler: Reconciler,
        queue: WorkQueue[ObjectKey],
        sources: tuple[Source, ...],
        habits: Habits,
    ) -> Controller:
        return Controller(
            self.within(name),
            reconciler,
            queue=queue,
            sources=sources,
            client=self.kit.client,
            ports=self.kit.ports.stream(f"controller/{self.within(name)}"),
            meter=self.kit.metrics.controller(self.within(name)),
            habits=habits,
        )

    def within(self, name: str) -> str:
        """Return a name for metrics that tells the parts of different namespaces apart."""
        namespace = self.around.namespace
        return f"{namespace}/{name}" if namespace else name

    def queue(self, name: str) -> WorkQueue[ObjectKey]:
        return self.kit.queue(self.within(name), _PACE)

    def voice(self, name: str) -> Voice:
        return Voice(self.kit.teller(name, self.acting.client), self.kit.ports.clock)


def backup_parts(
    kit: Kit, around: Neighbourhood
) -> tuple[tuple[Informer[Any], ...], tuple[Controller, ...]]:
    """Return the informers and the controllers of one namespace, or of all."""
    bench = _bench(kit, around)
    chores = Chores(around.everywhere.deleting)
    backups, line = bench.queue(CONTROLLER), bench.queue(CHORES)
    chores.served_by(line.add, backups.add)
    parts = (
        _backup_controller(bench, chores, backups),
        _restore_controller(bench, chores),
        _chore_controller(bench, chores, line),
    )
    return bench.watched.all(), parts


def _bench(kit: Kit, around: Neighbourhood) -> _Bench:
    where = Selection(around.namespace)
    watched = _Watched(
        kit.informer(BACKUPS, where, waking.backups_by_cluster()),
        kit.informer(RESTORES, where, waking.restores_by_cluster()),
        kit.informer(WHOLE_DEPLOYMENTS, Selection(around.namespace, OURS)),
    )
    for it in watched.all():
        it.needed = False  # clusters go on where kinds, or rights, of this version are not there
    clusters = around.clusters
    leading = InterceptedClient(kit.client, Fencing(kit.elector.leadership))
    client = InterceptedClient(leading, Tracking((*watched.all(), clusters)))
    around.everywhere.clusters.append(clusters)
    around.everywhere.backups.append(watched.backups)
    around.everywhere.restores.append(watched.restores)
    caches = BackupCaches(
        watched.backups.cache,
        watched.restores.cache,
        clusters.cache,
        watched.deployments.cache,
        everywhere=around.everywhere,
    )
    places = Places(clusters.cache, client, around.ours)
    acting = Acting(client, PatientFence(kit.elector.leadership))
    return _Bench(kit, around, watched, caches, places, acting)


def _backup_controller(bench: _Bench, chores: Chores, queue: WorkQueue[ObjectKey]) -> Controller:
    watched, around = bench.watched, bench.around
    eyes = BackupEyes(
        bench.caches,
        bench.places,
        around.databases,
        bench.kit.ports.clock,
        lambda: watched.deployments.unseen,
        DrillEyes(bench.acting.client, bench.caches, bench.places, bench.kit.ports.clock),
    )
    reconciler = BackupReconciler(
        eyes, bench.acting, chores, bench.voice(CONTROLLER), series=bench.kit.backup_series
    )
    sources = (
        Source(watched.backups, triggers.itself),
        Source(watched.backups, waking.neighbours(bench.caches)),
        Source(around.clusters, waking.backups_of_cluster(bench.caches)),
        Source(watched.deployments, triggers.owner(BACKUPS)),
        # What a drill made: its steps follow what becomes of them.
        *(
            Source(it, triggers.owner(BACKUPS))
            for it in (watched.backups, watched.restores, around.clusters)
        ),
    )
    habits = Habits(_WORKERS, _LOOK_AGAIN, _LONGEST_PASS)
    return bench.controller(CONTROLLER, reconciler, queue, sources, habits)


def _restore_controller(bench: _Bench, chores: Chores) -> Controller:
    watched, around = bench.watched, bench.around
    clock = bench.kit.ports.clock
    eyes = RestoreEyes(bench.caches, bench.places, around.databases, clock, chores.empties)
    reconciler = RestoreReconciler(eyes, bench.acting, bench.voice(RESTORING))
    sources = (
        Source(watched.restores, triggers.itself),
        Source(around.clusters, waking.restores_of_cluster(bench.caches)),
        Source(watched.backups, waking.restores_beside(bench.caches)),
    )
    habits = Habits(_WORKERS, _LOOK_AGAIN, _LONGEST_PASS)
    return bench.controller(RESTORING, reconciler, bench.queue(RESTORING), sources, habits)


def _chore_controller(bench: _Bench, chores: Chores, line: WorkQueue[ObjectKey]) -> Controller:
    leadership = bench.kit.elector.leadership
    databases = bench.around.databases
    client, clock = bench.acting.client, bench.kit.ports.clock
    caches = bench.caches
    expiring = Expiring(client, databases, leadership, clock, caches=caches)
    reconciler = ChoreReconciler(chores, expiring, client, databases, leadership, caches=caches)
    sources = (Source(bench.watched.backups, triggers.itself),)
    habits = Habits(_CHORES_AT_ONCE, _LONGEST_CHORE, _LONGEST_CHORE)
    return bench.controller(CHORES, reconciler, line, sources, habits)
