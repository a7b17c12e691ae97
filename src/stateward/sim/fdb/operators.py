"""The operator of FoundationDB, as the simulated world runs it; and who acts beside it."""

from __future__ import annotations

from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Final

from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.build.detection import Detector
from stateward.fdb.operator import LEASE, FdbOptions, assemble
from stateward.kube.meta import ObjectKey
from stateward.runtime.supervisor import Supervisor
from stateward.sim.faults import Fault, Kind
from stateward.sim.fdb import versions
from stateward.sim.fdb.acts import happenings
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.fdb.world import FdbWorld, Surroundings

#: What operators are called that act without asking for the lease.
TWIN: Final = "twin"
#: What they know of themselves: jobs are made, and nobody runs them.
_OURSELVES: Final = Detector("stateward:0.1.0", "stateward")


def assembled(around: Surroundings, lease: ObjectKey | None = LEASE) -> Supervisor:
    """Return an operator as one process runs it."""
    options = FdbOptions(
        databases=around.databases,
        agents=by_pod(around.agents),
        detector=_OURSELVES,
        backups=around.backups,
        lease=lease,
    )
    return assemble(around.client, around.ports, around.identity, around.metrics, options=options)


class Befalling:
    """Lets happen to a world of FoundationDB what plans ask for."""

    def __init__(self, it: FdbWorld) -> None:
        self._it = it
        self._twins = 0
        it.world.befall = self._befall

    def _befall(self, fault: Fault, slot: Slot) -> bool:
        """Let something happen; return whether it is something of FoundationDB."""
        match fault.kind:
            case Kind.ACT:
                # On behalf of nobody: what follows from it must not end with an operator.
                Context().run(happenings.happen, self._it, slot, *fault.details)
            case Kind.UPGRADE:
                Context().run(versions.upgrade, self._it, fault, slot)
            case Kind.TWO_LEADERS:
                self._twins += 1
                twin = self._it.operator(partial(assembled, lease=None))
                seconds = float(fault.detail(0))
                self._it.world.lend_operator(f"{TWIN}{self._twins}", twin, seconds)
            case _:
                return False
        return True
