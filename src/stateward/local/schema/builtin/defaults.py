"""What Kubernetes' own kinds say where their writers say nothing.

These are the defaults of reading: whoever writes an object owns them. What the server decides by
itself (addresses, default classes) is in ``decisions.py``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.local.schema.builtin.pod_defaults import canonical, fill_pod, fill_template

_RBAC: Final = "rbac.authorization.k8s.io"


def fill(resource: str, document: Json) -> None:
    """Fill in the defaults of one object, in place."""
    if (filler := _FILLERS.get(resource)) is not None:
        filler(document)


def _set(part: Json, **defaults: Any) -> None:
    for name, value in defaults.items():
        if part.get(name) is None:
            part[name] = value


def _deployment(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = spec.setdefault("strategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        how = strategy.setdefault("rollingUpdate", {})
        _set(how, maxUnavailable="25%", maxSurge="25%")
    fill_template(spec.setdefault("template", {}))


def _replica_set(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, replicas=1)
    fill_template(spec.setdefault("template", {}))


def _stateful_set(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), partition=0)
    keeping = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    _set(keeping, whenDeleted="Retain", whenScaled="Retain")
    fill_template(spec.setdefault("template", {}))
    for claim in spec.get("volumeClaimTemplates") or ():
        _set(claim, apiVersion="v1", kind="PersistentVolumeClaim")
        _claim(claim)
        _set(claim.setdefault("status", {}), phase="Pending")


def _job(document: Json) -> None:
    spec = document.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    policy = "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
    _set(spec, parallelism=1, completionMode="NonIndexed", suspend=False, manualSelector=False)
    if "backoffLimitPerIndex" not in spec:
        _set(spec, backoffLimit=6)
    _set(spec, backoffLimit=2**31 - 1, podReplacementPolicy=policy)
    template = spec.setdefault("template", {})
    fill_template(template)
    meta, labels = document["metadata"], template["metadata"].get("labels")
    if labels and not meta.get("labels"):
        meta["labels"] = dict(labels)


def _cron_job(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, concurrencyPolicy="Allow", suspend=False)
    _set(spec, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    job = spec.setdefault("jobTemplate", {})
    job.setdefault("metadata", {})
    fill_template(job.setdefault("spec", {}).setdefault("template", {}))


def _service(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, type="ClusterIP", sessionAffinity="None")
    kind = spec["type"]
    for port in spec.get("ports") or ():
        _set(port, protocol="TCP")
        if not port.get("targetPort") and "port" in port:
            port["targetPort"] = port["port"]
    if spec["sessionAffinity"] == "ClientIP":
        affinity = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        _set(affinity, timeoutSeconds=10_800)
    elif spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if kind in {"NodePort", "LoadBalancer"}:
        _set(spec, externalTrafficPolicy="Cluster")
    if kind == "LoadBalancer":
        _set(spec, allocateLoadBalancerNodePorts=True)
    if kind != "ExternalName":
        _set(spec, internalTrafficPolicy="Cluster")


def _claim(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, volumeMode="Filesystem")
    resources = spec.setdefault("resources", {})
    for name in ("requests", "limits"):
        if name in resources:
            canonical(resources[name])


def _volume(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    canonical(spec.get("capacity") or {})
    if "hostPath" in spec:
        _set(spec["hostPath"], type="")


def _secret(document: Json) -> None:
    _set(document, type="Opaque")
    if texts := document.pop("stringData", None):
        data = document.setdefault("data", {})
        data.update({k: base64.b64encode(v.encode()).decode() for k, v in texts.items()})


def _namespace(document: Json) -> None:
    if name := document["metadata"].get("name"):
        document["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _node(document: Json) -> None:
    status = document.get("status") or {}
    for name in ("capacity", "allocatable"):
        canonical(status.get(name) or {})
    if status.get("capacity"):
        status["allocatable"] = status["capacity"] | status.get("allocatable", {})


def _storage_class(document: Json) -> None:
    _set(document, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _binding(document: Json) -> None:
    role, subjects = document.get("roleRef"), document.get("subjects") or ()
    of_group = [it for it in subjects if it.get("kind") in {"User", "Group"}]
    for part in (role, *of_group) if isinstance(role, dict) else of_group:
        part["apiGroup"] = part.get("apiGroup") or _RBAC


def _endpoint_slice(document: Json) -> None:
    for port in document.get("ports") or ():
        _set(port, name="", protocol="TCP")


def _budget(document: Json) -> None:
    if status := document.get("status"):
        _set(status, currentHealthy=0, desiredHealthy=0, disruptionsAllowed=0, expectedPods=0)


def _definition(document: Json) -> None:
    spec = document.setdefault("spec", {})
    _set(spec, conversion={"strategy": "None"})
    names = spec.setdefault("names", {})
    if kind := names.get("kind"):
        _set(names, singular=kind.lower(), listKind=f"{kind}List")


def _event(document: Json) -> None:
    _set(document, source={}, reportingComponent="", reportingInstance="")
    for name in ("firstTimestamp", "lastTimestamp", "eventTime"):
        document.setdefault(name, None)  # said, even where nobody knows


def _lease(document: Json) -> None:
    for name in ("strategy", "preferredHolder"):
        (document.get("spec") or {}).pop(name, None)  # no cluster has this by default


_FILLERS: Final[dict[str, Callable[[Json], None]]] = {
    "pods": fill_pod,
    "services": _service,
    "secrets": _secret,
    "namespaces": _namespace,
    "nodes": _node,
    "events": _event,
    "leases.coordination.k8s.io": _lease,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": _volume,
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
    "poddisruptionbudgets.policy": _budget,
    "storageclasses.storage.k8s.io": _storage_class,
    f"rolebindings.{_RBAC}": _binding,
    f"clusterrolebindings.{_RBAC}": _binding,
    "endpointslices.discovery.k8s.io": _endpoint_slice,
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
}
