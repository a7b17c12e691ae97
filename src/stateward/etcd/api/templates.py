"""What is wrong with the templates of an EtcdCluster: nobody but the operator can see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from stateward.core import naming
from stateward.core.quantity import Quantity
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.options import owned
from stateward.etcd.api.settings import CONTAINER, claim_name_of, etcd_container
from stateward.etcd.api.spec import EtcdClusterSpec
from stateward.etcd.api.storage import ClaimTemplate
from stateward.etcd.model.names import labels
from stateward.kube.codec import Json
from stateward.kube.crd.findings import Problem
from stateward.kube.overlays import overlay_problems
from stateward.kube.patch import PatchError
from stateward.kube.strategic import strategic_patch
from stateward.kube.structure import structure_of_kind

_POD: Final = "spec.podTemplate.spec"
_CLAIM: Final = "spec.storage.volumeClaimTemplate"
_CORE: Final = "io.k8s.api.core.v1."
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
#: Fields of a pod that a workload decides, or that would give a member another address.
_NOT_YOURS: Final = (
    "hostname", "subdomain", "setHostnameAsFQDN", "activeDeadlineSeconds", "ephemeralContainers",
)  # fmt: skip


def template_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    """Yield what is wrong with the templates of pods, services and claims."""
    spec = cluster.spec
    yield from _metadata_problems(cluster)
    yield from _service_name_problems(cluster)
    yield from _overlaid(spec.pod_template.spec, "PodSpec", _POD)
    yield from _merge_problems(spec.pod_template.spec, ("", "v1", "Pod"), _POD)
    yield from _pod_problems(spec)
    service = "spec.serviceTemplate.spec"
    yield from _overlaid(spec.service_template.spec, "ServiceSpec", service)
    yield from _merge_problems(spec.service_template.spec, ("", "v1", "Service"), service)
    if spec.service_template.spec.get("type") == "ExternalName":
        yield Problem(f"{service}.type", "must lead to the members, and ExternalName does not")
    yield from _storage_problems(spec)


def _overlaid(overlay: Json, type_: str, path: str) -> Iterator[Problem]:
    for found in overlay_problems(overlay, _CORE + type_, path):
        yield Problem(found.path, found.message)


def _merge_problems(overlay: Json, kind: tuple[str, str, str], path: str) -> Iterator[Problem]:
    """Yield why an overlay cannot be merged at all, such as an item without its name."""
    whole = structure_of_kind(*kind)
    if whole is None or (structure := whole.child("spec")) is None:
        return
    try:
        strategic_patch({}, overlay, structure)
    except PatchError as error:
        yield Problem(path + error.path.replace("/", "."), error.problem)


# ------------------------------------------------------------------ names and labels
def _metadata_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    spec = cluster.spec
    budget, claim = spec.pod_disruption_budget_template, spec.storage.volume_claim_template
    templates: dict[str, Json] = {
        "spec.podTemplate": spec.pod_template.metadata,
        "spec.serviceTemplate": spec.service_template.metadata,
        "spec.headlessServiceTemplate": spec.headless_service_template.metadata,
        "spec.podDisruptionBudgetTemplate": budget.metadata if budget else {},
        _CLAIM: claim.metadata if claim else {},
    }
    for path, metadata in templates.items():
        yield from _overlaid_metadata(metadata, f"{path}.metadata")
    ours = labels(cluster.metadata.name)
    for name, value in _texts(spec.pod_template.metadata.get("labels")).items():
        if name in ours and value != ours[name]:
            field = f"spec.podTemplate.metadata.labels.{name}"
            yield Problem(field, f"must be left as it is, {ours[name]}: members are found by it")


def _overlaid_metadata(metadata: Json, path: str) -> Iterator[Problem]:
    for found in overlay_problems(metadata, _META, path):
        yield Problem(found.path, found.message)
    for name, value in _texts(metadata.get("labels")).items():
        if problem := naming.label_key_problem(name) or naming.label_value_problem(value):
            yield Problem(f"{path}.labels.{name}", problem)
    for name in _texts(metadata.get("annotations")):
        if problem := naming.label_key_problem(name):
            yield Problem(f"{path}.annotations.{name}", problem)
    if metadata.get("namespace"):
        yield Problem(f"{path}.namespace", "must not be given: it is that of the cluster")


def _texts(some: Any) -> dict[str, str]:
    """Return the texts of a map; that there is anything else in it was said with its type."""
    known = some if isinstance(some, dict) else {}
    return {name: value for name, value in known.items() if isinstance(value, str)}


def _service_name_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    spec, name = cluster.spec, cluster.metadata.name
    given = {
        "spec.serviceTemplate": _texts(spec.service_template.metadata).get("name"),
        "spec.headlessServiceTemplate": _texts(spec.headless_service_template.metadata).get("name"),
    }
    for path, service in given.items():
        if service and (problem := _service_name_problem(service)):
            yield Problem(f"{path}.metadata.name", problem)
    client, headless = given.values()
    if (client or name) == (headless or f"{name}-headless"):
        path = next(path for path, service in given.items() if service)
        yield Problem(
            f"{path}.metadata.name",
            f"must differ from the other service's, got {client or headless!r} for both",
        )


def _service_name_problem(name: str) -> str | None:
    if name[:1].isdigit():
        return f"must begin with a letter, got {name!r}"
    return naming.dns_label_problem(name)


# ------------------------------------------------------------------ pods
def _pod_problems(spec: EtcdClusterSpec) -> Iterator[Problem]:
    pod = spec.pod_template.spec
    for name in _NOT_YOURS:
        if pod.get(name) is not None:
            yield Problem(f"{_POD}.{name}", "must not be given: the operator decides it")
    if pod.get("restartPolicy", "Always") != "Always":
        yield Problem(f"{_POD}.restartPolicy", "must be Always: members are started again")
    if pod.get("$patch") is not None or _is_removed(pod):
        yield Problem(
            f"{_POD}.containers", f"must leave the container {CONTAINER}, which is the member"
        )
    for number, volume in enumerate(_objects(pod.get("volumes"))):
        if volume.get("name") == claim_name_of(spec):
            yield Problem(
                f"{_POD}.volumes[{number}].name",
                f"must not be {volume['name']}, where the member's data lies",
                hint="give the volume another name; spec.storage says what data lies on",
            )
    yield from _container_problems(etcd_container(spec))


def _is_removed(pod: Json) -> bool:
    some = _objects(pod.get("containers"))
    if "containers" in pod and pod["containers"] is None:
        return True
    if any(it.get("$patch") == "replace" for it in some):
        return not any(it.get("name") == CONTAINER for it in some)
    return any(it.get("name") == CONTAINER and it.get("$patch") == "delete" for it in some)


def _container_problems(container: Json) -> Iterator[Problem]:
    where = f"{_POD}.containers[{CONTAINER}]"
    if container.get("args"):
        yield Problem(
            f"{where}.args",
            "must not be given: the operator's own flags would be lost",
            hint="put flags of etcd into spec.options",
        )
    for variable in _objects(container.get("env")):
        flag = re.sub("_", "-", str(variable.get("name", "")).removeprefix("ETCD_")).lower()
        if str(variable.get("name", "")).startswith("ETCD_") and owned(flag):
            yield Problem(
                f"{where}.env[{variable['name']}]",
                f"must not be given: the operator itself sets {flag}",
            )


def _objects(some: Any) -> list[Json]:
    return [it for it in some if isinstance(it, dict)] if isinstance(some, list) else []


# ------------------------------------------------------------------ storage
def _storage_problems(spec: EtcdClusterSpec) -> Iterator[Problem]:
    if (folder := spec.storage.empty_dir) is not None:
        where = "spec.storage.emptyDir"
        yield from _overlaid(folder, "EmptyDirVolumeSource", where)
        yield from _size_problems(folder.get("sizeLimit"), f"{where}.sizeLimit")
        if folder.get("medium") not in (None, "", "Memory"):
            yield Problem(f"{where}.medium", f"must be Memory or empty, got {folder['medium']!r}")
    if (template := spec.storage.volume_claim_template) is not None:
        yield from _claim_problems(template)


def _claim_problems(template: ClaimTemplate) -> Iterator[Problem]:
    where = f"{_CLAIM}.spec"
    yield from _overlaid(template.spec, "PersistentVolumeClaimSpec", where)
    name = _texts(template.metadata).get("name")
    if name and (problem := naming.dns_label_problem(name)):
        yield Problem(f"{_CLAIM}.metadata.name", problem)
    if template.spec.get("volumeName"):
        yield Problem(f"{where}.volumeName", "must not be given: every member has its own volume")
    if template.spec.get("volumeMode") not in (None, "Filesystem"):
        yield Problem(f"{where}.volumeMode", "must be Filesystem: etcd writes files")
    resources = template.spec.get("resources")
    requests = resources.get("requests") if isinstance(resources, dict) else None
    if isinstance(requests, dict):
        where = f"{where}.resources.requests"
        if "storage" not in requests:
            yield Problem(where, "must say how much storage, as in storage: 4Gi")
        yield from _size_problems(requests.get("storage"), f"{where}.storage")


def _size_problems(size: Any, field: str) -> Iterator[Problem]:
    """Yield that a size is nothing; that it is none at all was said with its type."""
    try:
        if size is not None and Quantity.parse(str(size)).nano <= 0:
            yield Problem(field, f"must be more than nothing, as in 4Gi, got {size}")
    except ValueError:
        return
