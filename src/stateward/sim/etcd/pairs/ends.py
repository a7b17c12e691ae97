"""What a world has come to, without what chance and history name: two ends can be compared.

An end is a map from a place, as in ``pods/shop-0 spec.containers[etcd].image``, to what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.codec import Json
from stateward.kube.resources import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.local.store import Stored
from stateward.sim.etcd.scenarios import KEY
from stateward.sim.etcd.world import EtcdWorld

End = Mapping[str, str]

_KINDS: Final = (
    ETCD_CLUSTERS,
    STATEFUL_SETS,
    PODS,
    VOLUME_CLAIMS,
    SERVICES,
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
)
#: Names that chance, time or the number of writes gave; they are the same only by chance.
_CHANCE: Final = re.compile(
    r"""
    \.(uid|resourceVersion|generation|observedGeneration|creationTimestamp|managedFields
      |deletionTimestamp|podIP|podIPs|hostIP|nodeName|clusterIP|clusterIPs|nodePort
      |lastTransitionTime|lastHeartbeatTime|lastProbeTime|startedAt|finishedAt|startTime|since
      |unhealthySince|lastDefragmentation|restartCount|lastState|collisionCount|healthCheckNodePort
      |currentRevision|updateRevision|currentReplicas|updatedReplicas
      |volumeName|capacity)(\b|$)
    | \.controller-revision-hash$
    """,
    re.VERBOSE,
)
#: Of our own status: who leads, what etcd calls its members, and how much was written, differ.
_OURS: Final = re.compile(
    r"status\.(clusterId|clusterID|leader|revision|doing|lastKnownMembers|progress)\b"
    r"|status\.members\[[^]]*\]\.(id|role|dbSize|indexLag|message)\b"
    r"|status\.conditions\[[^]]*\]\.message|status\.blockers\[[^]]*\]\.(message|hint)"
)


def end_of(it: EtcdWorld) -> dict[str, str]:
    """Return what a world has come to."""
    found: dict[str, str] = {}
    store = it.world.api.store
    for resource in _KINDS:
        for stored in store.all(resource.name, KEY.namespace):
            if stored.key.name != "kube-root-ca.crt":
                found.update(_object(resource, stored))
    found.update(_etcd(it))
    return found


def _object(resource: Resource[Any], stored: Stored) -> Iterator[tuple[str, str]]:
    """Yield that an object is there, and what it says that is not chance's."""
    place = f"{resource.plural}/{stored.key.name}"
    yield place, "there"
    for path, value in _leaves(stored.document(), ""):
        if _CHANCE.search(path) or path.split(".")[1] in {"apiVersion", "kind"}:
            continue
        if resource is not ETCD_CLUSTERS or not _OURS.search(path):
            yield f"{place} {path[1:]}", value


def _etcd(it: EtcdWorld) -> Iterator[tuple[str, str]]:
    """Yield who belongs to etcd, what each runs, and whether clients must log in."""
    servers = sorted(it.universe.servers, key=lambda server: server.start.name)
    for server in servers:
        where = f"etcd/{server.start.name} "
        yield f"{where}version", ".".join(map(str, server.start.version))
        yield f"{where}votes", str(not server.learner)
        yield f"{where}auth", str(server.state.auth)
        names = sorted(member.name for member in server.state.members.values())
        yield f"{where}members", ",".join(names)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every plain value inside another one; items of lists go by their names."""
    if isinstance(value, dict) and value:
        for name in sorted(value):
            inner = (
                f"{path}.{name}" if re.fullmatch(r"[A-Za-z0-9$_-]+", name) else f"{path}[{name}]"
            )
            yield from _leaves(value[name], inner)
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{_name(item, number)}]")
    else:
        yield path, str(value)


def _name(item: Any, number: int) -> str:
    if isinstance(item, dict):
        for key in ("name", "type", "mountPath", "topologyKey"):
            if isinstance(item.get(key), str):
                return str(item[key])
    return str(number)


def differences(one: End, other: End) -> list[str]:
    """Return where two ends differ, as lines for a reader."""
    places = sorted({*one, *other})
    return [
        f"{place}: {one.get(place, '(nothing)')} != {other.get(place, '(nothing)')}"
        for place in places
        if one.get(place) != other.get(place)
    ]


def without_status(end: End) -> Json:
    """Return an end without what clusters say of themselves, and without what they are asked."""
    prefix = f"{ETCD_CLUSTERS.plural}/"
    return {place: value for place, value in end.items() if not place.startswith(prefix)}
