"""What a drill of a backup makes: a throw-away cluster, agents for it, and a restore into it.

The cluster is what the backed-up one is in all that has a say in whether data can be read there:
version, images, templates, knobs, certificates, storage engine. It has one copy of everything, and
nothing that would have others take it for the backed-up one: neither its prefix, nor its labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.api.backups.drill import DEFAULT_AGENTS, BackupDrill
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES, FoundationDBBackup
from stateward.fdb.api.backups.restore import FoundationDBRestoreSpec
from stateward.fdb.api.backups.stores import store_of
from stateward.fdb.api.backups.urls import is_file
from stateward.fdb.api.database import DatabaseConfiguration
from stateward.fdb.api.defaults import GENERAL, folded
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.api.options import FaultDomain
from stateward.fdb.api.processes import ClaimTemplate, PodTemplate, ProcessCounts, ProcessSettings
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.containers import DATA_VOLUME
from stateward.fdb.build.metadata import Said, head, owner_of
from stateward.fdb.model.names import DRILL, LEFT_VOLUMES, MAIN_CONTAINER, drill_name
from stateward.kube.codec import Json, Part, plain
from stateward.kube.resources import Resource

#: Where every pod is a zone of its own: one copy needs no others.
_NO_ZONES: Final = "foundationdb.org/none"
#: What a person never says of what is left: it is neither adopted nor built upon.
_LEFT_ALONE: Final = "drill"
#: What a claim must not begin with: an empty database is to be filled.
_FILLED: Final = ("dataSource", "dataSourceRef", "volumeName")


@dataclass(frozen=True, slots=True)
class Plan:
    """A drill of a backup: what is asked for, and which drill it is."""

    backup: FoundationDBBackup
    asked: BackupDrill
    #: What tells it from others of the backup.
    number: str
    #: Which FoundationDB the backed-up cluster runs.
    version: str

    @property
    def name(self) -> str:
        """What all objects of it are called."""
        return drill_name(self.backup.metadata.name)

    def document(self, resource: Resource[Any], spec: Part, said: Said | None = None) -> Json:
        """Return an object of it: owned by the backup, and labelled."""
        metadata = self.backup.metadata
        said = (said or Said()).under({DRILL: self.number})
        owner = owner_of(BACKUPS, metadata.name, metadata.uid)
        made = head(resource, metadata.namespace, self.name, said, [owner])
        return made | {"spec": plain(spec)}


# ------------------------------------------------------------------ the cluster
def throw_away(plan: Plan, source: FoundationDBCluster, labels: dict[str, str]) -> Json:
    """Return the cluster that is restored into, with labels by which its operator finds it."""
    said, asked = folded(source.spec), plan.asked
    counts = asked.process_counts
    spec = FoundationDBClusterSpec(
        version=plan.version,
        image_type=said.image_type,
        main_container=said.main_container,
        sidecar_container=said.sidecar_container,
        sidecar_variables=said.sidecar_variables,
        trusted_cas=said.trusted_cas,
        config_map=said.config_map,
        routing=said.routing,
        database_configuration=DatabaseConfiguration(
            redundancy_mode="single",
            storage_engine=said.database_configuration.storage_engine,
            logs=counts.log or 1,
        ),
        fault_domain=FaultDomain(key=_NO_ZONES),
        process_counts=ProcessCounts(
            storage=counts.storage or 1, log=counts.log or 1, stateless=counts.stateless or 1
        ),
        processes=dict(_processes(said.processes, asked)),
        deletion_policy="Delete",
    )
    # What an earlier cluster of the name left, volumes or all that runs on, is never taken over.
    return plan.document(CLUSTERS, spec, Said(labels, {LEFT_VOLUMES: _LEFT_ALONE}))


def _processes(
    some: dict[str, ProcessSettings], asked: BackupDrill
) -> Iterator[tuple[str, ProcessSettings]]:
    """Yield what processes are made from: as they are, but for what the drill asks for."""
    for name, it in {GENERAL: ProcessSettings(), **some}.items():
        pod, claim = it.pod_template, it.volume_claim_template
        if asked.resources is not None and (pod is not None or name == GENERAL):
            pod = _sized(pod or PodTemplate(), asked.resources)
        if asked.storage is not None and (claim is not None or name == GENERAL):
            claim = _large(claim or ClaimTemplate(), asked.storage)
        pod = None if pod is None else unlabelled(pod)
        claim = None if claim is None else _empty(claim)
        yield name, replace(it, pod_template=pod, volume_claim_template=claim)


def shared_volume(source: FoundationDBCluster) -> str:
    """Return a volume that pods of a drill would share with those of the cluster; empty: none.

    Two databases on one folder of a node, or waiting for one claim, are no drill.
    """
    templates = (it.pod_template for it in folded(source.spec).processes.values())
    volumes = (one for it in templates if it is not None for one in it.spec.get("volumes") or ())
    return next((str(it.get("name")) for it in volumes if _is_shared(it)), "")


def _is_shared(volume: Json) -> bool:
    is_data = volume.get("name") == DATA_VOLUME and "emptyDir" not in volume
    return is_data or "persistentVolumeClaim" in volume


def unlabelled(template: PodTemplate) -> PodTemplate:
    """Return a template whose pods nobody finds by their labels: they are not who is looked for."""
    metadata = {name: it for name, it in template.metadata.items() if name != "labels"}
    return replace(template, metadata=metadata)


def _sized(template: PodTemplate, resources: Json) -> PodTemplate:
    containers = list(template.spec.get("containers") or ())
    if not any(it.get("name") == MAIN_CONTAINER for it in containers):
        containers.insert(0, {"name": MAIN_CONTAINER})
    sized = [
        {**it, "resources": resources} if it.get("name") == MAIN_CONTAINER else it
        for it in containers
    ]
    return replace(template, spec={**template.spec, "containers": sized})


def _large(template: ClaimTemplate, size: int | str) -> ClaimTemplate:
    resources = template.spec.get("resources") or {}
    requests = {**(resources.get("requests") or {}), "storage": size}
    return replace(template, spec={**template.spec, "resources": {"requests": requests}})


def _empty(template: ClaimTemplate) -> ClaimTemplate:
    spec = {name: it for name, it in template.spec.items() if name not in _FILLED}
    metadata = {name: it for name, it in template.metadata.items() if name != "labels"}
    return replace(template, metadata=metadata, spec=spec)


# ------------------------------------------------------------------ agents, and the restore
def restorers(plan: Plan) -> Json:
    """Return the object of the agents that restore: they are as those of the backup."""
    said = plan.backup.spec
    template = said.pod_template_spec
    spec = FoundationDBBackupSpec(
        version=plan.version,
        cluster_name=plan.name,
        backup_type="unmanaged",
        agent_count=plan.asked.agent_count or DEFAULT_AGENTS,
        pod_template_spec=None if template is None else unlabelled(template),
        custom_parameters=said.custom_parameters,
        encryption_key_path=said.encryption_key_path,
        main_container=said.main_container,
        sidecar_container=said.sidecar_container,
        image_type=said.image_type,
    )
    return plan.document(BACKUPS, spec)


def restoring(plan: Plan, cluster_uid: str, url: str, version: int | None) -> Json:
    """Return the restore of what was newest when the drill began, into that very cluster."""
    said = plan.backup.spec
    spec = FoundationDBRestoreSpec(
        destination_cluster_name=plan.name,
        destination_cluster_uid=cluster_uid,
        blob_store_configuration=None if is_file(url) else store_of(url),
        file_url=url if is_file(url) else "",
        backup_version=version,
        custom_parameters=said.custom_parameters,
        encryption_key_path=said.encryption_key_path,
    )
    return plan.document(RESTORES, spec)
