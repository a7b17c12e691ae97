"""The config map of a cluster: where its pods find the cluster file and what to run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.processes import ImageType
from stateward.fdb.api.spec import ConfigMapTemplate
from stateward.fdb.build.basis import Basis
from stateward.fdb.build.metadata import Said, cluster_owner, digest, head, resource_labels
from stateward.fdb.build.servers import monitor_conf, unified
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS


def config_map(wanted: Basis, classes: Iterable[tuple[ProcessClass, int, ImageType]]) -> Json:
    """Return the config map with a text for each class in use: its processes a pod, its images."""
    given = wanted.spec.config_map or ConfigMapTemplate()
    labels = resource_labels(wanted) | {names.CLUSTER_UID_LABEL: wanted.uid}
    said = Said.by(given.metadata).under(labels)
    name = names.config_map_name(wanted.name)
    # It stays with the volumes: without it nobody would know how their database is found.
    owners = [cluster_owner(wanted)] if wanted.spec.deletion_policy == "Delete" else []
    found = head(CONFIG_MAPS, wanted.namespace, name, said, owners)
    found["data"] = _others(given.data) | _own(wanted, set(classes))
    if binary := _others(given.binary_data):
        found["binaryData"] = binary
    return found


def conf_key(group: FoundationDBProcessGroupSpec) -> str:
    """Return under which key the monitor of a group finds its configuration."""
    process_class = ProcessClass(group.process_class)
    return _key(process_class, group.servers_per_pod, group.image_type)


def conf_text(data: Mapping[str, str], group: FoundationDBProcessGroupSpec) -> str | None:
    """Return the configuration of a group's monitor; None: the config map has none."""
    return data.get(conf_key(group))


def files_hash(data: Mapping[str, str], group: FoundationDBProcessGroupSpec) -> str:
    """Return what a pod of split images carries if its sidecar has copied all files."""
    # The same text names another program once another version is staged.
    keys = (
        *(names.CLUSTER_FILE_KEY, names.CA_FILE_KEY, names.STAGED_VERSION_KEY),
        conf_key(group),
    )
    return digest({key: data[key] for key in keys if key in data})


def _others(given: Mapping[str, str]) -> dict[str, str]:
    """Texts of the user; one under a key of ours is not used."""
    return {key: text for key, text in given.items() if not names.is_own_key(key)}


def _own(basis: Basis, classes: set[tuple[ProcessClass, int, ImageType]]) -> dict[str, str]:
    connection = basis.connection
    found = {
        names.CLUSTER_FILE_KEY: "" if connection is None else str(connection),
        names.RUNNING_VERSION_KEY: str(basis.running),
    }
    if basis.made:
        found[names.DATABASE_MADE_KEY] = "true"
    if basis.staged:
        found[names.STAGED_VERSION_KEY] = basis.staged
    if basis.spec.trusted_cas:
        found[names.CA_FILE_KEY] = "".join(f"{it.strip()}\n" for it in basis.spec.trusted_cas)
    found |= {names.certificate_key(name): it for name, it in basis.certificates}
    for process_class, servers, image_type in sorted(classes):
        key = _key(process_class, servers, image_type)
        if image_type == "unified":
            found[key] = unified.config(basis, process_class)
        else:
            found[key] = monitor_conf.conf(basis, process_class, servers)
            found[names.SIDECAR_CONF_KEY] = _sidecar_conf(basis)
    return found


def _key(process_class: ProcessClass, servers: int, image_type: ImageType) -> str:
    if image_type == "unified":
        return names.unified_conf_key(process_class)
    return names.split_conf_key(process_class, servers)


def _sidecar_conf(basis: Basis) -> str:
    """Say in a file what the arguments of sidecars say: tools of others read it there."""
    files = ["fdb.cluster", *(["ca.pem"] if basis.spec.trusted_cas else [])]
    said = {
        "COPY_BINARIES": ["fdbserver", "fdbcli"],
        "COPY_FILES": files,
        "COPY_LIBRARIES": [],
        "INPUT_MONITOR_CONF": "fdbmonitor.conf",
        "ADDITIONAL_SUBSTITUTIONS": list(basis.spec.sidecar_variables),
    }
    return json.dumps(said, separators=(",", ":"))
