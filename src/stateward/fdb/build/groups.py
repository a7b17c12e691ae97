"""Objects of process groups, as a cluster makes them."""

from __future__ import annotations

from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.build.metadata import cluster_owner
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.model.names import EXCLUSION_FINALIZER, FINALIZER, ProcessGroupID, pod_name
from stateward.kube.codec import Json, plain


def group_document(wanted: Wanted, group: ProcessGroupID) -> Json:
    """Return the object of a new group; it is kept until all that it stands for is gone."""
    return {
        "apiVersion": f"{PROCESS_GROUPS.group}/{PROCESS_GROUPS.version}",
        "kind": PROCESS_GROUPS.kind,
        "metadata": {
            "name": pod_name(wanted.name, group),
            "namespace": wanted.namespace,
            "labels": wanted.group_labels(group),
            "finalizers": [FINALIZER, EXCLUSION_FINALIZER],
            "ownerReferences": [cluster_owner(wanted)],
        },
        "spec": plain(wanted.group(group)),
    }
