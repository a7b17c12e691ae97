"""What of a built-in kind is decided when it is made, and may not be said otherwise later.

Where Kubernetes fills in defaults, leaving a field out and writing its default is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.errors import Cause

#: Given an object before and after, says what may not be.
Rule: TypeAlias = Callable[[Json, Json], Iterable[Cause]]

#: All that may change in the spec of a StatefulSet.
_FREE_IN_SETS = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
#: All that may change in the spec of a pod, as Kubernetes says it.
_FREE_IN_PODS = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_CONTAINERS = ("initContainers", "containers")
_DEADLINE = "activeDeadlineSeconds"
#: What may change in a Job that has not begun.
_PLACING = {"nodeSelector", "affinity", "tolerations", "schedulingGates"}
_LABELLING = {"labels", "annotations"}
#: What the spec of a volume says beside where its data are.
BESIDE_SOURCE = {
    *("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName"),
    *("mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName"),
}
_POD_DEFAULTS: Json = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
    "serviceAccount": "default",
    "serviceAccountName": "default",
}
_CONTAINER_DEFAULTS: Json = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def rule_of(resource: str) -> Rule:
    """Return what holds for a built-in resource."""
    return _RULES.get(resource, anything_goes)


def anything_goes(_old: Json, _new: Json) -> tuple[Cause, ...]:
    """Say that nothing is wrong."""
    return ()


def _stateful_set(old: Json, new: Json) -> Iterator[Cause]:
    was, now = (_spec(it, {"podManagementPolicy": "OrderedReady"}) for it in (old, new))
    if any(was.get(name) != now.get(name) for name in (was | now).keys() - {*_FREE_IN_SETS}):
        *most, last = (f"'{name}'" for name in _FREE_IN_SETS)
        free = f"{', '.join(most)} and {last}"
        why = f"updates to statefulset spec for fields other than {free} are forbidden"
        yield _forbidden("spec", why)


def _fixed(*names: str, **defaults: Any) -> Rule:
    """Return the rule that some fields of the spec stay as they are."""

    def rule(old: Json, new: Json) -> Iterator[Cause]:
        was, now = (_spec(it, defaults) for it in (old, new))
        for name in names:
            if was.get(name) != now.get(name):
                yield _immutable(f"spec.{name}")

    return rule


def _freezable(old: Json, new: Json) -> Iterator[Cause]:
    """Look after ConfigMaps and Secrets, which can be made to stay as they are."""
    if old.get("immutable"):
        for name in ("immutable", "data", "binaryData"):
            if (old.get(name) or {}) != (new.get(name) or {}):
                yield _forbidden(name, "field is immutable when `immutable` is set")


def _secret(old: Json, new: Json) -> Iterator[Cause]:
    yield from _freezable(old, new)
    if old.get("type", "Opaque") != new.get("type", "Opaque"):
        yield _immutable("type")


def _volume_claim(old: Json, new: Json) -> Iterator[Cause]:
    was, now = (_spec(it, {"volumeMode": "Filesystem"}) for it in (old, new))
    free = {"volumeAttributesClassName"}
    free |= {name for name in ("volumeName", "storageClassName") if name not in was}
    if old.get("status", {}).get("phase") == "Bound":
        free.add("resources")
        capacity = _amount((old["status"].get("capacity") or {}).get("storage"))
        if _storage(now) < min(_storage(was), capacity or _storage(was)):
            why = "field can not be less than status.capacity"
            yield _forbidden("spec.resources.requests.storage", why)
    if any(was.get(name) != now.get(name) for name in (was | now).keys() - free):
        some = "resources.requests and volumeAttributesClassName for bound claims"
        yield _forbidden("spec", f"spec is immutable after creation except {some}")


def _pod(old: Json, new: Json) -> Iterator[Cause]:
    was, now = (_spec(it, _POD_DEFAULTS) for it in (old, new))
    if changed := [it for it in _CONTAINERS if _count(was, it) != _count(now, it)]:
        why = "pod updates may not add or remove containers"
        yield from (_forbidden(f"spec.{name}", why) for name in changed)
        return
    yield from _deadline(was.pop(_DEADLINE, None), now.pop(_DEADLINE, None))
    tolerated, tolerates = (
        [_lasting(it) for it in spec.pop("tolerations", [])] for spec in (was, now)
    )
    if any(toleration not in tolerates for toleration in tolerated):
        why = "existing toleration can not be modified except its tolerationSeconds"
        yield _forbidden("spec.tolerations", why)
    yield from _gates(was.pop("schedulingGates", []), now.pop("schedulingGates", []))
    for name in _CONTAINERS:
        before = was.get(name) or ()
        # How an image is pulled is decided once: another image does not change it.
        pulled = {one.get("name"): _pulled(one) for one in before}
        for spec in (was, now):
            spec[name] = [_imageless(one, pulled) for one in spec.get(name) or ()]
    if was != now:
        yield _forbidden("spec", f"pod updates may not change fields other than {_FREE_IN_PODS}")


def _count(spec: Json, name: str) -> int:
    return len(spec.get(name) or ())


def _deadline(was: int | None, now: int | None) -> Iterator[Cause]:
    if was is not None and now is None:
        yield _invalid(f"spec.{_DEADLINE}", "must not update from a positive integer to nil value")
    elif was is not None and now is not None and now > was:
        yield _invalid(f"spec.{_DEADLINE}", "must be less than or equal to previous value")


def _lasting(toleration: Json) -> Json:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _gates(was: list[Json], now: list[Json]) -> Iterator[Cause]:
    for place, gate in enumerate(now):
        if gate not in was:
            why = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield _forbidden(f"spec.schedulingGates[{place}].name", why)


def _pulled(container: Json) -> str:
    tag = container.get("image", "").rpartition("/")[2].partition(":")[2]
    return "Always" if tag in {"", "latest"} else "IfNotPresent"


def _imageless(container: Json, pulled: dict[str, str]) -> Json:
    policy = pulled.get(container.get("name", ""))
    plain = _plainly(container, _CONTAINER_DEFAULTS | {"imagePullPolicy": policy})
    return {name: value for name, value in plain.items() if name != "image"}


def _spec(document: Json, defaults: Json) -> Json:
    return _plainly(document.get("spec") or {}, defaults)


def _plainly(part: Json, defaults: Json) -> Json:
    """Return what was really said: neither empty nor the default."""
    return {
        name: value
        for name, value in part.items()
        if value not in _EMPTY and value != defaults.get(name)
    }


def _storage(spec: Json) -> Quantity:
    resources = spec.get("resources") or {}
    return _amount((resources.get("requests") or {}).get("storage")) or Quantity(0)


def _amount(text: Any) -> Quantity | None:
    try:
        return Quantity.parse(text)
    except (TypeError, ValueError):
        return None


def _service(old: Json, new: Json) -> Iterator[Cause]:
    was, now = old.get("spec") or {}, new.get("spec") or {}
    external = "ExternalName" in {was.get("type"), now.get("type")}
    if not external and was.get("clusterIP", "") != now.get("clusterIP", ""):
        yield _invalid("spec.clusterIPs[0]", "may not change once set")


def _storage_class(old: Json, new: Json) -> Iterator[Cause]:
    for name in ("provisioner", "parameters", "reclaimPolicy"):
        if (old.get(name) or {}) != (new.get(name) or {}):
            yield _forbidden(name, f"updates to {name} are forbidden.")
    if old.get("volumeBindingMode") != new.get("volumeBindingMode"):
        yield _immutable("volumeBindingMode")


def _volume(old: Json, new: Json) -> Iterator[Cause]:
    was, now = old.get("spec") or {}, new.get("spec") or {}
    if any(was.get(name) != now.get(name) for name in (was | now).keys() - BESIDE_SOURCE):
        field = "spec.persistentvolumesource"
        yield _forbidden(field, f"{field} is immutable after creation")
    if was.get("volumeMode") != now.get("volumeMode"):
        yield _immutable("volumeMode")


def _whole(name: str, why: str = "field is immutable") -> Rule:
    """Return the rule that a part of an object stays as it is."""

    def rule(old: Json, new: Json) -> Iterator[Cause]:
        if old.get(name) != new.get(name):
            yield _invalid(name, why)

    return rule


def _job(old: Json, new: Json) -> Iterator[Cause]:
    yield from _fixed("selector", "completionMode", completionMode="NonIndexed")(old, new)
    was, now = (_spec(it, {}) for it in (old, new))
    if now.get("completionMode") != "Indexed" and was.get("completions") != now.get("completions"):
        yield _immutable("spec.completions")
    waits = was.get("suspend") and not (old.get("status") or {}).get("startTime")
    before, after = (_work(it, placing=bool(waits)) for it in (was, now))
    if before != after:
        yield _immutable("spec.template")


def _work(spec: Json, *, placing: bool) -> Json:
    """Return a template of pods; where it may still be placed elsewhere, without what places it."""
    template: Json = spec.get("template") or {}
    if not placing:
        return template
    pod = {k: v for k, v in (template.get("spec") or {}).items() if k not in _PLACING}
    meta = {k: v for k, v in (template.get("metadata") or {}).items() if k not in _LABELLING}
    return template | {"metadata": meta, "spec": pod}


def _immutable(field: str) -> Cause:
    return _invalid(field, "field is immutable")


def _invalid(field: str, message: str) -> Cause:
    return Cause(reason="FieldValueInvalid", message=f"Invalid value: {message}", field=field)


def _forbidden(field: str, message: str) -> Cause:
    return Cause(reason="FieldValueForbidden", message=f"Forbidden: {message}", field=field)


_RULES: dict[str, Rule] = {
    "pods": _pod,
    "persistentvolumeclaims": _volume_claim,
    "configmaps": _freezable,
    "secrets": _secret,
    "statefulsets.apps": _stateful_set,
    "deployments.apps": _fixed("selector"),
    "replicasets.apps": _fixed("selector"),
    "daemonsets.apps": _fixed("selector"),
    "controllerrevisions.apps": _whole("data"),
    "endpointslices.discovery.k8s.io": _whole("addressType"),
    "jobs.batch": _job,
    "persistentvolumes": _volume,
    "rolebindings.rbac.authorization.k8s.io": _whole("roleRef", "cannot change roleRef"),
    "clusterrolebindings.rbac.authorization.k8s.io": _whole("roleRef", "cannot change roleRef"),
    "services": _service,
    "storageclasses.storage.k8s.io": _storage_class,
}
