"""A whole cluster in one process: the API server, the controllers, the nodes and their pods.

Controllers and nodes use the client port in memory; everybody else, kubectl and operators, comes
over HTTP with the kubeconfig that is written here.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from stateward.core.errors import HouseError
from stateward.core.ports import Ports
from stateward.kube.client import Client
from stateward.kube.resources import Resource
from stateward.local.agent.agent import Agent, Means
from stateward.local.agent.images import Images, built_in
from stateward.local.agent.life.backoff import Backoff
from stateward.local.agent.nodes import NodeSpec
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.local.controllers.cluster import staff, volumes
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads import all as workloads
from stateward.local.disk.errors import FolderUnusable
from stateward.local.disk.folder import Folder, Layout
from stateward.local.disk.journal import Journal
from stateward.local.scheduler import scheduler
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.local.server.identity import Identity, identity, kubeconfig_text, write_secret
from stateward.local.store import Store
from stateward.runtime.telling.metrics import Metrics

#: Hears how far things are, or what went wrong.
Tell: TypeAlias = Callable[[str], None]

#: Seconds: a container that fails is started again sooner than on a real node, and never as late.
_BACKOFF = Backoff(first=1.0, limit=60.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a cluster is asked to be."""

    root: Path
    #: Whether objects outlive it.
    durable: bool = False
    nodes: int = 3
    zones: int = 3
    port: int = 0
    images: Images = field(default_factory=built_in)
    terms: staff.Terms = field(default_factory=lambda: staff.Terms(evict_after=30.0))

    def node_specs(self) -> list[NodeSpec]:
        """Return the nodes, dealt out to the zones in turn."""
        return [
            NodeSpec(f"node-{number + 1}", zone=f"zone-{number % self.zones + 1}")
            for number in range(self.nodes)
        ]

    @property
    def summary(self) -> str:
        """The nodes in a few words."""
        if not self.nodes:
            return "no nodes: pods wait"
        return f"{self.nodes} nodes in {min(self.zones, self.nodes)} zones"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that runs, whatever its control plane is."""

    url: str
    kubeconfig: Path
    agent: Agent
    _tasks: tuple[asyncio.Task[None], ...]

    async def until(self, stop: asyncio.Event) -> None:
        """Wait until asked to stop; raise what ended a part of the cluster before."""
        asked = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait((asked, *self._tasks), return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
        for task in done - {asked}:
            task.result()
            raise HouseError(f"{task.get_name()} ended, and must not")


@dataclass(frozen=True, slots=True)
class EmbeddedCluster(Cluster):
    """A cluster whose API is in this process."""

    api: Api


@asynccontextmanager
async def running(
    plan: Plan, ports: Ports, *, tick: Tell, say: Tell
) -> AsyncGenerator[EmbeddedCluster, None]:
    """Run a cluster for the length of a block; then everything that it started is ended."""
    open_many_files()
    async with AsyncExitStack() as stack:
        layout = stack.enter_context(Folder(plan.root)).layout
        _check_kind(layout)
        journal = stack.enter_context(Journal(plan.root, say=say)) if plan.durable else None
        store = journal.store if journal else Store()
        api = served_api(ports.stream("api"), store)
        metrics = Metrics(ports.clock)
        client = MemoryClient(api, field_manager="kubelet")
        agent = agent_of(plan, client, layout, ports, Means(metrics=metrics))
        who = identity(ports.clock.now(), layout.identity)
        server = ApiServer(api, ports.stream("server"), token=who.token, logs=agent.log)
        url = await stack.enter_async_context(server.listening(port=plan.port, tls=who.tls))
        _write_kubeconfig(layout, url, who)
        tick(f"API server at {url}")
        await volumes.ensure_defaults(MemoryClient(api, field_manager="stateward-local"))
        work = {
            "the garbage collector": Collector(api, _served(api)).run(ports.stream("garbage")),
            "the controllers": _desk(plan, api, ports, metrics, who).run(),
        }
        if journal:
            work["the journal"] = journal.sync_regularly(ports.clock)
        tasks = await stack.enter_async_context(at_work(work))
        tick("controllers")
        nodes = await stack.enter_async_context(at_their_posts(agent))
        tick(plan.summary)
        yield EmbeddedCluster(url, layout.kubeconfig, agent, (*tasks, nodes), api)


def _check_kind(layout: Layout) -> None:
    if layout.plane.exists():
        raise FolderUnusable(
            f"{layout.root} must be used with --control-plane real, by which it was made",
            hint="or name another folder with --data",
        )


def open_many_files() -> None:
    """Take as many descriptors as the system lets us: every watch and every process costs some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def agent_of(plan: Plan, client: Client, layout: Layout, ports: Ports, means: Means) -> Agent:
    """Return the agent of a cluster's nodes."""
    return Agent(
        client,
        ports.stream("nodes"),
        nodes=plan.node_specs(),
        root=layout.nodes,
        images=plan.images,
        means=replace(means, backoff=_BACKOFF),
    )


@asynccontextmanager
async def at_work(
    work: Mapping[str, Coroutine[Any, Any, None]],
) -> AsyncGenerator[tuple[asyncio.Task[None], ...], None]:
    """Do things, each with its name, until the end of the block."""
    tasks = tuple(asyncio.create_task(it, name=name) for name, it in work.items())
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def at_their_posts(agent: Agent) -> AsyncGenerator[asyncio.Task[None], None]:
    """Have nodes until the end of the block; then they end their pods.

    What they say about that changes nothing any more.
    """
    stop = asyncio.Event()
    nodes = asyncio.create_task(agent.run(stop), name="the nodes")
    try:
        yield nodes
    finally:
        stop.set()
        await asyncio.gather(nodes, return_exceptions=True)


def _desk(plan: Plan, api: Api, ports: Ports, metrics: Metrics, who: Identity) -> Desk:
    client = MemoryClient(api, field_manager="kube-controller-manager")
    desk = Desk(client, ports.stream("controllers"), metrics)
    workloads.employ(desk)
    scheduler.employ(desk)
    staff.employ(desk, _served(api), replace(plan.terms, ca=who.authority.decode()))
    return desk


def _served(api: Api) -> Callable[[], list[Resource[Any]]]:
    """Return who can say what is served at any moment: custom kinds come and go."""
    return lambda: [kind.resource for kind in api.kinds if kind.storage]


def _write_kubeconfig(layout: Layout, url: str, who: Identity) -> None:
    text = kubeconfig_text(url, who.token, who.authority)
    write_secret(layout.kubeconfig, text.encode())
