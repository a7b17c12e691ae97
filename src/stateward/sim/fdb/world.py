"""A world with a Kubernetes, FoundationDB in its pods, and operators that know nothing of all this.

Who writes an operator gives ``operate`` a way to put one together from its :class:`Surroundings`;
it is run, may crash, and is put together anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from typing import Final

from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.fdb.admin.pod_agent import PodAgents
from stateward.fdb.admin.ports import Databases
from stateward.fdb.api.kind import CLUSTER_KIND, CLUSTERS, PROCESS_GROUP_KIND, PROCESS_GROUPS
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.model.names import FIELD_MANAGER, MAIN_CONTAINER
from stateward.kube.client import Client
from stateward.kube.codec import Json, decode_json, encode
from stateward.kube.crd.kind import crd
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, DEPLOYMENTS, PODS
from stateward.local.api import Api
from stateward.local.catalog import REPLICA_SETS
from stateward.local.controllers.workloads import replica_sets
from stateward.local.controllers.workloads.deployments import controller as deployments
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.schema.served import served_api
from stateward.runtime.telling.metrics import Metrics
from stateward.sim.fdb.agents import SimAgents
from stateward.sim.fdb.backups.agents import AgentPods, is_agent
from stateward.sim.fdb.backups.shelf import Shelf
from stateward.sim.fdb.backups.wire import SimBackups, Wire
from stateward.sim.fdb.databases import SimDatabases
from stateward.sim.fdb.naming import Names
from stateward.sim.fdb.pods import FdbPods, fits
from stateward.sim.fdb.programs import Ground
from stateward.sim.fdb.reading import StoreLookup
from stateward.sim.fdb.realm import Process, Realm, Volume
from stateward.sim.kube.desk import DirectDesk
from stateward.sim.kube.lodgers import Launch, Lodger, Node, Program, both
from stateward.sim.kube.machines import Machines
from stateward.sim.kube.nodes import Nodes
from stateward.sim.kube.spreading import crowding
from stateward.sim.kube.volumes import Volumes
from stateward.sim.world import Assemble, Line, Operator, Result, Slot, World, simulate

_USER: Final = Author("user")
#: What Deployments are made of.
_WORKLOADS: Final = (PODS, DEPLOYMENTS, REPLICA_SETS)
#: With which code a process ends that somebody killed.
_KILLED: Final = -1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that an operator process has: how it reaches Kubernetes, databases and sidecars."""

    client: Client
    ports: Ports
    #: No other process ever had this name.
    identity: str
    databases: Databases
    agents: PodAgents
    metrics: Metrics
    #: How it reaches databases for backups; None: nobody in this world has any.
    backups: BackupDatabases | None = None


#: Puts an operator together; a supervisor is one.
Assembly = Callable[[Surroundings], Operator]


class FdbWorld:
    """One world; ``world`` is its Kubernetes and its operators, ``realm`` its databases.

    Several can lie beside each other, each a data center with a Kubernetes and operators of its
    own: they share the realm, and so the database that is in all of them.
    """

    def __init__(
        self,
        world: World,
        *,
        nodes: int = 6,
        zones: int = 3,
        beside: FdbWorld | None = None,
        backs_up: bool = False,
    ) -> None:
        self.world = world
        world.manager = FIELD_MANAGER
        loop, api, chance = world.loop, world.api, world.chance.stream("fdb")
        #: All that lie beside each other, itself included.
        self.sites: list[FdbWorld] = beside.sites if beside is not None else []
        self.sites.append(self)
        self.realm: Realm = (
            beside.realm if beside else Realm(world.clock, chance.stream("databases"))
        )
        self.names: Names = beside.names if beside else Names(self.realm)
        self.names.follow(api)
        self.volumes: Volumes[Volume] = Volumes(loop, api, chance.stream("volumes"), Volume)
        self.pods = FdbPods(loop, api, self.realm, self.volumes, chance.stream("pods"))
        #: Where backups lie; None: nobody in this world has any.
        self.shelf: Shelf | None = None
        self._agents: AgentPods | None = None
        if backs_up:
            self._begin_to_back_up(chance)
        places = [Node(f"node-{n}", f"zone-{n % zones}") for n in range(nodes)]
        self.nodes = Nodes(
            loop, api, chance.stream("nodes"), self._run, nodes=places, main=MAIN_CONTAINER
        )
        self.nodes.network = len(self.sites) - 1
        self.nodes.crowding = lambda pod, node: crowding(
            api, self.nodes.lodgers.values(), pod, node
        )
        self.nodes.fits = lambda pod, node: fits(self.pods.volume(pod), pod, node)
        self.machines = Machines(loop, api, places)
        self.nodes.on_heard = self.machines.heard
        self.pods.is_lost = self._is_lost
        #: Pods that no operator reaches, and how many wishes there are for that; "": all pods.
        self.unreachable: Counter[str] = Counter()
        #: What every operator that ever ran counted of itself.
        self.metrics: list[Metrics] = beside.metrics if beside is not None else []
        #: True when what befell took data that nobody else has: only a person can help then.
        self.hopeless = False
        #: What scripts remember of this world.
        self.notes: dict[str, str] = beside.notes if beside is not None else {}
        #: The places of its operators.
        self.operators: list[Slot] = []

    # ------------------------------------------------------------------ operators

    def operate(self, assembly: Assembly, count: int = 1) -> list[Slot]:
        """Run some more operators, whatever happens to them."""
        found = [
            self.world.run_operator(f"op{number}", self.operator(assembly))
            for number in range(len(self.operators), len(self.operators) + count)
        ]
        self.operators += found
        return found

    def operator(self, assembly: Assembly) -> Assemble:
        """Return how a process of an operator is put together in this world."""
        return partial(self._operator, assembly)

    def crash(self, slot: Slot, rest: float | None = None) -> None:
        """Kill an operator process; the next one starts after so many seconds, or by chance."""
        if slot.process is not None:
            slot.process.crash(rest=rest)

    def surroundings(self, line: Line, ports: Ports, identity: str) -> Surroundings:
        """Return what an operator process has."""
        self.metrics.append(Metrics(ports.clock))
        databases = SimDatabases(self.realm, line.network, ports.clock, self._is_cut)
        agents = SimAgents(self.pods, line.network, self._is_cut)
        return Surroundings(
            line.client,
            ports,
            identity,
            databases,
            agents,
            self.metrics[-1],
            self._backups(line, ports),
        )

    def _backups(self, line: Line, ports: Ports) -> SimBackups | None:
        if self.shelf is None:
            return None
        return SimBackups(Wire(self.realm, line.network, ports.clock, self._is_cut, self.shelf))

    def _operator(self, assembly: Assembly, line: Line, ports: Ports, identity: str) -> Operator:
        return assembly(self.surroundings(line, ports, identity))

    # ------------------------------------------------------------------ backups

    def _begin_to_back_up(self, chance: Chance) -> None:
        """Have Deployments looked after, and agents of backups run in their pods."""
        world, loop = self.world, self.world.loop
        self.shelf = Shelf(lambda: world.weather.acting)
        ground, lookup = Ground(loop, self.realm), StoreLookup(world.api)
        self._agents = AgentPods(ground, self.shelf, lookup, chance.stream("agents"))
        desk = DirectDesk(loop, world.api, Ports(world.clock, chance.stream("desk")), _WORKLOADS)
        replica_sets.employ(desk)
        deployments.employ(desk)

    def _run(self, launch: Launch) -> Program | str:
        """Start what runs in a pod."""
        if self._agents is not None and is_agent(launch.pod):
            return self._agents.run(launch)
        return self.pods.run(launch)

    # ------------------------------------------------------------------ looking

    def process(self, pod: ObjectKey, number: int = 1) -> Process | None:
        """Return a process of a pod, if it runs; the first is 1."""
        program = self.pods.program(pod)
        children = list(program.children.values()) if program is not None else []
        return children[number - 1].process if number <= len(children) else None

    # ------------------------------------------------------------------ what befalls

    def kill_process(self, pod: ObjectKey, number: int = 1) -> None:
        """Kill a process of a pod; its keeper starts it again."""
        process = self.process(pod, number)
        if process is None:
            raise UsageError(f"process {number} of {pod} must run to be killed")
        self.realm.end(process, _KILLED)

    def kill_container(self, pod: ObjectKey, why: str = "Error") -> None:
        """Kill the main container of a pod, and all processes with it."""
        self.nodes.kill(self._lodger(pod), why)

    def delete_pod(self, pod: ObjectKey, *, force: bool = False) -> None:
        """Delete a pod as a user does."""
        self.world.api.delete(PODS, pod, DeleteOptions(grace_seconds=0 if force else None))

    def stick(self, pod: ObjectKey, seconds: float = inf) -> None:
        """Let a pod not end for a while, once it is deleted."""
        self._lodger(pod).stuck_until = self.world.loop.time() + seconds

    def lose_node(self, name: str, *, dark: bool = False) -> None:
        """Cut a node off from Kubernetes; dark: what runs there ends."""
        self.nodes.lose(name, dark=dark)

    def find_node(self, name: str) -> None:
        """Bring a node back."""
        self.nodes.find(name)

    def node_of(self, pod: ObjectKey) -> str:
        """Return the node that a pod is on."""
        return self._lodger(pod).node.name

    def _lodger(self, pod: ObjectKey) -> Lodger:
        found = self.nodes.lodger(pod)
        if found is None:
            raise UsageError(f"{pod} must be on a node")
        return found

    def _crowding(self, pod: Json, node: Node) -> int:
        return crowding(self.world.api, self.nodes.lodgers.values(), pod, node)

    def _is_lost(self, uid: str) -> bool:
        lodger = self.nodes.lodgers.get(uid)
        return lodger is not None and lodger.node.lost

    def _is_cut(self, address: str) -> bool:
        cut = {name for name, wishes in self.unreachable.items() if wishes}
        if not cut:
            return False
        lodgers = self.nodes.lodgers.values()
        if "" in cut:
            return True
        return any(address in both(it.address) and it.key.name in cut for it in lodgers)


def served(ports: Ports) -> Api:
    """Return a Kubernetes with every rule, and our kinds."""
    api = served_api(ports)
    for it in _definitions():
        api.create(CUSTOM_RESOURCES, "", decode_json(it), _USER)
    return api


@cache
def _definitions() -> tuple[bytes, ...]:
    """Return our kinds as texts: to make them from their types takes long, and every world asks."""
    return tuple(encode(crd(it)) for it in (CLUSTER_KIND, PROCESS_GROUP_KIND))


def simulated(
    scenario: Callable[[FdbWorld], Awaitable[None]],
    *,
    seed: int,
    serve: Callable[[Ports], Api] = Api,
) -> Result:
    """Run a scenario in a world of its own; an error tells the seed and what happened last."""

    async def lived(world: World) -> None:
        await scenario(FdbWorld(world))

    return simulate(lived, seed=seed, custom=(CLUSTERS, PROCESS_GROUPS), serve=serve)
