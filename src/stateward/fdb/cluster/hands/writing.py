"""What must change of an object so that it is as wanted; what others put there stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.fdb.cluster.whereabouts import has_cluster_file
from stateward.fdb.model.names import CLUSTER_FILE_KEY, CLUSTER_UID_LABEL
from stateward.kube.codec import Json, plain
from stateward.kube.meta import ObjectMeta
from stateward.kube.objects.configs import ConfigMap


def difference(live: ConfigMap, wanted: Json) -> Json | None:
    """Return a merge patch for a config map, bound to the version that was seen; None: no need.

    Its data is ours alone, so keys that are not wanted go. How the database of this very cluster is
    found is never forgotten, though: it may be the only place that says so.
    """
    data: dict[str, Any] = dict(wanted.get("data") or {})
    uid = wanted["metadata"]["labels"][CLUSTER_UID_LABEL]
    if not data.get(CLUSTER_FILE_KEY) and has_cluster_file(live, uid):
        data[CLUSTER_FILE_KEY] = live.data[CLUSTER_FILE_KEY]
    changed = {key: it for key, it in data.items() if live.data.get(key) != it}
    changed |= dict.fromkeys(live.data.keys() - data.keys())
    metadata = metadata_difference(live.metadata, wanted["metadata"])
    if (owners := _owners(live.metadata, wanted["metadata"])) is not None:
        metadata["ownerReferences"] = owners
    if not changed and not metadata:
        return None
    patch: Json = {"metadata": {**exactly(live.metadata), **metadata}}
    return {**patch, "data": changed} if changed else patch


def exactly(live: ObjectMeta) -> Json:
    """Return what binds a patch to the very version that was seen."""
    return {"uid": live.uid, "resourceVersion": live.resource_version}


def metadata_difference(live: ObjectMeta, wanted: Mapping[str, Any]) -> Json:
    """Return labels and annotations that are wanted and not there."""
    found: Json = {}
    for field, has in (("labels", live.labels), ("annotations", live.annotations)):
        wants = wanted.get(field) or {}
        if lacks := {key: it for key, it in wants.items() if has.get(key) != it}:
            found[field] = lacks
    return found


def _owners(live: ObjectMeta, wanted: Mapping[str, Any]) -> list[Json] | None:
    """Return all owners once a config map is tied to its cluster, or is not; None: it is as wanted.

    Who else owns it goes on doing so.
    """
    owners: list[Json] = wanted.get("ownerReferences") or []
    cluster = wanted["labels"][CLUSTER_UID_LABEL]
    if any(it.uid == cluster for it in live.owner_references) == bool(owners):
        return None
    return [plain(it) for it in live.owner_references if it.uid != cluster] + owners
