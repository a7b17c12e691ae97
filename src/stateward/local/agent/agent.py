"""The agent: virtual nodes on this machine, whose pods are groups of local processes.

Everything goes through the client port, so it serves a Kubernetes in memory and over HTTP alike.
When it stops, nothing of its pods runs any more; what a crashed one left behind, the next one ends.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from stateward.core.chance import Chance
from stateward.core.errors import StatewardError, UsageError
from stateward.core.ports import Ports
from stateward.kube.client import Client, LogOptions
from stateward.kube.errors import BadRequest, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import PODS
from stateward.local.agent import orphans
from stateward.local.agent.actions import Actions, LocalNetwork, Network
from stateward.local.agent.addresses import Addresses
from stateward.local.agent.dispatch import Dispatcher
from stateward.local.agent.environment import inherited
from stateward.local.agent.faults import Faults
from stateward.local.agent.files import logs
from stateward.local.agent.files.volumes import Folders, Volumes
from stateward.local.agent.images import Images
from stateward.local.agent.life.backoff import Backoff
from stateward.local.agent.life.pods import PodLife
from stateward.local.agent.life.status import Waiting
from stateward.local.agent.life.tools import Tools, given_up
from stateward.local.agent.nodes import Node, NodeKeeper, NodeSpec
from stateward.local.agent.orphans import Records
from stateward.local.agent.processes import LocalRunner, Runner
from stateward.local.agent.references import References
from stateward.local.agent.tokens import Issuer, Tokens
from stateward.local.documents import loosely
from stateward.runtime.informer import Informer
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import EventType, ObjectReference, Recorder

R = TypeVar("R")

#: In whose name events are told: people look for them under this one.
_NAME = "kubelet"
#: The file in its folder that remembers the addresses of pods.
ADDRESSES = "addresses.json"
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


async def in_a_thread(work: Callable[[], R], /) -> R:
    """Do slow work without holding up the event loop."""
    return await asyncio.to_thread(work)


@dataclass(frozen=True, slots=True)
class Means:
    """What an agent does its work with; a test brings its own."""

    backoff: Backoff = field(default_factory=Backoff)
    #: Variables that every program gets beside its own.
    env: Mapping[str, str] = field(default_factory=dict)
    #: Seconds that processes get to end when the agent stops.
    stop_grace: float = 2.0
    runner: Callable[[str, Records], Runner] = LocalRunner
    network: Callable[[], Network] = LocalNetwork
    aside: logs.Aside = in_a_thread
    metrics: Metrics | None = None
    #: Who gives out tokens of service accounts, where there is somebody.
    issuer: Issuer | None = None


class Agent:
    """Some virtual nodes and the pods on them."""

    def __init__(
        self,
        client: Client,
        ports: Ports,
        *,
        nodes: Sequence[NodeSpec],
        root: Path,
        images: Images,
        means: Means | None = None,
    ) -> None:
        self._means = means = means or Means()
        self._clock = ports.clock
        self._cluster, self._records = _own_folder(root, ports.chance)
        self._network = means.network()
        metrics = means.metrics or Metrics(ports.clock)
        self._addresses = addresses = Addresses(self._cluster, root / ADDRESSES)
        self._nodes = {it.name: Node(it, addresses.take(f"node/{it.name}")) for it in nodes}
        self._references = References(client, ports, metrics.informer)
        told = metrics.events()
        self._voice = _Voice(lambda it: Recorder(client, ports.clock, _NAME, told, instance=it))
        self._tools = tools = self._made_tools(client, ports, images, Folders(root))
        self._pods = Informer(
            client,
            loosely(PODS),
            ports=ports.stream("agent/pods"),
            meter=metrics.informer("agent/pods"),
        )
        pods = self._pods.cache
        self._dispatcher = Dispatcher(self._nodes, addresses, tools, lambda: pods)
        self._keeper = NodeKeeper(client, ports.clock, self._nodes.values())
        self._log = structlog.get_logger("agent")
        #: Trouble on demand.
        self.faults = Faults(self._dispatcher, self._keeper, self._nodes, tools)
        self._pods.listen(self._dispatcher.hear)
        self._references.listen(self._dispatcher.hear_namespace)
        self._references.listen_for_ends(self._drop_volume)
        if means.issuer is not None:
            self._references.tokens = Tokens(
                means.issuer,
                ports.stream("agent/tokens"),
                beside=self._voice.beside,
                hear=self._dispatcher.hear_namespace,
            )

    def _made_tools(self, client: Client, ports: Ports, images: Images, folders: Folders) -> Tools:
        runner = self._means.runner(self._cluster, self._records)
        return Tools(
            client=client,
            ports=ports,
            runner=runner,
            actions=Actions(self._network, runner, ports.clock),
            images=images,
            volumes=Volumes(folders, self._references),
            folders=folders,
            lookup=self._references,
            tell=self._voice.tell,
            aside=self._means.aside,
            backoff=self._means.backoff,
            host_env={**inherited(os.environ), **self._means.env},
        )

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its nodes."""
        return tuple(self._nodes.values())

    def address_of(self, pod: ObjectKey) -> str:
        """Return the address that a pod has, or will have once it exists, today and later.

        The one exception: a pod that takes the place of another on a lost node, which runs on with
        its address, gets one of its own.
        """
        return self._addresses.of(str(pod))

    async def run(self, stop: asyncio.Event) -> None:
        """Run pods until asked to stop; then end every process and see that none is left."""
        hit = await orphans.sweep(self._cluster, self._records, self._clock)
        if hit:
            self._log.warning("ended processes that an earlier agent left behind", pids=hit)
        parts = [asyncio.create_task(it) for it in (self._work(), _wait_for(stop))]
        try:
            done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
            for part in done:
                part.result()
        finally:
            await given_up(parts)
            await self._dispatcher.halt(self._means.stop_grace)
            await self._voice.close()
            left = await orphans.sweep(self._cluster, self._records, self._clock)
            if left:
                self._log.warning("processes had left their groups and were killed", pids=left)
            if isinstance(self._network, LocalNetwork):
                await self._network.close()

    async def log(self, key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the log of one container."""
        life = self._dispatcher.find(key)
        if life is None:
            raise NotFound(f'pods "{key.name}" has no log: it runs on no node of this agent')
        log = _log_of(life, options)
        pieces = logs.read(log, options, self._clock.now(), self._tools.aside)
        async with aclosing(pieces) as text:
            async for piece in text:
                yield piece

    def _drop_volume(self, name: str) -> None:
        async def drop() -> None:
            await self._tools.aside(partial(self._tools.volumes.remove_persistent, name))

        self._voice.beside(drop())

    async def _work(self) -> None:
        await self._register()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keeper.run())
            group.create_task(self._references.run())
            await self._references.synced()
            group.create_task(self._pods.run())
            await self._pods.synced.wait()
            living = {pod.metadata.uid for pod in self._pods.cache}
            for uid in self._tools.volumes.left_behind(living):
                await self._tools.aside(partial(self._tools.volumes.remove, uid))

    async def _register(self) -> None:
        while True:
            try:
                await self._keeper.register()
            except StatewardError as error:
                self._log.warning("nodes not registered", error=error.sentence())
                await self._clock.sleep(0.5)
            else:
                return


class _Voice:
    """Tells events, and does other small things, without making anybody wait."""

    def __init__(self, recorder: Callable[[str], Recorder]) -> None:
        self._made = recorder
        self._recorders: dict[str, Recorder] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, pod: ObjectMeta, node: str, kind: EventType, reason: str, message: str) -> None:
        """Tell something about a pod in the name of its node."""
        if node not in self._recorders:
            self._recorders[node] = self._made(node)
        about = ObjectReference.of(PODS, pod)
        self.beside(self._recorders[node].tell(about, kind, reason, message))

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give up what is not told yet."""
        await given_up(self._tasks)


def _own_folder(root: Path, chance: Chance) -> tuple[str, Records]:
    """Return the name of the cluster and the list of its processes, both kept in its folder."""
    try:
        return orphans.owned(root, chance.stream("cluster"))
    except OSError as error:
        raise UsageError(
            f"the folder {root} must be one we may write to: {error}",
            hint="choose another folder, or make room on its disk",
        ) from error


def _log_of(life: PodLife, options: LogOptions) -> logs.LogFile:
    pod, names = life.metadata, list(life.containers)
    mains = [name for name in names if not life.is_init(name)]
    usual = pod.annotations.get(_DEFAULT_CONTAINER, mains[0] if len(mains) == 1 else "")
    name = options.container or usual
    if not name:
        raise BadRequest(
            f"a container name must be specified for pod {pod.name}, choose one of:"
            f" [{' '.join(names)}]"
        )
    if name not in life.containers:
        raise BadRequest(f"container {name} is not valid for pod {pod.name}")
    container = life.containers[name]
    found = container.logs.previous if options.previous else container.logs.last
    if found is not None:
        return found
    if options.previous:
        raise BadRequest(f'previous terminated container "{name}" in pod "{pod.name}" not found')
    state = container.view.state
    why = state.reason if isinstance(state, Waiting) else "ContainerCreating"
    raise BadRequest(f'container "{name}" in pod "{pod.name}" is waiting to start: {why}')


async def _wait_for(stop: asyncio.Event) -> None:
    await stop.wait()
