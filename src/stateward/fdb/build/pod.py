"""The pod of a process group, made from the group alone."""

from __future__ import annotations

from collections.abc import Iterable

from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.api.processes import PodTemplate
from stateward.fdb.build.containers import DATA_VOLUME, named
from stateward.fdb.build.metadata import Said, digest, group_owner, head
from stateward.fdb.build.servers.arguments import INSTANCE_ID
from stateward.fdb.build.servers.variables import literal
from stateward.fdb.model import names
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json
from stateward.kube.resources import PODS

_OURS = frozenset({MAIN_CONTAINER, SIDECAR_CONTAINER, INIT_CONTAINER})


def pod(group: FoundationDBProcessGroup, public_ip: str = "") -> Json:
    """Return the pod of a group; ``public_ip`` is its service's, where processes tell that one."""
    own, spec = group.metadata, pod_spec(group)
    said = Said.by(_template(group).metadata)
    said = said.under(own.labels, _annotations(group, public_ip) | {names.SPEC_HASH: digest(spec)})
    return head(PODS, own.namespace, own.name, said, [group_owner(group)]) | {"spec": spec}


def pod_hash(group: FoundationDBProcessGroup) -> str:
    """Return what a pod of the group carries if it is as it should be."""
    return digest(pod_spec(group))


def pod_spec(group: FoundationDBProcessGroup) -> Json:
    """Return the spec of a group's pod: that of its class, and what tells it from the others."""
    asked, name = group.spec, group.metadata.name
    spec: Json = dict(_template(group).spec)
    for kind in ("initContainers", "containers"):
        if some := spec.get(kind):
            spec[kind] = [_told_apart(it, asked.process_group_id) for it in some]
    if asked.process_settings.volume_claim_template is not None:
        claim = {"persistentVolumeClaim": {"claimName": names.claim_name(name)}}
        spec["volumes"] = named([{"name": DATA_VOLUME, **claim}, *(spec.get("volumes") or ())])
    if asked.service.headless_service:
        spec["hostname"] = name
        spec["subdomain"] = names.headless_service_name(asked.cluster_name)
    return spec


def _template(group: FoundationDBProcessGroup) -> PodTemplate:
    return group.spec.process_settings.pod_template or PodTemplate()


def _told_apart(container: Json, identity: str) -> Json:
    """Who it is stands first, where others may refer to it; and no template says it otherwise.

    Two pods of one identity would be emptied and removed as one.
    """
    if container.get("name") not in _OURS:
        return container
    others: Iterable[Json] = container.get("env") or ()
    kept = [it for it in others if it.get("name") != INSTANCE_ID]
    return {**container, "env": [literal(INSTANCE_ID, identity), *kept]}


def _annotations(group: FoundationDBProcessGroup, public_ip: str) -> dict[str, str]:
    service = group.spec.service
    found = {
        names.IMAGE_TYPE: str(group.spec.image_type),
        names.PUBLIC_IP_SOURCE: str(service.public_ip_source),
    }
    if service.pod_ip_family is not None:
        found[names.IP_FAMILY] = str(service.pod_ip_family)
    if service.public_ip_source == "service" and public_ip:
        found[names.PUBLIC_IP] = public_ip
    return found
