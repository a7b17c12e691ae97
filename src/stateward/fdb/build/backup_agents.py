"""The Deployment of backup agents: programs that do the work of backups and restores of a cluster.

What a user says of a pod stands; ours is filled in around it, as with pods of the cluster. Agents
find the database by a copy of the cluster file, which they keep true themselves. Secrets of a blob
store are in files that the user's template mounts, and that FDB_BLOB_CREDENTIALS names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from stateward.fdb.api import questions
from stateward.fdb.api.backups.backup import DEFAULT_AGENTS
from stateward.fdb.api.backups.kinds import BACKUPS, FoundationDBBackup
from stateward.fdb.api.backups.stores import option
from stateward.fdb.api.defaults import GENERAL, normalized
from stateward.fdb.api.pods import container_of
from stateward.fdb.api.processes import ContainerOverrides, ImageType, PodTemplate, ProcessSettings
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.containers import CONFIG_VOLUME, DYNAMIC_VOLUME, named
from stateward.fdb.build.metadata import Said, digest, head
from stateward.fdb.build.servers.arguments import CONF, LOGS
from stateward.fdb.build.servers.variables import INPUT, literal
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.meta import Object
from stateward.kube.resources import DEPLOYMENTS, Resource

_LOGS: Final = "logs"
_OUTPUT: Final = "/var/output-files"
_ZONE, _MACHINE = "FDB_ZONE_ID", "FDB_MACHINE_ID"
_TLS: Final = "FDB_TLS_"
#: What an init container asks for that only copies files.
_LITTLE: Final = {"cpu": "100m", "memory": "256Mi"}


class WholeDeployment(Object):
    """A Deployment with all of its spec and status, so that it is seen what others changed."""

    spec: Json = {}
    status: Json = {}


WHOLE_DEPLOYMENTS: Final = Resource(
    DEPLOYMENTS.group,
    DEPLOYMENTS.version,
    DEPLOYMENTS.kind,
    DEPLOYMENTS.plural,
    WholeDeployment,
    has_status=DEPLOYMENTS.has_status,
)


@dataclass(frozen=True, slots=True)
class Around:
    """The cluster that agents work for: its name, its normalized spec, whether it speaks TLS."""

    name: str
    spec: FoundationDBClusterSpec
    tls: bool
    #: Which very cluster: agents of one before it would never find this one's database.
    uid: str = ""


def agents(backup: FoundationDBBackup, around: Around) -> Json | None:
    """Return the Deployment that a backup shall have; None: none."""
    count = wanted_agents(backup)
    if count == 0:
        return None
    name = names.agents_name(backup.metadata.name)
    labels = names.instance_labels(around.name) | {names.BACKUP_FOR: backup.metadata.uid}
    said = Said.by(backup.spec.backup_deployment_metadata)
    spec = {
        "replicas": count,
        "selector": {"matchLabels": {names.DEPLOYMENT_NAME: name}},
        "template": _template(backup, around, name),
    }
    said = said.under(labels, {names.SPEC_HASH: digest(spec)})
    made = head(DEPLOYMENTS, backup.metadata.namespace, name, said, [_owner(backup)])
    return drift.sealed(made | {"spec": spec})


def wanted_agents(backup: FoundationDBBackup) -> int:
    """Return how many agents there shall be."""
    count = backup.spec.agent_count
    return DEFAULT_AGENTS if count is None else count


def _owner(backup: FoundationDBBackup) -> Json:
    return {
        "apiVersion": BACKUPS.api_version,
        "kind": BACKUPS.kind,
        "name": backup.metadata.name,
        "uid": backup.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


# ------------------------------------------------------------------ pods
def _template(backup: FoundationDBBackup, around: Around, name: str) -> Json:
    spec = _like_a_cluster(backup, around)
    template = questions.settings_for(spec, ProcessClass.STORAGE).pod_template or PodTemplate()
    main = container_of(template, MAIN_CONTAINER)
    pod: Json = dict(template.spec)
    others = [it for it in pod.get("containers") or () if it.get("name") not in _OURS]
    first = [it for it in pod.get("initContainers") or () if it.get("name") != INIT_CONTAINER]
    trust = _trust(main, around)
    pod["initContainers"] = [_init(template, spec), *first]
    pod["containers"] = [_main(backup, spec, main, trust), *others]
    pod["volumes"] = named([*_volumes(around), *trust.volumes, *(pod.get("volumes") or ())])
    whose = {names.CLUSTER_UID_LABEL: around.uid} if around.uid else {}
    said = Said.by(template.metadata).under({names.DEPLOYMENT_NAME: name}, whose)
    return {"metadata": said.document(), "spec": pod}


_OURS: Final = (MAIN_CONTAINER, SIDECAR_CONTAINER)


def _like_a_cluster(backup: FoundationDBBackup, around: Around) -> FoundationDBClusterSpec:
    """Return the spec of a cluster whose pods had these images and this template.

    Images that nobody names here are the cluster's own, where both are of one type.
    """
    said = backup.spec
    kind: ImageType = said.image_type or around.spec.image_type or "unified"
    same = kind == around.spec.image_type
    return normalized(
        FoundationDBClusterSpec(
            version=said.version,
            image_type=kind,
            main_container=_images(said.main_container, around.spec.main_container, same=same),
            sidecar_container=_images(
                said.sidecar_container, around.spec.sidecar_container, same=same
            ),
            processes={GENERAL: ProcessSettings(pod_template=said.pod_template_spec)},
        )
    )


def _images(
    said: ContainerOverrides, cluster: ContainerOverrides, *, same: bool
) -> ContainerOverrides:
    more = cluster.image_configs if same else ()
    return replace(said, image_configs=(*said.image_configs, *more))


def _image(spec: FoundationDBClusterSpec, container: str) -> str:
    return questions.image_of(spec, ProcessClass.STORAGE, container, spec.version)


def _main(
    backup: FoundationDBBackup, spec: FoundationDBClusterSpec, given: Json, trust: _Trust
) -> Json:
    """Return the container of an agent."""
    mounts = [_mount(_LOGS, LOGS), _mount(DYNAMIC_VOLUME, CONF), *trust.mounts]
    return {
        **given,
        "image": _image(spec, MAIN_CONTAINER),
        "command": given.get("command") or ["backup_agent"],
        "args": [*_arguments(backup), *(given.get("args") or ())],
        "env": named([*_variables(backup), *trust.env, *(given.get("env") or ())]),
        "volumeMounts": _mounted(mounts, given),
        "securityContext": {"readOnlyRootFilesystem": True} | (given.get("securityContext") or {}),
    }


def _arguments(backup: FoundationDBBackup) -> list[str]:
    center = backup.spec.data_center
    return [
        *("--log", "--logdir", LOGS),
        f"--locality_zoneid=$({_ZONE})",
        f"--locality_machineid=$({_MACHINE})",
        *([f"--locality_dcid={center}"] if center else []),
        *map(option, backup.spec.custom_parameters),
    ]


def _variables(backup: FoundationDBBackup) -> list[Json]:
    own = {"fieldRef": {"fieldPath": "metadata.name"}}
    return [
        literal("FDB_CLUSTER_FILE", f"{CONF}/fdb.cluster"),
        literal(_ZONE, backup.metadata.name),
        {"name": _MACHINE, "valueFrom": own},
        {"name": "FDB_POD_NAME", "valueFrom": own},
    ]


def _init(template: PodTemplate, spec: FoundationDBClusterSpec) -> Json:
    """Return what copies the cluster file: it must not be empty, and agents write into it."""
    given = container_of(template, INIT_CONTAINER)
    split = spec.image_type == "split"
    words = ["--init-mode"] if split else ["--mode", "init"]
    words += ["--input-dir", INPUT, "--output-dir", _OUTPUT]
    words += ["--copy-file", "fdb.cluster", "--require-not-empty", "fdb.cluster"]
    resources = given.get("resources") or {"requests": _LITTLE, "limits": _LITTLE}
    mounts = [_mount(CONFIG_VOLUME, INPUT), _mount(DYNAMIC_VOLUME, _OUTPUT)]
    found: Json = {
        **given,
        "name": INIT_CONTAINER,
        "image": _image(spec, SIDECAR_CONTAINER if split else MAIN_CONTAINER),
        "args": [*words, *(given.get("args") or ())],
        "resources": resources,
        "volumeMounts": _mounted(mounts, given),
        "securityContext": {"readOnlyRootFilesystem": True} | (given.get("securityContext") or {}),
    }
    return found


# ------------------------------------------------------------------ volumes
def _volumes(around: Around) -> list[Json]:
    items = [{"key": names.CLUSTER_FILE_KEY, "path": "fdb.cluster"}]
    if around.spec.trusted_cas:
        items.append({"key": names.CA_FILE_KEY, "path": "ca.pem"})
    files = {"name": names.config_map_name(around.name), "items": items}
    return [
        {"name": CONFIG_VOLUME, "configMap": files},
        {"name": DYNAMIC_VOLUME, "emptyDir": {}},
        {"name": _LOGS, "emptyDir": {}},
    ]


def _mount(volume: str, path: str) -> Json:
    return {"name": volume, "mountPath": path}


def _mounted(ours: list[Json], given: Json) -> list[Json]:
    """A user may mount a volume at several places, but no two volumes at one."""
    said = list(given.get("volumeMounts") or ())
    taken = {it.get(key) for it in said for key in ("name", "mountPath")}
    return [*(it for it in ours if taken.isdisjoint((it["name"], it["mountPath"]))), *said]


# ------------------------------------------------------------------ certificates
@dataclass(frozen=True, slots=True)
class _Trust:
    """By what an agent shows a database with TLS who it is, and believes it."""

    env: list[Json]
    mounts: list[Json]
    volumes: list[Json]


def _trust(main: Json, around: Around) -> _Trust:
    """Return the certificates of the cluster's own pods, unless the template names others."""
    if not around.tls:
        return _Trust([], [], [])
    env: list[Json] = []
    mounts: list[Json] = []
    if around.spec.trusted_cas:
        env.append(literal(f"{_TLS}CA_FILE", f"{INPUT}/ca.pem"))
        mounts.append(_mount(CONFIG_VOLUME, INPUT))
    if any(str(it.get("name")).startswith(_TLS) for it in main.get("env") or ()):
        return _Trust(env, mounts, [])
    template = questions.settings_for(around.spec, ProcessClass.STORAGE).pod_template
    own = container_of(template, MAIN_CONTAINER)
    said = [it for it in own.get("env") or () if str(it.get("name")).startswith(_TLS)]
    files = [str(it.get("value") or "") for it in said]
    held = [it for it in own.get("volumeMounts") or () if _holds(it, files)]
    used = {it.get("name") for it in held}
    volumes = (template.spec.get("volumes") if template is not None else None) or ()
    return _Trust([*env, *said], [*mounts, *held], [it for it in volumes if it["name"] in used])


def _holds(mount: Json, files: list[str]) -> bool:
    folder = str(mount.get("mountPath")).rstrip("/")
    return any(it == folder or it.startswith(f"{folder}/") for it in files)
