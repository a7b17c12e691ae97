"""Trouble on demand: what happens to real nodes and pods, for tests and demonstrations."""

from __future__ import annotations

import signal as signals

from stateward.core.errors import UsageError
from stateward.kube.meta import ObjectKey
from stateward.local.agent.dispatch import Dispatcher
from stateward.local.agent.files.volumes import wipe
from stateward.local.agent.life.containers import ContainerLife
from stateward.local.agent.life.pods import PodLife
from stateward.local.agent.life.tools import Tools
from stateward.local.agent.nodes import Node, NodeKeeper


class Faults:
    """What can be done to the pods and nodes of an agent."""

    def __init__(
        self, dispatcher: Dispatcher, keeper: NodeKeeper, nodes: dict[str, Node], tools: Tools
    ) -> None:
        self._dispatcher = dispatcher
        self._keeper = keeper
        self._nodes = nodes
        self._tools = tools

    def kill(self, pod: ObjectKey, container: str = "", signal: int = signals.SIGKILL) -> None:
        """Send a signal to a container; without a name, to all of the pod."""
        for life in self._containers(pod, container):
            life.signal(signal)

    def pause(self, pod: ObjectKey, container: str = "") -> None:
        """Let a container stand still."""
        self.kill(pod, container, signals.SIGSTOP)

    def resume(self, pod: ObjectKey, container: str = "") -> None:
        """Let a container that stands still go on."""
        self.kill(pod, container, signals.SIGCONT)

    async def wipe_volume(self, pod: ObjectKey, volume: str) -> None:
        """Remove everything in a volume, under the feet of whoever uses it."""
        places = self._life(pod).places
        if volume not in places:
            known = ", ".join(sorted(places)) or "none"
            raise UsageError(f"the pod {pod} must have the volume {volume!r}; it has: {known}")
        place = places[volume]
        await self._tools.aside(lambda: wipe(place))

    async def wipe(self, claim: ObjectKey) -> None:
        """Remove everything in the volume of a claim, whether a pod runs on it or not."""
        place = self._tools.volumes.of_claim(claim)
        await self._tools.aside(lambda: wipe(place))

    def stick(self, pod: ObjectKey) -> None:
        """Let a pod stay Terminating once somebody deletes it."""
        self._life(pod).unstuck.clear()

    def unstick(self, pod: ObjectKey) -> None:
        """Let a pod that stays Terminating go."""
        self._life(pod).unstuck.set()

    def lose_node(self, name: str) -> None:
        """Cut a node off: it hears nothing and tells nothing, and its pods keep running."""
        self._node(name).reachable.clear()

    async def stop_node(self, name: str, grace: float = 1.0) -> None:
        """End the processes of a node and have it say that it is not ready."""
        node = self._node(name)
        node.stopped = True
        await self._dispatcher.halt(grace, node)
        await self._keeper.report(node)

    async def return_node(self, name: str) -> None:
        """Let a node that was lost or stopped work again."""
        node = self._node(name)
        node.stopped = False
        node.reachable.set()
        self._dispatcher.resync(node)
        await self._keeper.report(node)
        await self._keeper.renew(node)

    def _life(self, pod: ObjectKey) -> PodLife:
        life = self._dispatcher.find(pod)
        if life is None:
            raise UsageError(f"the pod {pod} must run on a node of this agent, and does not")
        return life

    def _containers(self, pod: ObjectKey, name: str) -> list[ContainerLife]:
        containers = self._life(pod).containers
        if not name:
            return list(containers.values())
        if name not in containers:
            known = ", ".join(containers)
            raise UsageError(f"the pod {pod} must have the container {name!r}; it has: {known}")
        return [containers[name]]

    def _node(self, name: str) -> Node:
        if name not in self._nodes:
            raise UsageError(
                f"the node {name!r} must be one of this agent: {', '.join(self._nodes)}"
            )
        return self._nodes[name]
