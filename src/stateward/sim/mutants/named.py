"""The bugs that have a number in docs/reliability.md, as far as there is what they are about."""

from __future__ import annotations

from typing import Final

from stateward.sim.mutants import members, wishes
from stateward.sim.mutants.fdb import (
    backups,
    leaving,
    locking,
    maintaining,
    places,
    replacing,
    sharing,
    sidecars,
    staying,
    transport,
    upgrading,
)
from stateward.sim.mutants.planting import Named

_BUGS: Final = (
    *members.BUGS,
    *wishes.BUGS,
    *backups.BUGS,
    *leaving.BUGS,
    *locking.BUGS,
    *maintaining.BUGS,
    *places.BUGS,
    *replacing.BUGS,
    *sharing.BUGS,
    *staying.BUGS,
    *transport.BUGS,
    *sidecars.BUGS,
    *upgrading.BUGS,
)
NAMED: Final[dict[str, Named]] = {it.id: it for it in sorted(_BUGS, key=lambda it: it.id)}
