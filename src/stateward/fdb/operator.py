"""The FoundationDB operator, assembled: which parts it has and how they are plugged together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from stateward.core.ports import Ports
from stateward.fdb.admin.pod_agent import PodAgent
from stateward.fdb.admin.ports import Databases
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.backups.assembling import Neighbourhood, backup_parts
from stateward.fdb.backups.caches import Everywhere
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.build.detection import NOBODY, WHOLE_CRON_JOBS, Detector
from stateward.fdb.cluster.believing import Own
from stateward.fdb.cluster.controller import CONTROLLER, ClusterReconciler
from stateward.fdb.cluster.grounds import Grounds
from stateward.fdb.cluster.hands.fence import Fence
from stateward.fdb.cluster.hands.locked import Locks
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.listening import Listening
from stateward.fdb.cluster.observe import Observer, Sources
from stateward.fdb.cluster.papers import Archive
from stateward.fdb.cluster.plans import Plans
from stateward.fdb.decide.operators.agreeing import WINDOW
from stateward.fdb.groups import caches as groups_caches
from stateward.fdb.groups.board import Board, Listener
from stateward.fdb.groups.caches import GroupCaches, by_cluster, by_instance
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.observe import Eyes
from stateward.fdb.groups.reconciler import CONTROLLER as GROUPS
from stateward.fdb.groups.reconciler import GroupReconciler, Hands
from stateward.fdb.model.names import INSTANCE_LABEL, OURS
from stateward.fdb.tell.backups.metrics import GAUGES as BACKUP_GAUGES
from stateward.fdb.tell.metrics import GAUGES, Series
from stateward.kube.client import Client, Selection
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import CONFIG_MAPS, PODS, SERVICES, VOLUME_CLAIMS, Resource
from stateward.kube.selector import LabelSelector
from stateward.runtime import triggers
from stateward.runtime.cache import Index
from stateward.runtime.controller import Controller, Habits, Source
from stateward.runtime.election import Candidate, Terms, candidate
from stateward.runtime.fencing import Fencing
from stateward.runtime.informer import Informer
from stateward.runtime.queue import WorkQueue
from stateward.runtime.supervisor import Parts, Supervisor
from stateward.runtime.telling.journal import Journal
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import Limits, Recorder
from stateward.runtime.telling.teller import Ears, Teller
from stateward.runtime.tracking import Tracking

T = TypeVar("T", bound=Object)

LEASE: Final = ObjectKey("stateward", "fdb-operator")
COMPONENT: Final = "stateward-fdb"
#: Seconds between two looks at a cluster at rest: a database tells nobody that it lost somebody.
_LOOK_AGAIN: Final = 20.0
#: Seconds between two looks at a process group at rest.
_GROUP_AGAIN: Final = 60.0
#: Seconds between two passes that events ask for: a cluster that is made sends hundreds of them,
#: and every pass asks the database.
_PACE: Final = 0.5
_GROUP_PACE: Final = 0.1
#: Seconds. A command of fdbcli has a deadline of its own; a pass makes few of them.
_LONGEST_PASS: Final = 600.0
#: A command of fdbcli may take its time, so a lease leaves it some.
TERMS: Final = Terms(duration=30.0, renew_deadline=15.0, retry_every=3.0)
_EVERY_STEP: Final = Limits(burst=200, refill=15.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FdbOptions:
    """What the operator is told beside the cluster it works on."""

    databases: Databases
    #: Reaches the sidecar of a pod of a split image.
    agents: Callable[[Pod], PodAgent]
    #: By which the controller of process groups writes, so that servers can tell the two apart;
    #: None: by the same as the cluster's.
    groups_client: Client | None = None
    #: The namespaces to work in; none: all of them.
    namespaces: tuple[str, ...] = ()
    #: The labels of clusters to look after; empty: all of them.
    selector: str = ""
    #: Whether names of pods lead to them; not so where there is no DNS.
    names_resolve: bool = True
    #: Whether it has a certificate of its own, to ask databases and sidecars that speak TLS.
    certified: bool = True
    #: Reads that certificate, to see whether it is believed; None: nobody can look at it.
    own: Own | None = None
    #: Its own image and account, for jobs that look for missing processes.
    detector: Detector = NOBODY
    #: Reaches databases for backups and restores; None: these are not looked after.
    backups: BackupDatabases | None = None
    #: Seconds for which operators of one database must have said nothing new before they act.
    window: float = WINDOW
    #: None: this instance acts alone and nobody is asked.
    lease: ObjectKey | None = LEASE


@dataclass(frozen=True, slots=True)
class _Kit:
    """What the parts of one instance share."""

    client: Client
    ports: Ports
    metrics: Metrics
    options: FdbOptions
    elector: Candidate
    identity: str
    board: Board
    #: What is shown of clusters.
    series: Series
    #: And of backups.
    backup_series: Series
    #: What backups of all namespaces share.
    everywhere: Everywhere

    def informer(
        self, resource: Resource[T], selection: Selection, *indexes: Index[Any]
    ) -> Informer[T]:
        """Return an informer of some objects."""
        return Informer(
            self.client,
            resource,
            selection,
            ports=self.ports.stream(f"{resource.plural}/{selection.namespace}"),
            meter=self.metrics.informer(_within(selection.namespace, resource.name)),
            indexes=indexes,
        )

    def queue(self, name: str, pace: float) -> WorkQueue[ObjectKey]:
        """Return a line of objects that want a pass."""
        return WorkQueue(self.ports.stream(f"queue/{name}"), self.metrics.queue(name), pace=pace)

    def teller(self, controller: str, client: Client) -> Teller:
        """Return who tells what a controller does."""
        recorder = Recorder(
            client,
            self.ports.clock,
            COMPONENT,
            self.metrics.events(),
            instance=self.identity,
            limits=_EVERY_STEP,
        )
        ears = Ears(Journal(), self.metrics.steps(controller), recorder)
        return Teller(ears, self.ports.clock)


def assemble(
    client: Client,
    ports: Ports,
    identity: str,
    metrics: Metrics,
    terms: Terms | None = None,
    *,
    options: FdbOptions,
) -> Supervisor:
    """Return the operator as one process runs it; ``identity`` must be this process's alone."""
    elector = candidate(
        client,
        options.lease,
        identity,
        ports=ports.stream("election"),
        meter=metrics.leader(options.lease.name if options.lease else COMPONENT),
        terms=terms or TERMS,
    )
    series = metrics.objects(GAUGES)
    backups = metrics.objects(BACKUP_GAUGES)
    shared = series, backups, Everywhere()
    kit = _Kit(client, ports, metrics, options, elector, identity, Board(), *shared)
    rooms = [_room(kit, namespace) for namespace in options.namespaces or ("",)]
    informers = tuple(it for room, _ in rooms for it in room)
    return Supervisor(Parts(informers, tuple(it for _, some in rooms for it in some), elector))


@dataclass(frozen=True, slots=True)
class _Informers:
    """All that is watched in one namespace, or in all."""

    clusters: Informer[Any]
    groups: Informer[Any]
    pods: Informer[Any]
    claims: Informer[Any]
    services: Informer[Any]
    configs: Informer[Any]
    jobs: Informer[Any]

    def all(self) -> tuple[Informer[Any], ...]:
        """Return every one."""
        return (
            self.clusters, self.groups, self.pods, self.claims, self.services, self.configs,
            self.jobs,
        )  # fmt: skip

    def caches(self) -> GroupCaches:
        """Return what they keep in mind."""
        return GroupCaches(
            groups=self.groups.cache,
            clusters=self.clusters.cache,
            pods=self.pods.cache,
            claims=self.claims.cache,
            services=self.services.cache,
            configs=self.configs.cache,
        )


def _room(kit: _Kit, namespace: str) -> tuple[tuple[Informer[Any], ...], tuple[Controller, ...]]:
    """Return the informers and the controllers of one namespace, or of all."""
    ours = Selection(namespace=namespace, labels=OURS)
    watched = _Informers(
        kit.informer(CLUSTERS, Selection(namespace, kit.options.selector)),
        kit.informer(PROCESS_GROUPS, Selection(namespace), by_cluster()),
        kit.informer(PODS, ours),
        kit.informer(VOLUME_CLAIMS, ours, by_instance()),
        kit.informer(SERVICES, ours),
        kit.informer(CONFIG_MAPS, ours),
        kit.informer(WHOLE_CRON_JOBS, ours),
    )
    watched.jobs.needed = False  # roles of before know no jobs, and clusters can do without
    acting, making = (
        InterceptedClient(
            InterceptedClient(it, Fencing(kit.elector.leadership)), Tracking(watched.all())
        )
        for it in (kit.client, kit.options.groups_client or kit.client)
    )
    mine = LabelSelector.parse(kit.options.selector)
    eyes = Eyes(watched.caches(), kit.board, Memo(), kit.ports.clock, ours=mine)
    room = _Room(kit, namespace, watched, acting, making, eyes)
    clusters = (_cluster_controller(room), _groups_controller(room))
    if kit.options.backups is None:
        return watched.all(), clusters
    around = Neighbourhood(namespace, watched.clusters, mine, kit.options.backups, kit.everywhere)
    informers, others = backup_parts(kit, around)
    return (*watched.all(), *informers), (*clusters, *others)


@dataclass(frozen=True, slots=True)
class _Room:
    """What the two controllers of one namespace, or of all, share."""

    kit: _Kit
    namespace: str
    watched: _Informers
    #: How the cluster's controller writes, and how the groups' does.
    acting: Client
    making: Client
    eyes: Eyes


def _cluster_controller(room: _Room) -> Controller:
    kit, watched = room.kit, room.watched
    plans = Plans(names_resolve=kit.options.names_resolve)
    archive = Archive(room.acting, kit.ports.clock, kit.options.own)
    listening = Listening(room.eyes.caches, archive, kit.options.certified)
    sources = Sources(
        room.eyes,
        kit.options.databases,
        plans,
        listening,
        grounds=Grounds(room.acting, kit.ports.clock),
        jobs=watched.jobs.cache,
        jobs_unseen=lambda: watched.jobs.unseen,
    )
    observer = Observer(sources)
    chance = kit.ports.stream("groups").chance
    fence = Fence(kit.elector.leadership, kit.ports.clock)
    tools = Tools(
        room.acting,
        Locks(fence),
        fence,
        chance,
        kit.board,
        detector=kit.options.detector,
        window=kit.options.window,
    )
    teller = kit.teller(CONTROLLER, room.acting)
    reconciler = ClusterReconciler(
        room.eyes.caches, observer, tools, teller, kit.ports.clock, series=kit.series
    )
    name = _within(room.namespace, CONTROLLER)
    by_name = triggers.label(INSTANCE_LABEL)
    parts = (
        watched.groups, watched.pods, watched.claims, watched.services, watched.configs,
        watched.jobs,
    )  # fmt: skip
    return Controller(
        name,
        reconciler,
        queue=kit.queue(name, _PACE),
        sources=(
            Source(watched.clusters, triggers.itself),
            *(Source(it, by_name) for it in parts),
        ),
        client=kit.client,
        ports=kit.ports.stream(f"controller/{name}"),
        meter=kit.metrics.controller(name),
        habits=Habits(probe_every=_LOOK_AGAIN, pass_deadline=_LONGEST_PASS),
    )


def _groups_controller(room: _Room) -> Controller:
    kit, watched = room.kit, room.watched
    hands = Hands(room.making, kit.options.agents)
    teller = kit.teller(GROUPS, room.making)
    reconciler = GroupReconciler(room.eyes, hands, teller, kit.ports.clock)
    name = _within(room.namespace, GROUPS)
    queue = kit.queue(name, _GROUP_PACE)
    kit.board.listen(_waking(queue, room.eyes.caches))
    groups = watched.groups.cache
    return Controller(
        name,
        reconciler,
        queue=queue,
        sources=(
            Source(watched.groups, triggers.itself),
            Source(watched.clusters, groups_caches.nobody),
            Source(watched.pods, groups_caches.same_name),
            Source(watched.services, groups_caches.same_name),
            Source(watched.claims, groups_caches.group_of_claim),
            Source(watched.configs, groups_caches.groups_of_config(groups)),
        ),
        client=kit.client,
        ports=kit.ports.stream(f"controller/{name}"),
        meter=kit.metrics.controller(name),
        habits=Habits(probe_every=_GROUP_AGAIN, pass_deadline=_LONGEST_PASS),
    )


def _waking(queue: WorkQueue[ObjectKey], caches: GroupCaches) -> Listener:
    """Return who wakes groups of which a database said something new."""

    def wake(cluster: ObjectKey, ids: frozenset[str] | None) -> None:
        for it in caches.of_cluster(cluster):
            if ids is None or it.spec.process_group_id in ids:
                queue.add(it.metadata.key)

    return wake


def _within(namespace: str, name: str) -> str:
    """Return a name for metrics that tells the parts of different namespaces apart."""
    return f"{namespace}/{name}" if namespace else name
