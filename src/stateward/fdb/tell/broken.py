"""The status of a cluster that could not be looked at: what was seen last still stands. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stateward.core.outcome import Done, Outcome
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.doing import short
from stateward.kube import conditions
from stateward.kube.meta import Condition


def status_without_look(
    cluster: FoundationDBCluster, said: Sequence[tuple[str, Outcome]], now: float
) -> FoundationDBClusterStatus:
    """Return the status with why nothing is done; the database may well be in good health."""
    why = next((it for _, it in said if not isinstance(it, Done)), None)
    if why is None or isinstance(why, Done):
        return cluster.status
    generation = cluster.metadata.generation
    new = [
        Condition(
            type=type_,
            status="False",
            reason=why.reason,
            message=why.message,
            observed_generation=generation,
        )
        for type_ in ("Ready", "Progressing")
    ]
    return msgspec.structs.replace(
        cluster.status,
        observed_generation=generation,
        doing=short(why.message),
        blockers=blockers(cluster.status.blockers, said, (), now),
        conditions=conditions.merge(cluster.status.conditions, new, now),
    )
