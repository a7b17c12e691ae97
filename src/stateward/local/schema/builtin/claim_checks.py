"""What makes no sense in a claim of a volume, or in a volume."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core import naming
from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.frozen import BESIDE_SOURCE
from stateward.local.schema import causes
from stateward.local.schema.builtin.pod_checks import one_of

_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def claim_problems(spec: Json, path: str) -> Iterator[Cause]:
    """Yield what is wrong with what a claim asks for."""
    yield from _modes_problems(spec, path)
    size = (spec["resources"].get("requests") or {}).get("storage")
    if size is None:
        yield causes.required(f"{path}.resources[storage]")
    elif Quantity.parse(str(size)).nano <= 0:
        yield causes.invalid(f"{path}.resources[storage]", size, "must be greater than zero")
    yield from one_of(spec, "volumeMode", ("Block", "Filesystem"), path)
    if (name := spec.get("storageClassName")) and (problem := naming.dns_subdomain_problem(name)):
        yield causes.invalid(f"{path}.storageClassName", name, problem)


def volume_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a volume."""
    spec = document["spec"]
    yield from _modes_problems(spec, "spec")
    if "storage" not in (spec.get("capacity") or {}):
        yield causes.required("spec.capacity")
    if not spec.keys() - BESIDE_SOURCE:
        yield causes.required("spec", "must specify a volume type")
    policies = ("Delete", "Recycle", "Retain")
    yield from one_of(spec, "persistentVolumeReclaimPolicy", policies, "spec")


def _modes_problems(spec: Json, path: str) -> Iterator[Cause]:
    modes, where = spec.get("accessModes") or [], f"{path}.accessModes"
    if not modes:
        yield causes.required(where, "at least 1 access mode is required")
    for mode in modes:
        if mode not in _MODES:
            yield causes.unsupported(where, mode, _MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield causes.forbidden(where, "may not use ReadWriteOncePod with other access modes")
