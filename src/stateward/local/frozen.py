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
_FREE_IN_SETS = {
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
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
    if any(was.get(name) != now.get(name) for name in (was | now).keys() - _FREE_IN_SETS):
        free = ", ".join(sorted(_FREE_IN_SETS))
        yield _forbidden("spec", f"updates to fields other than {free} are forbidden")


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
    free = {"volumeAttributesClassName"} | (set() if "volumeName" in was else {"volumeName"})
    if old.get("status", {}).get("phase") == "Bound":
        free.add("resources")
        if _storage(now) < _storage(was):
            yield _forbidden(
                "spec.resources.requests.storage", "field can not be less than previous value"
            )
    if any(was.get(name) != now.get(name) for name in (was | now).keys() - free):
        yield _forbidden("spec", "spec is immutable after creation except resources.requests")


def _pod(old: Json, new: Json) -> Iterator[Cause]:
    was, now = (_spec(it, _POD_DEFAULTS) for it in (old, new))
    deadlines = was.pop("activeDeadlineSeconds", None), now.pop("activeDeadlineSeconds", None)
    if deadlines[0] is not None and (deadlines[1] is None or deadlines[1] > deadlines[0]):
        yield _forbidden("spec.activeDeadlineSeconds", "must be less than or equal to before")
    tolerated, tolerates = was.pop("tolerations", []), now.pop("tolerations", [])
    if any(toleration not in tolerates for toleration in tolerated):
        yield _forbidden("spec.tolerations", "existing tolerations can not be modified")
    gates, open_gates = was.pop("schedulingGates", []), now.pop("schedulingGates", [])
    if any(gate not in gates for gate in open_gates):
        yield _forbidden("spec.schedulingGates", "gates may be removed, and none added")
    for name in ("containers", "initContainers"):
        before = was.get(name) or ()
        # How an image is pulled is decided once: another image does not change it.
        pulled = {one.get("name"): _pulled(one) for one in before}
        for spec in (was, now):
            spec[name] = [_imageless(one, pulled) for one in spec.get(name) or ()]
    if was != now:
        yield _forbidden(
            "spec", "pod updates may not change fields other than images, tolerations, deadline"
        )


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
    try:
        return Quantity.parse(spec["resources"]["requests"]["storage"])
    except (KeyError, TypeError, ValueError):
        return Quantity(0)


def _immutable(field: str) -> Cause:
    message = "Invalid value: field is immutable"
    return Cause(reason="FieldValueInvalid", message=message, field=field)


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
    "jobs.batch": _fixed("template", "selector", "completionMode", completionMode="NonIndexed"),
}
