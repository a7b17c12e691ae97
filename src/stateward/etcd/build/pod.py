"""The pod of a member: one container, ``etcd``, with what a user lays over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from stateward.core.naming import short_hash
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import CONTAINER, Settings
from stateward.etcd.build.certificates import materials
from stateward.etcd.build.flags import flags
from stateward.etcd.build.overlay import overlaid
from stateward.etcd.build.probes import probes
from stateward.etcd.build.volumes import data_mount, data_volumes
from stateward.etcd.model.names import (
    CLIENT_PORT,
    METRICS_PORT,
    PEER_PORT,
    config_key,
    labels,
)
from stateward.kube.codec import Json
from stateward.kube.resources import PODS

#: Changes when a bundle of authorities does: etcd reads those only as it starts.
TRUST_ANNOTATION: Final = "stateward.dev/trusted-authorities"
#: Whose log kubectl shows, whatever else a user puts into the pod.
_DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
#: Whom etcd runs as, and whose its files are. Namespaces that are held to Pod Security
#: ``restricted`` take no other pods; the official image itself would run as root.
_USER: Final = 65532
_NOBODY: Final = {
    "runAsNonRoot": True,
    "runAsUser": _USER,
    "runAsGroup": _USER,
    "fsGroup": _USER,
    "fsGroupChangePolicy": "OnRootMismatch",
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What a pod depends on beside its cluster's spec."""

    #: How a pod writes its own host and where it listens: the address book's words.
    self_host: str
    listen_host: str
    #: Secret to hash of the authorities in it.
    ca_hashes: Mapping[str, str] = field(default_factory=dict)
    #: How many bytes the smallest volume has; 0: there is none yet.
    smallest_volume: int = 0


def pod_template(cluster: EtcdCluster, settings: Settings, outside: Outside) -> Json:
    """Return what every pod of the cluster is made from.

    Raise PatchError when what the user lays over it is not part of a pod.
    """
    given, mine = cluster.spec.pod_template, labels(cluster.metadata.name)
    annotations = {_DEFAULT_CONTAINER: CONTAINER} | (given.metadata.get("annotations") or {})
    if outside.ca_hashes:
        annotations[TRUST_ANNOTATION] = short_hash(outside.ca_hashes)
    return {
        "metadata": {
            "labels": (given.metadata.get("labels") or {}) | mine,
            "annotations": annotations,
        },
        "spec": overlaid(PODS, own_pod(cluster, _within(settings, outside), outside), given.spec),
    }


def _within(settings: Settings, outside: Outside) -> Settings:
    """Return settings for the volumes that there are: those of the spec may be still to come.

    A database that may grow beyond its volume ends when that is full, and does not start again.
    """
    wanted, there = settings.storage_bytes, outside.smallest_volume
    if wanted is None or not there:
        return settings
    return replace(settings, storage_bytes=min(wanted, there))


def own_pod(cluster: EtcdCluster, settings: Settings, outside: Outside) -> Json:
    """Return the spec of a pod before anything is laid over it."""
    volumes = [*data_volumes(settings), *(it.as_volume() for it in materials(settings))]
    return {
        "containers": [_container(cluster, settings, outside)],
        **({"volumes": volumes} if volumes else {}),
        # Variables like ETCD_PORT would be taken for settings.
        "enableServiceLinks": False,
        # Where nothing is said, a server keeps the account that was there before.
        "serviceAccountName": _account(cluster),
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 30,
        "securityContext": _identity(cluster.spec.pod_template.spec),
        **_spread(cluster),
    }


def _identity(given: Json) -> Json:
    """Return whom etcd runs as; who asks for root would never start where root is forbidden."""
    among = [given, *(given.get("initContainers") or ()), *(given.get("containers") or ())]
    asked = [it.get("securityContext") or {} for it in among if isinstance(it, Mapping)]
    if any(it.get("runAsUser") == 0 and "runAsNonRoot" not in it for it in asked):
        return {name: it for name, it in _NOBODY.items() if name != "runAsNonRoot"}
    return dict(_NOBODY)


def _account(cluster: EtcdCluster) -> str:
    """Return the service account of pods; a user may call it by its older name."""
    given = cluster.spec.pod_template.spec
    return given.get("serviceAccountName") or given.get("serviceAccount") or "default"


def _container(cluster: EtcdCluster, settings: Settings, outside: Outside) -> Json:
    return {
        "name": CONTAINER,
        "image": settings.image,
        "command": ["etcd"],
        "args": list(flags(cluster, settings, outside.self_host, outside.listen_host)),
        "env": [_own("POD_NAME", "metadata.name"), _own("POD_IP", "status.podIP")],
        "envFrom": [{"configMapRef": {"name": config_key(cluster.metadata.key).name}}],
        "ports": [
            _port("peer", PEER_PORT),
            _port("client", CLIENT_PORT),
            _port("metrics", METRICS_PORT),
        ],
        "volumeMounts": [data_mount(settings), *(it.as_mount() for it in materials(settings))],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        # What etcd said last is then found in the pod's status, and so in the cluster's.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **probes(settings.version),
    }


def _own(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _port(name: str, port: int) -> Json:
    return {"name": name, "containerPort": port, "protocol": "TCP"}


def _spread(cluster: EtcdCluster) -> Json:
    """Return the wish that members stand apart; one node for all must still do."""
    mine = {"matchLabels": labels(cluster.metadata.name)}
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": mine}
    return {
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": apart}
                ]
            }
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": mine,
            }
        ],
    }
