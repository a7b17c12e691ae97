"""Pods of FoundationDB and their config map, written by hand: what an operator would make."""

from __future__ import annotations

import json
from typing import Any

from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.names import ProcessGroupID
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, VOLUME_CLAIMS
from stateward.local.rules.writes import Author
from stateward.sim.fdb.world import FdbWorld

USER = Author("user")
NAMESPACE, CLUSTER, VERSION = "prod", "shop", "7.3.79"
KEY = ObjectKey(NAMESPACE, CLUSTER)
CONFIG = ObjectKey(NAMESPACE, names.config_map_name(CLUSTER))
GROUPS = (*(f"storage-{n}" for n in range(1, 4)), *(f"log-{n}" for n in range(1, 4)), "stateless-1")
DOUBLE = Configuration()

_LABELS = {"foundationdb.org/fdb-cluster-name": CLUSTER}
_FIELDS = {
    "FDB_POD_NAME": "metadata.name",
    "FDB_POD_NAMESPACE": "metadata.namespace",
    "FDB_PUBLIC_IP": "status.podIP",
    "FDB_POD_IP": "status.podIP",
    "FDB_MACHINE_ID": "spec.nodeName",
    "FDB_ZONE_ID": "spec.nodeName",
}


def key(group: str) -> ObjectKey:
    """Return the pod of a group."""
    return ObjectKey(NAMESPACE, names.pod_name(CLUSTER, ProcessGroupID.parse(group)))


def variable(name: str) -> Json:
    """Return a piece of an argument."""
    return {"type": "Environment", "source": name}


def joined(*parts: str | Json) -> Json:
    """Return an argument of pieces."""
    values = [{"value": it} if isinstance(it, str) else it for it in parts]
    return {"type": "Concatenate", "values": values}


def config(process_class: str, *more: str, run: bool = True, version: str = VERSION) -> str:
    """Return the configuration of a unified image."""
    number = {"type": "ProcessNumber"}
    port = {"type": "ProcessNumber", "multiplier": 2, "offset": 4499}
    arguments: list[Json] = [
        {"value": "--cluster_file=/var/fdb/data/fdb.cluster"},
        {"value": "--seed_cluster_file=/var/dynamic-conf/fdb.cluster"},
        joined("--public_address=", variable("FDB_PUBLIC_IP"), ":", port),
        {"value": f"--class={process_class}"},
        joined("--datadir=/var/fdb/data/", number),
        joined("--locality_process_id=", variable("FDB_INSTANCE_ID"), "-", number),
        joined("--locality_instance_id=", variable("FDB_INSTANCE_ID")),
        joined("--locality_machineid=", variable("FDB_MACHINE_ID")),
        joined("--locality_zoneid=", variable("FDB_ZONE_ID")),
        *({"value": it} for it in more),
    ]
    body = {"version": version, "arguments": arguments}
    return json.dumps(body if run else {**body, "runServers": False})


CONF = """\
[general]
kill_on_configuration_change = false
restart_delay = 60
[fdbserver.1]
command = $BINARY_DIR/fdbserver
cluster_file = /var/fdb/data/fdb.cluster
seed_cluster_file = /var/dynamic-conf/fdb.cluster
public_address = $FDB_PUBLIC_IP:4501
class = storage
datadir = /var/fdb/data
locality_instance_id = $FDB_INSTANCE_ID
locality_zoneid = $FDB_ZONE_ID
"""


def config_map(
    string: str = "", *more: str, run: bool = True, version: str = VERSION
) -> dict[str, str]:
    """Return what is in the config map."""
    found = {"cluster-file": string, "fdbmonitor-conf-storage": CONF if run else ""}
    for it in ("storage", "log", "stateless"):
        found[names.unified_conf_key(ProcessClass(it))] = config(
            it, *more, run=run, version=version
        )
    return found


def write_config(it: FdbWorld, data: dict[str, str]) -> None:
    """Make the config map, or another of it."""
    api = it.world.api
    if api.store.get(CONFIG_MAPS.name, CONFIG) is None:
        body: Json = {"metadata": {"name": CONFIG.name}, "data": data}
        api.create(CONFIG_MAPS, NAMESPACE, body, USER)
    else:
        api.patch(CONFIG_MAPS, CONFIG, MergePatch({"data": data}), USER)


def make_claim(it: FdbWorld, group: str) -> None:
    """Make the claim of a group."""
    body: Json = {
        "metadata": {"name": names.claim_name(key(group).name)},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
        },
    }
    it.world.api.create(VOLUME_CLAIMS, NAMESPACE, body, USER)


def make_pod(it: FdbWorld, group: str, *, processes: int = 1, split: bool = False) -> None:
    """Make the pod of a group."""
    it.world.api.create(PODS, NAMESPACE, pod(group, processes=processes, split=split), USER)


def pod(group: str, *, processes: int = 1, split: bool = False) -> Json:
    """Return the pod of a group."""
    id_ = ProcessGroupID.parse(group)
    has_data = id_.process_class is not ProcessClass.STATELESS
    claim = {"persistentVolumeClaim": {"claimName": names.claim_name(key(group).name)}}
    labels = {**_LABELS, "foundationdb.org/fdb-process-class": str(id_.process_class)}
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    wanted = {"weight": 1, "podAffinityTerm": term}
    away = {"preferredDuringSchedulingIgnoredDuringExecution": [wanted]}
    conf = (
        names.split_conf_key(id_.process_class)
        if split
        else names.unified_conf_key(id_.process_class)
    )
    items = [
        {"key": conf, "path": "fdbmonitor.conf" if split else "config.json"},
        {"key": "cluster-file", "path": "fdb.cluster"},
    ]
    volumes: list[Any] = [
        {"name": "data", **(claim if has_data else {"emptyDir": {}})},
        {"name": "config-map", "configMap": {"name": CONFIG.name, "items": items}},
        {"name": "dynamic-conf", "emptyDir": {}},
    ]
    containers = _split(id_) if split else _unified(id_, processes)
    return {
        "metadata": {"name": key(group).name, "labels": labels},
        "spec": {
            "containers": containers,
            "volumes": volumes,
            "affinity": {"podAntiAffinity": away},
        },
    }


def _env(id_: ProcessGroupID) -> list[Json]:
    fields = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in _FIELDS.items()
    ]
    return [*fields, {"name": "FDB_INSTANCE_ID", "value": str(id_)}]


def _unified(id_: ProcessGroupID, processes: int) -> list[Json]:
    image = f"foundationdb/fdb-kubernetes-monitor:{VERSION}"
    main: Json = {
        "name": names.MAIN_CONTAINER,
        "image": image,
        "args": ["--input-dir", "/var/dynamic-conf", "--process-count", str(processes)],
        "env": _env(id_),
        "volumeMounts": [
            {"name": "data", "mountPath": "/var/fdb/data"},
            {"name": "config-map", "mountPath": "/var/dynamic-conf"},
        ],
    }
    words = ["--mode", "sidecar", "--main-container-version", VERSION]
    return [main, {"name": names.SIDECAR_CONTAINER, "image": image, "args": words}]


def _split(id_: ProcessGroupID) -> list[Json]:
    dynamic = {"name": "dynamic-conf", "mountPath": "/var/dynamic-conf"}
    main: Json = {
        "name": names.MAIN_CONTAINER,
        "image": f"foundationdb/foundationdb:{VERSION}",
        "volumeMounts": [{"name": "data", "mountPath": "/var/fdb/data"}, dynamic],
    }
    sidecar: Json = {
        "name": names.SIDECAR_CONTAINER,
        "image": f"foundationdb/foundationdb-kubernetes-sidecar:{VERSION}-1",
        "args": [
            *("--copy-file", "fdb.cluster", "--input-monitor-conf", "fdbmonitor.conf"),
            *("--main-container-version", VERSION),
        ],
        "env": _env(id_),
        "volumeMounts": [
            {"name": "config-map", "mountPath": "/var/input-files"},
            {"name": "dynamic-conf", "mountPath": "/var/output-files"},
        ],
    }
    return [main, sidecar]
