"""All scripts of FoundationDB clusters, by name: each step is done, and its end is awaited."""

from __future__ import annotations

from typing import Final

from stateward.sim.fdb.scripts import (
    everyday,
    halls,
    maintaining,
    sharing,
    sidecars,
    tls,
    topologies,
    upgrades,
)
from stateward.sim.fdb.scripts.kit import Script

SCENARIOS: Final[dict[str, Script]] = {
    **everyday.SCENARIOS,
    **halls.SCENARIOS,
    **maintaining.SCENARIOS,
    **sharing.SCENARIOS,
    **topologies.SCENARIOS,
    **tls.SCENARIOS,
    **sidecars.SCENARIOS,
    **upgrades.SCENARIOS,
}
