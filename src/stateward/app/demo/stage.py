"""The stage: a local cluster, etcd's operator twice, FoundationDB's once, all over HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from stateward.app import homes, images
from stateward.app.demo.cable import Cable
from stateward.app.demo.picture import Picture
from stateward.app.etcd import available
from stateward.app.etcd.addresses import Loopback
from stateward.app.etcd.available import Found
from stateward.app.etcd.programs import StandIn
from stateward.app.fdb import available as fdb_available
from stateward.app.fdb import releases as fdb_releases
from stateward.app.fdb.available import Emulated
from stateward.app.fdb.available import Found as FdbFound
from stateward.app.fdb.binaries import LocalBinaries, local_binaries
from stateward.app.kinds import definitions
from stateward.core.errors import NotLeader, UsageError
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.members.dialing import Connections
from stateward.etcd.operator import LEASE, EtcdOptions, assemble
from stateward.fdb import operator as fdb
from stateward.fdb.admin.databases import ProgramDatabases
from stateward.fdb.admin.pod_agent.http import HttpAgents
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.admin.session import Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import Client, Selection
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import CUSTOM_RESOURCES, EVENTS, LEASES, NAMESPACES, PODS
from stateward.local.cluster import EmbeddedCluster, Plan, Tell, running
from stateward.runtime.election import Terms
from stateward.runtime.telling.metrics import Metrics

NAMESPACE = "demo"
OPERATORS = ("operator-a", "operator-b")
#: The FoundationDB beside it.
LEDGER = ObjectKey(NAMESPACE, "ledger")

#: Short terms, so that a lost leader is replaced before the eyes of the audience.
_TERMS = Terms(duration=3.0, renew_deadline=2.0, retry_every=0.3)
#: Seconds after which an operator that has ended is started again, as its Deployment would.
_RESTART = 1.0
#: How many of the last events are part of a picture.
_EVENTS = 5
#: How many programs of FoundationDB run at once.
_PROGRAMS = 2


@dataclass(slots=True)
class Stage:
    """The cluster, a client of the audience's own, and the cables of the operators."""

    ports: Ports
    cluster: EmbeddedCluster
    client: Client
    dialer: Connections
    etcd: Found
    #: Which FoundationDB runs, and the programs by which it is talked to.
    fdb: FdbFound | Emulated
    programs: Shared
    cables: dict[str, Cable] = field(default_factory=dict)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def picture(self, key: ObjectKey) -> Picture:
        """Return what there is to see of an EtcdCluster now; raise what ended an operator."""
        for task in self.tasks:
            if task.done():
                task.result()
        api = self.cluster.api
        etcd = api.store.get(ETCD_CLUSTERS.name, key)
        lease = api.store.get(LEASES.name, LEASE)
        told = [EVENTS.read(it.text) for it in api.list(EVENTS, Selection(key.namespace)).items]
        told = [it for it in told if it.involved_object.name == key.name]
        told.sort(key=lambda it: (it.last_timestamp or "", int(it.metadata.resource_version)))
        ledger = api.store.get(CLUSTERS.name, LEDGER)
        return Picture(
            etcd=ETCD_CLUSTERS.read(etcd.text) if etcd else None,
            pods=self._pods(key),
            events=tuple(told[-_EVENTS:]),
            operator=(LEASES.read(lease.text).spec.holder_identity or "") if lease else "",
            fdb=CLUSTERS.read(ledger.text) if ledger else None,
            fdb_pods=self._pods(LEDGER) if ledger else (),
        )

    def _pods(self, key: ObjectKey) -> tuple[Pod, ...]:
        ours = Selection(key.namespace, labels=f"app.kubernetes.io/instance={key.name}")
        pods = [PODS.read(stored.text) for stored in self.cluster.api.list(PODS, ours).items]
        return tuple(sorted(pods, key=lambda it: it.metadata.name))


def the_etcd() -> Found:
    """Return the etcd of this machine to show things with; raise UsageError when there is none."""
    found = available.best(available.available())
    if found is None:
        raise UsageError(
            "there must be an etcd on this machine to show anything",
            hint="`stateward local get-etcd` fetches one, or name one in STATEWARD_ETCD_BIN",
        )
    return found


@asynccontextmanager
async def stage(ports: Ports, etcd: Found, *, tick: Tell, say: Tell) -> AsyncGenerator[Stage, None]:
    """Set the stage, and clear it afterwards: not a process is left."""
    async with AsyncExitStack() as stack:
        root = stack.enter_context(homes.a_home(None))
        plan = Plan(root, images=(await images.known(StandIn.ANY))(root))
        cluster = await stack.enter_async_context(running(plan, ports, tick=tick, say=say))
        access = from_kubeconfig([cluster.kubeconfig], os.environ)
        client = await stack.enter_async_context(_client(access, ports, "you"))
        await _prepare(client)
        dialer = Connections()
        stack.push_async_callback(dialer.close)
        binaries = await stack.enter_async_context(local_binaries())
        programs = Shared(binaries, Turns(_PROGRAMS), ports.clock)
        it = Stage(ports, cluster, client, dialer, etcd, _the_fdb(binaries), programs)
        for name in OPERATORS:
            it.tasks.append(asyncio.create_task(_operate(it, access, name), name=name))
        it.tasks.append(asyncio.create_task(_operate_fdb(it, access), name="operator-fdb"))
        for task in it.tasks:
            stack.push_async_callback(_end, task)
        tick("two instances of the etcd operator, and one of FoundationDB's")
        yield it


def _the_fdb(binaries: LocalBinaries) -> FdbFound | Emulated:
    return fdb_available.choose(Version.parse(fdb_releases.USUAL), binaries.found)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _client(access: ClusterAccess, ports: Ports, name: str) -> HttpClient:
    return HttpClient(access, ports.clock, ports.chance.stream(name), field_manager=name)


async def _prepare(client: Client) -> None:
    """Install our kinds and make the namespaces that the story needs."""
    for definition in definitions().values():
        await client.create(CUSTOM_RESOURCES, definition)
    for name in (NAMESPACE, LEASE.namespace):
        await client.create(NAMESPACES, {"metadata": {"name": name}})


async def _operate(it: Stage, access: ClusterAccess, name: str) -> None:
    """Run an operator; one that lost its lease ends and a fresh one, well connected, stands by."""
    life = 0
    while True:
        life += 1
        me = name if life == 1 else f"{name}-{life}"  # a lease must not be taken for its own
        ports = it.ports.stream(me)
        cable = it.cables[me] = Cable()
        async with _client(access, ports, me) as wire:
            operator = assemble(
                InterceptedClient(wire, cable),
                ports,
                me,
                Metrics(ports.clock),
                _TERMS,
                options=_options(it),
            )
            try:
                await operator.run(asyncio.Event())
            except NotLeader:
                await ports.clock.sleep(_RESTART)


def _options(it: Stage) -> EtcdOptions:
    return EtcdOptions(
        dialer=it.dialer,
        book=Loopback(it.cluster.agent),
        rescue=it.cluster.kubeconfig.parent / "rescue",
    )


async def _operate_fdb(it: Stage, access: ClusterAccess) -> None:
    """Run FoundationDB's operator, alone; nothing of it outlives the stage."""
    ports = it.ports.stream("operator-fdb")
    databases, agents = ProgramDatabases(it.programs), HttpAgents()
    options = fdb.FdbOptions(
        databases=databases, agents=by_pod(agents), names_resolve=False, lease=None
    )
    try:
        async with _client(access, ports, "operator-fdb") as wire:
            metrics = Metrics(ports.clock)
            made = fdb.assemble(wire, ports, "operator-fdb", metrics, options=options)
            await made.run(asyncio.Event())
    finally:
        await agents.close()
        databases.close()
