"""The status of a cluster that could not be looked at: what was seen last still stands. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stateward.core import moments
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.kube import conditions
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import Condition


def status_without_look(
    cluster: FoundationDBCluster, said: Sequence[tuple[str, Outcome]], now: float
) -> FoundationDBClusterStatus:
    """Return the status with why nothing is done; the database may well be in good health."""
    step, why = next((it for it in said if not isinstance(it[1], Done)), ("", None))
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
    former = {(it.step, it.guard): it.since for it in cluster.status.blockers}
    blockers: tuple[Blocker, ...] = ()
    if isinstance(why, Blocked):
        since = former.get((step, why.reason)) or moments.to_rfc3339(now)
        blockers = (
            Blocker(step=step, guard=why.reason, message=why.message, hint=why.hint, since=since),
        )
    return msgspec.structs.replace(
        cluster.status,
        observed_generation=generation,
        doing=why.message[:80],
        blockers=blockers,
        conditions=conditions.merge(cluster.status.conditions, new, now),
    )
