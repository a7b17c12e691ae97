"""When was the last recovery, and may all processes be restarted now?"""

from __future__ import annotations

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.fdb.status.facts import cluster, missing, told
from stateward.fdb.status.reading import Status


def stage(status: Status) -> Fact[str]:
    """Return how far the last recovery has come."""
    state = cluster(status).recovery_state
    name = UNSET if state is UNSET else state.name
    return told(status, name, "cluster.recovery_state.name")


def age(status: Status) -> Fact[float]:
    """Return how many seconds ago the database was recovered last."""
    state = cluster(status).recovery_state
    found = UNSET if state is UNSET else state.seconds_since_last_recovered
    if found is not UNSET and found < 0:
        return Unknown("the last recovery is not over")
    return told(status, found, "cluster.recovery_state.seconds_since_last_recovered")


def old_generations(status: Status) -> Fact[int]:
    """Return how many generations of logs are still needed, the current one with them."""
    state = cluster(status).recovery_state
    found = UNSET if state is UNSET else state.active_generations
    return told(status, found, "cluster.recovery_state.active_generations")


def count(status: Status) -> Fact[int]:
    """Return a number that grows with every recovery."""
    return told(status, cluster(status).generation, "cluster.generation")


def may_restart(status: Status) -> Fact[bool]:
    """Tell whether the database says that all processes could be restarted now."""
    impact = cluster(status).bounce_impact
    if impact is UNSET:
        return missing(status, "cluster.bounce_impact")
    return told(status, impact.can_clean_bounce, "cluster.bounce_impact.can_clean_bounce")
