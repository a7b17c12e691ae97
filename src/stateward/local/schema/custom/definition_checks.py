"""What the definition of a custom kind must be like to be served."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.catalog import SERVED
from stateward.local.schema import causes
from stateward.local.schema.builtin.pod_checks import one_of
from stateward.local.schema.custom.schema_checks import schema_problems

_VERSION: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_TRUTHS: Final = ("True", "False", "Unknown")
#: Groups that are Kubernetes' own.
_PROTECTED: Final = re.compile(r"(^|\.)(k8s|kubernetes)\.io$")
_APPROVED: Final = "api-approved.kubernetes.io"
_BUILT_IN: Final = frozenset(resource.name for resource in SERVED)
_COLUMN_TYPES: Final = ("integer", "number", "string", "boolean", "date")


def definition_problems(new: Json, old: Json | None) -> Iterator[Cause]:
    """Yield what is wrong with a definition, new or changed."""
    spec = new.get("spec") or {}
    yield from _name_problems(new, spec)
    yield from _versions_problems(spec)
    if old is None:
        yield from _protected_problems(new, spec)
    else:
        yield from _frozen_problems(old, new)


def status_problems(new: Json) -> Iterator[Cause]:
    """Yield what is wrong with what somebody says of a definition's state."""
    for place, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        for name in ("type", "status"):
            if not condition.get(name):
                yield causes.required(f"status.conditions[{place}].{name}")
        yield from one_of(condition, "status", _TRUTHS, f"status.conditions[{place}]")


def _protected_problems(new: Json, spec: Json) -> Iterator[Cause]:
    """Yield why a definition may not have its group: it is Kubernetes' own, or even the kind is."""
    group, plural = spec.get("group", ""), (spec.get("names") or {}).get("plural", "")
    if f"{plural}.{group}" in _BUILT_IN:
        why = f"{plural}.{group} is a resource of Kubernetes itself"
        yield causes.invalid("spec.names.plural", plural, why)
    if _PROTECTED.search(group):
        said = (new["metadata"].get("annotations") or {}).get(_APPROVED, "")
        where = f"metadata.annotations[{_APPROVED}]"
        if not said:
            why = f'protected groups must have approval annotation "{_APPROVED}"'
            yield causes.required(where, why)
        elif not said.startswith(("https://", "unapproved")):
            why = 'must be the URL of an approval, or begin with "unapproved"'
            yield causes.invalid(where, said, why)


def _name_problems(new: Json, spec: Json) -> Iterator[Cause]:
    group, names = spec.get("group", ""), spec.get("names") or {}
    yield from _group_problems(group)
    if not spec.get("scope"):
        yield causes.required("spec.scope")
    yield from one_of(spec, "scope", ("Cluster", "Namespaced"), "spec")
    for name in ("plural", "kind"):
        if not names.get(name):
            yield causes.required(f"spec.names.{name}")
        elif problem := naming.dns_label_problem(names[name].lower()):
            yield causes.invalid(f"spec.names.{name}", names[name], problem)
    wanted = f"{names.get('plural', '')}.{group}"
    if new["metadata"]["name"] != wanted:
        why = f'must be spec.names.plural+"."+spec.group, which is {wanted!r}'
        yield causes.invalid("metadata.name", new["metadata"]["name"], why)


def _group_problems(group: str) -> Iterator[Cause]:
    if not group:
        yield causes.required("spec.group")
    elif problem := naming.dns_subdomain_problem(group):
        yield causes.invalid("spec.group", group, problem)
    elif "." not in group:
        yield causes.invalid("spec.group", group, "should be a domain with at least one dot")


def _versions_problems(spec: Json) -> Iterator[Cause]:
    versions = spec.get("versions") or []
    if not versions:
        yield causes.required("spec.versions", "must have at least one version")
        return
    if sum(1 for version in versions if version.get("storage")) != 1:
        why = "must have exactly one version marked as storage version"
        yield causes.invalid("spec.versions", [v.get("name") for v in versions], why)
    if spec.get("preserveUnknownFields"):
        why = "must be false: set x-kubernetes-preserve-unknown-fields in the schema instead"
        yield causes.invalid("spec.preserveUnknownFields", True, why)  # noqa: FBT003 - the value
    times = Counter(version.get("name") for version in versions)
    for place, version in enumerate(versions):
        where, name = f"spec.versions[{place}]", version.get("name", "")
        if not _VERSION.fullmatch(name):
            yield causes.invalid(f"{where}.name", name, "must be a DNS label such as v1 or v1beta2")
        elif times[name] > 1:
            yield causes.duplicate(f"{where}.name", name)
        yield from _version_problems(version, where)
    yield from _schemas_problems(versions)
    if (spec.get("conversion") or {}).get("strategy", "None") != "None":
        yield causes.unsupported("spec.conversion.strategy", spec["conversion"], ("None",))


def _schemas_problems(versions: list[Json]) -> Iterator[Cause]:
    """Yield what is wrong with the schemas; what all versions share is told once, as of old."""
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions]
    if schemas[0] is not None and all(schema == schemas[0] for schema in schemas):
        yield from schema_problems(schemas[0], "spec.validation.openAPIV3Schema")
        return
    for place, schema in enumerate(schemas):
        path = f"spec.versions[{place}].schema.openAPIV3Schema"
        if schema is None:
            yield causes.required(path, "schemas are required")
        else:
            yield from schema_problems(schema, path)


def _version_problems(version: Json, path: str) -> Iterator[Cause]:
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    if scale := (version.get("subresources") or {}).get("scale"):
        yield from _scale_problems(scale, schema, f"{path}.subresources.scale")
    for place, column in enumerate(version.get("additionalPrinterColumns") or ()):
        where = f"{path}.additionalPrinterColumns[{place}]"
        for name in ("name", "jsonPath", "type"):
            if not column.get(name):
                yield causes.required(f"{where}.{name}")
        yield from _path_problems(column.get("jsonPath", ""), f"{where}.jsonPath")
        yield from one_of(column, "type", _COLUMN_TYPES, where)
    for place, chosen in enumerate(version.get("selectableFields") or ()):
        where = f"{path}.selectableFields[{place}].jsonPath"
        yield from _selectable_problems(chosen.get("jsonPath", ""), schema, where)


def _path_problems(given: str, where: str) -> Iterator[Cause]:
    if given and not given.startswith("."):
        yield causes.invalid(where, given, "must be a simple json path starting with .")


def _selectable_problems(given: str, schema: Json, where: str) -> Iterator[Cause]:
    """Yield why objects cannot be selected by a field: it must be one plain value."""
    if not given:
        yield causes.required(where)
    elif "[" in given:
        yield causes.invalid(where, given, "is an invalid path: array notation is not allowed")
    elif not given.startswith("."):
        yield causes.invalid(where, given, f"is an invalid path: expected . but got: {given[0]}")
    elif (field := _field(schema, given)) is None or given.startswith(".metadata"):
        yield causes.invalid(where, given, "is an invalid path: does not refer to a valid field")
    elif field.get("type") not in {"string", "boolean", "integer"}:
        why = "must point to a field of type string, boolean or integer"
        yield causes.invalid(where, given, why)


def _field(schema: Json, path: str) -> Json | None:
    """Return what a schema says of a field, or None."""
    found: Any = schema
    for name in path.removeprefix(".").split("."):
        fields = found.get("properties") if isinstance(found, dict) else None
        found = fields.get(name) if isinstance(fields, dict) else None
    return found if isinstance(found, dict) else None


def _scale_problems(scale: Json, schema: Json, path: str) -> Iterator[Cause]:
    for name, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        given, where = scale.get(name, ""), f"{path}.{name}"
        if not given:
            yield causes.required(where)
        elif not given.startswith(root) or given == root or "[" in given:
            yield causes.invalid(where, given, f"should be a json path under {root[:-1]}")
        elif (_field(schema, given) or {}).get("type", "integer") != "integer":
            yield causes.invalid(where, given, "must point to a field of type integer")
    selector = scale.get("labelSelectorPath") or ""
    if selector and not selector.startswith((".spec.", ".status.")):
        why = "should be a json path under either .spec or .status"
        yield causes.invalid(f"{path}.labelSelectorPath", selector, why)


def _frozen_problems(old: Json, new: Json) -> Iterator[Cause]:
    was, now = old.get("spec") or {}, new.get("spec") or {}
    for name in ("group", "scope"):
        if was.get(name) != now.get(name):
            yield causes.invalid(f"spec.{name}", now.get(name), "field is immutable")
    for name in ("plural", "kind"):
        before, after = (part.get("names", {}).get(name) for part in (was, now))
        if before != after:
            yield causes.invalid(f"spec.names.{name}", after, "field is immutable")
    versions = {version.get("name") for version in now.get("versions") or ()}
    for place, name in enumerate((new.get("status") or {}).get("storedVersions") or ()):
        if name not in versions:
            where = f"status.storedVersions[{place}]"
            why = "missing from spec.versions, and objects may still be stored in it"
            yield causes.invalid(where, name, why)
