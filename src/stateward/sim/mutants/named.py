"""The bugs that have a number in docs/reliability.md, as far as they can be had with etcd."""

from __future__ import annotations

from typing import Final

from stateward.sim.mutants import members, wishes
from stateward.sim.mutants.planting import Named

NAMED: Final[dict[str, Named]] = {
    it.id: it for it in sorted((*members.BUGS, *wishes.BUGS), key=lambda it: it.id)
}
