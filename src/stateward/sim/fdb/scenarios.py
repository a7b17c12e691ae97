"""All scripts of FoundationDB clusters, by name: each step is done, and its end is awaited."""

from __future__ import annotations

from typing import Final

from stateward.sim.fdb.scripts import (
    backups,
    everyday,
    halls,
    maintaining,
    replacing,
    several,
    sharing,
    sidecars,
    tls,
    topologies,
    upgrades,
)
from stateward.sim.fdb.scripts.kit import Script

SCENARIOS: Final[dict[str, Script]] = {
    **backups.SCENARIOS,
    **everyday.SCENARIOS,
    **halls.SCENARIOS,
    **maintaining.SCENARIOS,
    **replacing.SCENARIOS,
    **several.SCENARIOS,
    **sharing.SCENARIOS,
    **topologies.SCENARIOS,
    **tls.SCENARIOS,
    **sidecars.SCENARIOS,
    **upgrades.SCENARIOS,
}

#: Those in which clusters have backups.
BACKED_UP: Final = frozenset(backups.SCENARIOS)
#: The data centers of those that have a Kubernetes and an operator in each.
PLACES: Final[dict[str, tuple[str, ...]]] = several.PLACES
