"""L0: where a goal is out of reach until a person answers: by what is true, and by what is told.

Only where both agree nothing is asked of an operator: one that gives up without need is found out.
"""

from __future__ import annotations

from typing import Final

from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.names import CLUSTER_UID_LABEL
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.local.store import Stored
from stateward.sim.fdb.world import FdbWorld

_ASKED: Final = "VolumesLeft"


def is_dead_end(it: FdbWorld) -> bool:
    """Tell whether a cluster asks what becomes of volumes of before, and there are such volumes."""
    return any(
        _is_asked(one) and _has_volumes_of_before(site, one)
        for site in it.sites
        for one in site.world.api.store.all(CLUSTERS.name)
    )


def _is_asked(cluster: Stored) -> bool:
    blockers = (cluster.document().get("status") or {}).get("blockers") or ()
    return any(one["guard"] == _ASKED for one in blockers)


def _has_volumes_of_before(it: FdbWorld, cluster: Stored) -> bool:
    labels = (one.labels for one in it.world.api.store.all(VOLUME_CLAIMS.name))
    return any(one.get(CLUSTER_UID_LABEL, cluster.uid) != cluster.uid for one in labels)
