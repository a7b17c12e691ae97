"""The bugs that have a number in docs/reliability.md, as far as there is what they are about."""

from __future__ import annotations

from typing import Final

from stateward.sim.mutants import members, wishes
from stateward.sim.mutants.fdb import leaving, staying, upgrading
from stateward.sim.mutants.planting import Named

NAMED: Final[dict[str, Named]] = {
    it.id: it
    for it in sorted(
        (*members.BUGS, *wishes.BUGS, *leaving.BUGS, *staying.BUGS, *upgrading.BUGS),
        key=lambda it: it.id,
    )
}
