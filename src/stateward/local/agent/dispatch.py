"""Which pods live here: one life for every pod that is bound to one of our nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

import structlog

from stateward.kube.meta import ObjectKey
from stateward.local.agent.addresses import Addresses
from stateward.local.agent.life.pods import PodLife
from stateward.local.agent.life.tools import Tools, finished, first, given_up
from stateward.local.agent.nodes import Node
from stateward.local.documents import Document
from stateward.runtime.cache import Delta
from stateward.runtime.telling.recorder import EventType

#: Seconds beyond their grace after which lives are given up that do not end.
_STUBBORN = 5.0
#: Seconds after which a life that ended by a bug is begun again.
_AGAIN = 10.0


class Dispatcher:
    """Begins lives and tells them what they need to know."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        addresses: Addresses,
        tools: Tools,
        pods: Callable[[], Iterable[Document]],
    ) -> None:
        self._nodes = nodes
        self._addresses = addresses
        self._tools = tools
        self._pods = pods
        self._lives: dict[str, PodLife] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._log = structlog.get_logger("agent")

    def __len__(self) -> int:
        return len(self._lives)

    def find(self, key: ObjectKey) -> PodLife | None:
        """Return the life of a pod; of two of one name, the younger."""
        found = [life for life in self._lives.values() if life.metadata.key == key]
        return found[-1] if found else None

    def hear(self, delta: Delta[Document]) -> None:
        """Take in what happened to a pod."""
        before, now = delta.before, delta.now
        if before is not None and (now is None or now.metadata.uid != before.metadata.uid):
            self._vanished(before.metadata.uid)
        if now is not None:
            self._seen(now)

    def hear_namespace(self, namespace: str) -> None:
        """Take in that something changed to which pods of a namespace may refer."""
        for life in tuple(self._lives.values()):
            if namespace in {"", life.metadata.namespace}:
                life.poke()

    def resync(self, node: Node) -> None:
        """Catch up with what a node could not hear."""
        there = [pod for pod in self._pods() if pod.spec.get("nodeName") == node.spec.name]
        living = {pod.metadata.uid for pod in there}
        for uid, life in tuple(self._lives.items()):
            if life.node is node and uid not in living:
                life.vanish()
        for pod in there:
            self._seen(pod)

    async def halt(self, seconds: float, node: Node | None = None) -> None:
        """End all processes (of a node) and forget their lives; the pods live on."""
        halted = {u: it for u, it in self._lives.items() if node is None or it.node is node}
        for life in halted.values():
            life.halt(seconds)
        tasks = [self._tasks[uid] for uid in halted]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds + _STUBBORN)
        await given_up(tasks)

    def _vanished(self, uid: str) -> None:
        life = self._lives.get(uid)
        if life is not None and life.node.reachable.is_set():
            life.vanish()

    def _seen(self, pod: Document) -> None:
        uid = pod.metadata.uid
        node = self._nodes.get(pod.spec.get("nodeName", ""))
        if node is None or node.stopped or not node.reachable.is_set():
            return
        if uid in self._lives:
            self._lives[uid].update(pod)
            return
        before = self._before(pod.metadata.key)
        # Taken now: by the time that this life begins, an earlier one may have left the table.
        waited = [self._tasks[it.metadata.uid] for it in before if not _is_lost(it)]
        name = self._name(pod, before)
        life = PodLife(pod, node, self._addresses.take(name), self._tools)
        self._lives[uid] = life
        self._tasks[uid] = asyncio.create_task(self._live(life, name, waited))

    def _before(self, key: ObjectKey) -> list[PodLife]:
        return [life for life in self._lives.values() if life.metadata.key == key]

    def _name(self, pod: Document, before: list[PodLife]) -> str:
        """Return by which name a pod gets its address.

        One of the same name that runs on a lost node cannot be waited for, and keeps its address.
        """
        key = str(pod.metadata.key)
        return f"{key}#{pod.metadata.uid}" if any(_is_lost(it) for it in before) else key

    async def _live(self, life: PodLife, name: str, waited: list[asyncio.Task[None]]) -> None:
        uid, has_failed = life.metadata.uid, False
        try:
            await finished(waited)
            await life.run()
            if not life.is_halted:
                await self._tools.aside(lambda: self._tools.volumes.remove(uid))
        except Exception as error:  # noqa: BLE001 - a bug about one must not disturb the others
            has_failed = True
            await self._rest(life, error)
        finally:
            self._lives.pop(uid, None)
            self._tasks.pop(uid, None)
            self._addresses.release(name)
        if has_failed and not life.is_halted:
            await self._begin_again(uid)

    async def _rest(self, life: PodLife, error: Exception) -> None:
        """Tell people that a life failed, and wait a while, or until the pod has to go."""
        self._log.exception("the life of a pod failed by a bug", pod=str(life.metadata.key))
        message = f"a bug of the agent, which tries again in {_AGAIN:g} s: {error!r}"
        life.say(EventType.WARNING, "FailedSync", message)
        await first(self._tools.clock.sleep(_AGAIN), life.leaving.wait())

    async def _begin_again(self, uid: str) -> None:
        """Begin another life for a pod, if it is still there; what is left of a gone one goes."""
        pod = next((it for it in self._pods() if it.metadata.uid == uid), None)
        if pod is not None:
            self._seen(pod)
        else:
            await self._tools.aside(lambda: self._tools.volumes.remove(uid))


def _is_lost(life: PodLife) -> bool:
    return not life.node.reachable.is_set()
