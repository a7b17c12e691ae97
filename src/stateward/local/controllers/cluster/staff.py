"""The controllers that look after the cluster itself, all of them."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.local.controllers.cluster import (
    budgets,
    endpoints,
    events,
    evictions,
    namespaces,
    nodes,
    volumes,
)
from stateward.local.controllers.desk import Desk


@dataclass(frozen=True, slots=True)
class Terms:
    """How patient the controllers are, in seconds; a cluster for tests may be less so."""

    #: After so long without a heartbeat a node is lost.
    lost_after: float = 20.0
    #: At most so long a pod stays on a lost node that it tolerates for a while; None: as it says.
    evict_after: float | None = None
    #: After so long without its node a pod is removed.
    orphaned_after: float = 5.0
    #: So many finished pods are kept.
    keep_finished: int = 500
    #: So long events are kept.
    event_ttl: float = 3600.0
    #: The certificate that every namespace gets to know the server by; empty: none.
    ca: str = ""


def employ(desk: Desk, resources: namespaces.Resources, terms: Terms | None = None) -> None:
    """Employ all but the scheduler; ``resources`` says what is served, to empty namespaces."""
    terms = terms or Terms()
    volumes.employ(desk)
    endpoints.employ(desk)
    budgets.employ(desk)
    nodes.employ(desk, lost_after=terms.lost_after)
    evictions.employ(
        desk,
        evict_after=terms.evict_after,
        orphaned_after=terms.orphaned_after,
        keep_finished=terms.keep_finished,
    )
    namespaces.employ(desk, resources, ca=terms.ca)
    events.employ(desk, ttl=terms.event_ttl)
