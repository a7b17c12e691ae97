"""What makes no sense in an object of one of Kubernetes' own kinds, although its types are right.

Objects come here with their defaults filled in.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes
from stateward.local.schema.builtin.access_checks import binding_problems
from stateward.local.schema.builtin.claim_checks import claim_problems, volume_problems
from stateward.local.schema.builtin.pod_checks import (
    at_least_zero,
    label_mismatch,
    one_of,
    pod_problems,
    selector_problems,
    template_problems,
)
from stateward.local.schema.builtin.service_checks import endpoint_problems, service_problems
from stateward.local.schema.builtin.work_checks import cron_job_problems, job_problems

_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_PERCENT: Final = re.compile(r"[0-9]{1,9}%")
#: What a secret of a type must hold.
_OF_SECRETS: Final = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
}
_RBAC: Final = "rbac.authorization.k8s.io"
#: Bytes of all data of a ConfigMap or Secret.
_DATA_LIMIT: Final = 1024 * 1024


def problems(resource: str, document: Json) -> Iterable[Cause]:
    """Return what is wrong with an object."""
    check = _CHECKS.get(resource)
    return () if check is None else check(document)


def _pod(document: Json) -> Iterator[Cause]:
    yield from pod_problems(document.get("spec") or {}, "spec")


def _team(document: Json, restart: tuple[str, ...] = ("Always",)) -> Iterator[Cause]:
    """Look at what all kinds have that keep pods running."""
    spec = document["spec"]
    yield from at_least_zero(spec, "spec", "replicas", "minReadySeconds", "revisionHistoryLimit")
    template = spec.get("template") or {}
    labels = template.get("metadata", {}).get("labels") or {}
    selector = spec.get("selector")
    if selector is None:
        yield causes.required("spec.selector")
        yield from label_mismatch(labels)
    else:
        yield from selector_problems(selector, labels)
    yield from template_problems(template, "spec.template")
    pod = template.get("spec") or {}
    claims = [it.get("metadata", {}).get("name") for it in spec.get("volumeClaimTemplates") or ()]
    yield from pod_problems(pod, "spec.template.spec", claims)
    if pod.get("activeDeadlineSeconds") is not None:
        where = "spec.template.spec.activeDeadlineSeconds"
        yield causes.forbidden(
            where, f"activeDeadlineSeconds in {document['kind']} is not Supported"
        )
    if pod.get("restartPolicy", "Always") not in restart and "containers" in pod:
        where = "spec.template.spec.restartPolicy"
        yield causes.unsupported(where, pod["restartPolicy"], restart)


def _deployment(document: Json) -> Iterator[Cause]:
    yield from _team(document)
    spec = document["spec"]
    strategy = spec["strategy"]
    if strategy["type"] not in (known := ("Recreate", "RollingUpdate")):
        yield causes.unsupported("spec.strategy", strategy["type"], known)
    if strategy["type"] == "Recreate" and strategy.get("rollingUpdate"):
        why = "may not be specified when strategy `type` is 'Recreate'"
        yield causes.forbidden("spec.strategy.rollingUpdate", why)
    how = strategy.get("rollingUpdate") or {}
    path = "spec.strategy.rollingUpdate"
    yield from _share_problems(how, "maxUnavailable", path, most=100)
    yield from _share_problems(how, "maxSurge", path)
    if {how.get("maxUnavailable"), how.get("maxSurge")} <= {0, "0", "0%"} and how:
        where = f"{path}.maxUnavailable"
        yield causes.invalid(where, how["maxUnavailable"], "may not be 0 when `maxSurge` is 0")
    if spec["progressDeadlineSeconds"] <= spec.get("minReadySeconds", 0):
        yield causes.invalid(
            "spec.progressDeadlineSeconds",
            spec["progressDeadlineSeconds"],
            "must be greater than minReadySeconds",
        )


def _stateful_set(document: Json) -> Iterator[Cause]:
    yield from _team(document)
    spec = document["spec"]
    for field, value, known in (
        ("podManagementPolicy", spec.get("podManagementPolicy"), ("OrderedReady", "Parallel")),
        ("updateStrategy", spec["updateStrategy"].get("type"), ("OnDelete", "RollingUpdate")),
    ):
        if value is not None and value not in known:
            why = f"must be '{known[0]}' or '{known[1]}'"
            yield causes.invalid(f"spec.{field}", value, why)
    yield from _update_problems(spec["updateStrategy"])
    yield from at_least_zero(spec.get("ordinals") or {}, "spec.ordinals", "start")
    if (name := spec.get("serviceName")) and (problem := naming.dns_label_problem(name)):
        yield causes.invalid("spec.serviceName", name, problem)
    for place, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        yield from _mold_problems(claim, place)
    keeping, path = spec["persistentVolumeClaimRetentionPolicy"], "spec.persistentVolumeClaim"
    for name in ("whenDeleted", "whenScaled"):
        yield from one_of(keeping, name, ("Retain", "Delete"), f"{path}RetentionPolicy")


def _mold_problems(claim: Json, place: int) -> Iterator[Cause]:
    """Look at what claims are made after; to their pods they are volumes."""
    yield from claim_problems(claim["spec"], f"spec.volumeClaimTemplates[{place}].spec")
    name, where = claim["metadata"].get("name", ""), f"spec.template.spec.volumes[{place}].name"
    if problem := naming.dns_label_problem(name):
        yield causes.invalid(where, name, problem) if name else causes.required(where)


def _update_problems(strategy: Json) -> Iterator[Cause]:
    how, path = strategy.get("rollingUpdate"), "spec.updateStrategy.rollingUpdate"
    if how and strategy.get("type") == "OnDelete":
        yield causes.invalid(path, how, "only allowed for updateStrategy 'RollingUpdate'")
    yield from at_least_zero(how or {}, path, "partition")


def _share_problems(part: Json, name: str, path: str, most: int | None = None) -> Iterator[Cause]:
    """Look at a number of pods, or a percentage of them."""
    amount, where = part.get(name), f"{path}.{name}"
    if isinstance(amount, int) and amount < 0:
        yield causes.invalid(where, amount, "must be greater than or equal to 0")
    elif isinstance(amount, str) and not _PERCENT.fullmatch(amount):
        yield causes.invalid(where, amount, "a percentage must be digits and a '%', as in '25%'")
    elif isinstance(amount, str) and most is not None and int(amount[:-1]) > most:
        yield causes.invalid(where, amount, f"must not be greater than {most}%")


def _budget(document: Json) -> Iterator[Cause]:
    spec = document.get("spec") or {}
    given = [name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None]
    if len(given) > 1:
        why = "minAvailable and maxUnavailable cannot be both set"
        yield causes.invalid("spec", spec, why)
    for name in given:
        yield from _share_problems(spec, name, "spec", most=100)
    policies = ("IfHealthyBudget", "AlwaysAllow")
    yield from one_of(spec, "unhealthyPodEvictionPolicy", policies, "spec")


def _claim(document: Json) -> Iterator[Cause]:
    yield from claim_problems(document["spec"], "spec")


def _data(document: Json) -> Iterator[Cause]:
    data, raw = document.get("data") or {}, document.get("binaryData") or {}
    for name, part in (("data", data), ("binaryData", raw)):
        for key in part:
            if problem := _key_problem(key):
                yield causes.invalid(f"{name}[{key}]", key, problem)
    for key in data.keys() & raw.keys():
        yield causes.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    if sum(len(value) for part in (data, raw) for value in part.values()) > _DATA_LIMIT:
        where = "data" if document["kind"] == "Secret" else "[]"  # so it is called there
        yield causes.too_long(where, f"may not be more than {_DATA_LIMIT} bytes")


def _secret(document: Json) -> Iterator[Cause]:
    yield from _data(document)
    data, kind = document.get("data") or {}, document.get("type", "")
    for name in _OF_SECRETS.get(kind, ()):
        if name not in data:
            yield causes.required(f"data[{name}]")
    if kind == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        yield causes.required("data[username]")
        yield causes.required("data[password]")
    if ".dockerconfigjson" in data and kind == "kubernetes.io/dockerconfigjson":
        try:
            json.loads(base64.b64decode(data[".dockerconfigjson"]))
        except ValueError as error:
            yield causes.invalid(
                "data[.dockerconfigjson]", "<secret contents redacted>", str(error)
            )
    account = "kubernetes.io/service-account.name"
    named = (document["metadata"].get("annotations") or {}).get(account)
    if kind == "kubernetes.io/service-account-token" and not named:
        yield causes.required(f"metadata.annotations[{account}]")


def _key_problem(key: str) -> str | None:
    """Say what keeps a key from being the name of a file."""
    if not _KEY.fullmatch(key):
        return "a key must be of letters, digits, '-', '_' and '.'"
    if key in {".", ".."}:
        return f"must not be '{key}'"
    return "must not start with '..'" if key.startswith("..") else None


def _storage_class(document: Json) -> Iterator[Cause]:
    if not document.get("provisioner"):
        yield causes.required("provisioner")
    if document["reclaimPolicy"] not in {"Delete", "Retain"}:
        options = ("Delete", "Retain")
        yield causes.unsupported("reclaimPolicy", document["reclaimPolicy"], options)
    modes = ("Immediate", "WaitForFirstConsumer")
    if document["volumeBindingMode"] not in modes:
        yield causes.unsupported("volumeBindingMode", document["volumeBindingMode"], modes)


def _role(document: Json) -> Iterator[Cause]:
    for place, rule in enumerate(document.get("rules") or ()):
        if not rule.get("verbs"):
            why = "verbs must contain at least one value"
            yield causes.required(f"rules[{place}].verbs", why)
        wanted = () if rule.get("nonResourceURLs") else ("apiGroups", "resources")
        if rule.get("nonResourceURLs"):
            yield from _url_problems(document, rule, f"rules[{place}].nonResourceURLs")
        for name in wanted:
            if not rule.get(name):
                why = "resource rules must supply at least one"
                yield causes.required(f"rules[{place}].{name}", why)


def _url_problems(document: Json, rule: Json, path: str) -> Iterator[Cause]:
    urls = rule["nonResourceURLs"]
    if document["metadata"].get("namespace"):
        yield causes.invalid(path, urls, "namespaced rules cannot apply to non-resource URLs")
    elif any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
        why = "rules cannot apply to both regular resources and non-resource URLs"
        yield causes.invalid(path, urls, why)


def _lease(document: Json) -> Iterator[Cause]:
    spec = document.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield causes.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from at_least_zero(spec, "spec", "leaseTransitions")


def _event(document: Json) -> Iterator[Cause]:
    involved = (document.get("involvedObject") or {}).get("namespace", "")
    mine = document["metadata"].get("namespace", "")
    # What happened to an object without a namespace is told in one of these.
    if mine not in ((involved,) if involved else ("default", "kube-system")):
        yield causes.invalid("involvedObject.namespace", involved, "does not match event.namespace")
    if document.get("eventTime"):
        for name in ("reportingComponent", "reportingInstance", "action"):
            if not document.get(name):
                yield causes.required(name)


_CHECKS: Final[dict[str, Callable[[Json], Iterable[Cause]]]] = {
    "pods": _pod,
    "services": service_problems,
    "events": _event,
    "configmaps": _data,
    "secrets": _secret,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": volume_problems,
    "deployments.apps": _deployment,
    "replicasets.apps": _team,
    "statefulsets.apps": _stateful_set,
    "jobs.batch": job_problems,
    "cronjobs.batch": cron_job_problems,
    "poddisruptionbudgets.policy": _budget,
    "leases.coordination.k8s.io": _lease,
    "storageclasses.storage.k8s.io": _storage_class,
    "endpointslices.discovery.k8s.io": endpoint_problems,
    f"roles.{_RBAC}": _role,
    f"clusterroles.{_RBAC}": _role,
    f"rolebindings.{_RBAC}": binding_problems,
    f"clusterrolebindings.{_RBAC}": binding_problems,
}
