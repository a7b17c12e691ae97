"""A world with a Kubernetes, an etcd in its pods, and operators that know nothing of all this."""

from __future__ import annotations

from contextvars import Context
from functools import partial

from stateward.core.ports import Ports
from stateward.emulate.etcd.member import EmulatedDialer
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import Disk
from stateward.emulate.etcd.universe import Universe
from stateward.etcd.model.names import FIELD_MANAGER
from stateward.etcd.operator import LEASE, EtcdOptions, assemble
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    PODS,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
)
from stateward.local.catalog import CONTROLLER_REVISIONS, REPLICA_SETS
from stateward.local.controllers.cluster import budgets
from stateward.local.controllers.workloads.stateful import controller as stateful
from stateward.runtime.telling.metrics import Metrics
from stateward.sim.etcd import happenings, versions
from stateward.sim.etcd.errands import Shelf
from stateward.sim.etcd.pods import EtcdPods
from stateward.sim.etcd.wire import Wiring
from stateward.sim.faults import Fault, Kind
from stateward.sim.kube.desk import DirectDesk
from stateward.sim.kube.nodes import Nodes
from stateward.sim.kube.volumes import Volumes
from stateward.sim.world import Line, Operator, Slot, World

_WATCHED = (
    *(PODS, STATEFUL_SETS, VOLUME_CLAIMS, CONTROLLER_REVISIONS, DISRUPTION_BUDGETS),
    *(DEPLOYMENTS, REPLICA_SETS),
)
#: What operators are called that act without asking for the lease.
TWIN = "twin"


class EtcdWorld:
    """One world; ``world`` is its Kubernetes and its operators, ``universe`` its etcd."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.manager = FIELD_MANAGER
        loop, chance = world.loop, world.chance.stream("etcd")
        self.universe = Universe(world.clock, chance)
        self.volumes: Volumes[Disk] = Volumes(loop, world.api, chance.stream("volumes"), Disk)
        self.pods = EtcdPods(loop, world.api, self.universe, self.volumes)
        self.nodes = Nodes(loop, world.api, chance.stream("nodes"), self.pods.run)
        #: Pods that no operator reaches, and how many wishes there are for that; "": all pods.
        self.unreachable: dict[str, int] = {}
        #: Pods that others do not reach, in the same way.
        self.apart: dict[str, int] = {}
        #: Since when etcds of somebody else are where pods of ours were, by their addresses.
        self.strangers: dict[str, float] = {}
        #: Since when somebody else's claims have names that ours would have.
        self.foreign_claims: dict[ObjectKey, float] = {}
        #: Pods that something strikes which never ends.
        self.lasting: set[str] = set()
        #: True when what befell took the data of a majority: only a person can help then.
        self.hopeless = False
        #: Whether a majority lost its data, by whomever.
        self.lost = False
        #: What every operator that ever ran counted of itself.
        self.metrics: list[Metrics] = []
        #: What scripts remember of this world.
        self.notes: dict[str, str] = {}
        self.pods.on_launch = self._keep_apart
        self._operators = 0
        self._twins = 0
        desk = DirectDesk(loop, world.api, Ports(world.clock, chance.stream("desk")), _WATCHED)
        stateful.employ(desk)
        budgets.employ(desk)
        world.befall = self._befall

    @property
    def troubled(self) -> int:
        """How many of the things that went wrong still go on."""
        return self.world.troubled

    def operate(self, count: int = 1) -> None:
        """Run some more operators."""
        for number in range(self._operators, self._operators + count):
            self.world.run_operator(f"op{number}", partial(self._operator, lease=LEASE))
        self._operators += count

    def server(self, key: ObjectKey) -> Server | None:
        """Return the etcd that runs in a pod."""
        lodger = self.nodes.lodger(key)
        return self.universe.at(lodger.address) if lodger is not None else None

    def _operator(
        self, line: Line, ports: Ports, identity: str, *, lease: ObjectKey | None
    ) -> Operator:
        dialer = Wiring(EmulatedDialer(self.universe), line.network, self._is_cut)
        options = EtcdOptions(dialer=dialer, rescue=Shelf(), lease=lease)
        self.metrics.append(Metrics(ports.clock))
        return assemble(line.client, ports, identity, self.metrics[-1], options=options)

    # ------------------------------------------------------------------ what befalls

    def _befall(self, fault: Fault, slot: Slot) -> bool:
        """Let something happen to the world of etcd; return whether it is something of that."""
        match fault.kind:
            case Kind.ACT:
                # On behalf of nobody: what follows from it must not end with an operator.
                Context().run(happenings.happen, self, slot, *fault.details)
            case Kind.UPGRADE:
                Context().run(versions.upgrade, self, fault, slot)
            case Kind.TWO_LEADERS:
                self._twins += 1
                twin = partial(self._operator, lease=None)
                self.world.lend_operator(f"{TWIN}{self._twins}", twin, float(fault.detail(0)))
            case _:
                return False
        return True

    def _is_cut(self, address: str) -> bool:
        if not self.unreachable:
            return False
        names = [it.key.name for it in self.nodes.lodgers.values() if it.address == address]
        return bool(self.unreachable.get("")) or any(it in self.unreachable for it in names)

    def split(self, name: str) -> None:
        """Cut the links between a pod and all others, or mend them, as the wishes are."""
        for one in self._addresses(name):
            for other in self.nodes.lodgers.values():
                parted = name in self.apart or other.key.name in self.apart
                if other.key.name == name:
                    continue
                if parted:
                    self.universe.cut(one, other.address)
                else:
                    self.universe.heal(one, other.address)

    def _keep_apart(self, name: str, address: str) -> None:
        """Cut the links of a pod that starts to those that are apart."""
        for other in self.nodes.lodgers.values():
            if other.key.name != name and (name in self.apart or other.key.name in self.apart):
                self.universe.cut(address, other.address)

    def _addresses(self, name: str) -> list[str]:
        return [it.address for it in self.nodes.lodgers.values() if it.key.name == name]
