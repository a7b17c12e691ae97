"""The etcd operator, assembled: which parts it has and how they are plugged together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from stateward.core.ports import Ports
from stateward.etcd.addresses import AddressBook, ClusterDns
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.caches import INSTANCE, OURS, Caches, indexes
from stateward.etcd.controller import CONTROLLER, EtcdReconciler, Voices
from stateward.etcd.members.port import Dialer
from stateward.etcd.moves.fence import Fence
from stateward.etcd.moves.rescue import Rescue
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import Applier
from stateward.etcd.objects import WHOLE_BUDGETS, WHOLE_CONFIG_MAPS, WHOLE_SERVICES, WORKLOADS
from stateward.etcd.observe import Observer, Sources
from stateward.etcd.secrets import Secrets
from stateward.etcd.tell.metrics import COUNTERS, GAUGES, EtcdMetrics
from stateward.kube.client import Client, Selection
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS, Resource
from stateward.runtime import triggers
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

LEASE = ObjectKey("stateward", "etcd-operator")
COMPONENT = "stateward-etcd"
#: Seconds between two looks at a cluster at rest: etcd tells nobody that it is full, or hangs.
_LOOK_AGAIN = 20.0
#: Seconds between two passes that events ask for: what makes a cluster sends dozens of them a
#: second, and every pass asks all members.
_PACE = 0.25
#: Seconds. All that a pass waits for has a deadline of its own, and a snapshot one for each piece;
#: this is for a whole one, of a large database on a slow disk.
_LONGEST_PASS = 3600.0
#: Every move is told. One member that is replaced takes a dozen, and as many waits between them.
_EVERY_MOVE = Limits(burst=200, refill=15.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdOptions:
    """What the operator is told beside the cluster it works on."""

    dialer: Dialer
    book: AddressBook = field(default_factory=ClusterDns)
    #: The namespaces to work in; none: all of them.
    namespaces: tuple[str, ...] = ()
    #: The labels of clusters to look after; empty: all of them.
    selector: str = ""
    #: Where snapshots go that are taken before a recovery: a folder, or who keeps them.
    rescue: Path | Rescue | None = None
    #: None: this instance acts alone and nobody is asked.
    lease: ObjectKey | None = LEASE


@dataclass(frozen=True, slots=True)
class _Kit:
    """What the parts of one instance share."""

    client: Client
    ports: Ports
    metrics: Metrics
    options: EtcdOptions
    elector: Candidate
    identity: str

    def informer(self, resource: Resource[T], selection: Selection) -> Informer[T]:
        """Return an informer of some objects, found by their cluster."""
        return Informer(
            self.client,
            resource,
            selection,
            ports=self.ports.stream(f"{resource.plural}/{selection.namespace}"),
            meter=self.metrics.informer(_within(selection.namespace, resource.name)),
            indexes=indexes(),
        )

    def queue(self, name: str, namespace: str) -> WorkQueue[ObjectKey]:
        """Return the line of clusters that want a pass."""
        ports = self.ports.stream(f"queue/{namespace}")
        return WorkQueue(ports, self.metrics.queue(name), pace=_PACE)


def assemble(
    client: Client,
    ports: Ports,
    identity: str,
    metrics: Metrics,
    terms: Terms | None = None,
    *,
    options: EtcdOptions,
) -> Supervisor:
    """Return the operator as one process runs it; ``identity`` must be this process's alone."""
    elector = candidate(
        client,
        options.lease,
        identity,
        ports=ports.stream("election"),
        meter=metrics.leader(options.lease.name if options.lease else COMPONENT),
        terms=terms,
    )
    kit = _Kit(client, ports, metrics, options, elector, identity)
    told = EtcdMetrics(metrics.objects(GAUGES, COUNTERS))
    rooms = [_room(kit, namespace, told) for namespace in options.namespaces or ("",)]
    informers = tuple(it for room, _ in rooms for it in room)
    return Supervisor(Parts(informers, tuple(it for _, it in rooms), elector))


def _room(
    kit: _Kit, namespace: str, told: EtcdMetrics
) -> tuple[tuple[Informer[Any], ...], Controller]:
    """Return the informers and the controller of one namespace, or of all."""
    ours = Selection(namespace=namespace, labels=OURS)
    clusters = kit.informer(ETCD_CLUSTERS, Selection(namespace, kit.options.selector))
    pods, claims = kit.informer(PODS, ours), kit.informer(VOLUME_CLAIMS, ours)
    workloads, configs = kit.informer(WORKLOADS, ours), kit.informer(WHOLE_CONFIG_MAPS, ours)
    services, budgets = kit.informer(WHOLE_SERVICES, ours), kit.informer(WHOLE_BUDGETS, ours)
    parts = (pods, claims, workloads, configs, services, budgets)
    fenced = InterceptedClient(kit.client, Fencing(kit.elector.leadership))
    acting = InterceptedClient(fenced, Tracking((clusters, *parts)))
    applier = Applier(acting)
    caches = Caches(
        clusters.cache,
        pods.cache,
        claims.cache,
        workloads.cache,
        configs.cache,
        services.cache,
        budgets.cache,
    )
    sources = Sources(
        caches,
        kit.options.dialer,
        kit.options.book,
        Secrets(kit.client, kit.ports.clock),
        kit.client,
        kit.ports.clock,
        applier.differs,
    )
    tools = Tools(acting, applier, _rescue(kit.options), Fence(kit.elector.leadership))
    reconciler = EtcdReconciler(
        caches, Observer(sources), tools, _voices(kit, fenced, told), kit.ports.clock
    )
    name = _within(namespace, CONTROLLER)
    controller = Controller(
        name,
        reconciler,
        queue=kit.queue(name, namespace),
        sources=(
            Source(clusters, triggers.itself),
            *(Source(it, triggers.label(INSTANCE)) for it in parts),
        ),
        client=kit.client,
        ports=kit.ports.stream(f"controller/{namespace}"),
        meter=kit.metrics.controller(name),
        habits=Habits(probe_every=_LOOK_AGAIN, pass_deadline=_LONGEST_PASS),
    )
    return (clusters, *parts), controller


def _rescue(options: EtcdOptions) -> Rescue:
    return options.rescue if isinstance(options.rescue, Rescue) else Rescue(options.rescue)


def _within(namespace: str, name: str) -> str:
    """Return a name for metrics that tells the parts of different namespaces apart."""
    return f"{namespace}/{name}" if namespace else name


def _voices(kit: _Kit, fenced: Client, told: EtcdMetrics) -> Voices:
    recorder = Recorder(
        fenced,
        kit.ports.clock,
        COMPONENT,
        kit.metrics.events(),
        instance=kit.identity,
        limits=_EVERY_MOVE,
    )
    ears = Ears(Journal(), kit.metrics.steps(CONTROLLER), recorder)
    return Voices(Teller(ears, kit.ports.clock), told)
