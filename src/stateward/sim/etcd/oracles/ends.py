"""How a life ended, by roles: nothing that chance, time or a restart names."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.model.names import LEFT_BY
from stateward.etcd.tell.conditions import TYPES
from stateward.kube.codec import Json, encode
from stateward.kube.resources import EVENTS, LEASES, PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.catalog import CONTROLLER_REVISIONS
from stateward.sim.etcd.laws.truth import Truth, ordinal
from stateward.sim.etcd.world import EtcdWorld

#: What says nothing of the end: who wrote what and when, and what past versions there were.
_PASSED_OVER: Final = frozenset({EVENTS.name, LEASES.name, CONTROLLER_REVISIONS.name})
_CHANCE: Final = frozenset(
    {
        *("resourceVersion", "managedFields", "creationTimestamp", "generation", "selfLink"),
        *("lastTransitionTime", "startedAt", "finishedAt", "startTime", "renewTime", "since"),
        *("podIP", "podIPs", "hostIP", "nodeName", "containerID", "restartCount", "lastState"),
        *("controller-revision-hash", "currentRevision", "updateRevision", "collisionCount"),
        *("leader", "role", "clusterID", "clusterId", "id", "revision", "dbSize", "indexLag"),
        *("message", "observedGeneration", "unhealthySince", "disruptedPods", "deletionTimestamp"),
        *("currentReplicas", "updatedReplicas"),
        *("lastDefragmentation", "stateward.dev/applied", LEFT_BY),
    }
)
#: What is tied to its cluster in one of two ways.
_TIED: Final = frozenset({PODS.name, VOLUME_CLAIMS.name})
#: Where a StatefulSet begins that does not say so.
_FIRST: Final = {"start": 0}
#: What this version tells.
_TOLD: Final = frozenset(it.encode_name for it in msgspec.structs.fields(EtcdClusterStatus))
_UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def end_of(it: EtcdWorld) -> dict[str, str]:
    """Return every object that is left, and every etcd cluster, as comparable texts."""
    found: dict[str, str] = {}
    for resource, stored in it.world.api.store:
        if resource not in _PASSED_OVER:
            document = stored.document()
            if resource == ETCD_CLUSTERS.name:
                _forget_strange_words(document)
            elif resource in _TIED:
                _forget_ties(resource, document)
            elif resource == STATEFUL_SETS.name and document["spec"].get("ordinals") == _FIRST:
                del document["spec"]["ordinals"]
            found[f"{resource} {stored.key}"] = _text(_plain(document))
    truth = Truth(it)
    for stored in it.world.api.store.all(ETCD_CLUSTERS.name):
        roster = truth.roster(stored.key)
        members = sorted((ordinal(it), it.learner, it.started) for it in roster.values())
        runs = sorted(pod.key.name for pod, server in truth.lodgers(stored.key) if server)
        found[f"etcd {stored.key}"] = _text({"members": members, "runs": runs})
    return found


def _forget_strange_words(document: Json) -> None:
    """Take out of a status what this version of the operator leaves to whoever wrote it."""
    status = document.get("status") or {}
    for name in status.keys() - _TOLD:
        del status[name]
    if told := status.get("conditions"):
        status["conditions"] = [it for it in told if it["type"] in TYPES]


def _forget_ties(resource: str, document: Json) -> None:
    """Forget how something came to its cluster: there are two ways, and both are fine.

    A pod whose StatefulSet was made anew is tied to the cluster beside, until it restarts. A claim
    is tied by its template, or later by us, who may say that its owner waits for it.
    """
    owners = document["metadata"].get("ownerReferences") or []
    ours = [it for it in owners if it["kind"] == ETCD_CLUSTERS.kind]
    if resource == PODS.name and len(ours) < len(owners):
        document["metadata"]["ownerReferences"] = [it for it in owners if it not in ours]
    elif resource == VOLUME_CLAIMS.name:
        for it in ours:
            it.pop("blockOwnerDeletion", None)


def _plain(value: Any) -> Any:
    """Return a value without what differs between two lives that are alike."""
    match value:
        case dict():
            kept = {name: _plain(it) for name, it in value.items() if name not in _CHANCE}
            return {name: it for name, it in sorted(kept.items()) if it not in ({}, [])}
        case list():
            return [_plain(it) for it in value]
        case str():
            return _UID.sub("*", value)
        case _:
            return value


def _text(document: Json) -> str:
    return encode(document).decode()
