"""What the definition of a custom kind must be like to be served."""

from __future__ import annotations

import re
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
_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    *("byte", "date", "date-time", "double", "float", "int32", "int64", "password"),
)
#: Parts of a webhook, and where they stood in the first version of definitions.
_OF_HOOKS: Final = {
    "clientConfig": "webhookClientConfig",
    "conversionReviewVersions": "conversionReviewVersions",
}
_SIMPLE: Final = "must be a simple json path starting with ."


def definition_problems(new: Json, old: Json | None) -> Iterator[Cause]:
    """Yield what is wrong with a definition, new or changed."""
    spec = new.get("spec") or {}
    yield from _name_problems(spec)
    yield from _versions_problems(spec)
    if old is None:
        yield from _whole_name_problems(new, spec)
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
            yield causes.required(
                where, f'protected groups must have approval annotation "{_APPROVED}"'
            )
        elif not said.startswith(("https://", "unapproved")):
            why = 'must be the URL of an approval, or begin with "unapproved"'
            yield causes.invalid(where, said, why)


def _name_problems(spec: Json) -> Iterator[Cause]:
    group, names = spec.get("group", ""), spec.get("names") or {}
    yield from _group_problems(group)
    if not spec.get("scope"):
        yield causes.required("spec.scope")
    else:
        yield from one_of(spec, "scope", ("Cluster", "Namespaced"), "spec")
    for name in ("plural", "singular", "kind", "listKind"):
        yield from _called_problems(names.get(name, ""), f"spec.names.{name}")
    for name in ("shortNames", "categories"):
        for place, one in enumerate(names.get(name) or ()):
            yield from _called_problems(one, f"spec.names.{name}[{place}]")
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        why = "kind and listKind may not be the same"
        yield causes.invalid("spec.names.listKind", names["listKind"], why)


def _called_problems(name: str, where: str) -> Iterator[Cause]:
    """Yield what is wrong with a name of a kind; kinds may have capitals."""
    bare = name.lower() if where.lower().endswith("kind") else name
    if not name:
        yield causes.required(where)
    elif problem := naming.dns_label_problem(bare):
        yield causes.invalid(where, name, problem)


def _whole_name_problems(new: Json, spec: Json) -> Iterator[Cause]:
    name, plural = new["metadata"]["name"], (spec.get("names") or {}).get("plural", "")
    if name != f"{plural}.{spec.get('group', '')}":
        yield causes.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _group_problems(group: str) -> Iterator[Cause]:
    if not group:
        yield causes.required("spec.group")
    elif problem := naming.dns_subdomain_problem(group):
        yield causes.invalid("spec.group", group, problem)
    elif "." not in group:
        yield causes.invalid("spec.group", group, "should be a domain with at least one dot")


def _versions_problems(spec: Json) -> Iterator[Cause]:
    versions = spec.get("versions") or []
    names = [version.get("name", "") for version in versions]
    yield from _storage_problems(versions, names)
    if spec.get("preserveUnknownFields"):
        why = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
            " spec.versions[*].schema instead"
        )
        yield causes.invalid("spec.preserveUnknownFields", True, why)  # noqa: FBT003 - the value
    for place, name in enumerate(names):
        if not _VERSION.fullmatch(name):
            why = "must be a DNS label such as v1 or v1beta2"
            yield causes.invalid(f"spec.versions[{place}].name", name, why)
    yield from _parts_problems(versions)
    yield from _schemas_problems(versions)
    yield from _conversion_problems(spec.get("conversion") or {})


def _conversion_problems(conversion: Json) -> Iterator[Cause]:
    """Yield what is wrong with how versions become each other: here nobody can be asked to."""
    if (strategy := conversion.get("strategy", "None")) != "None":
        yield causes.unsupported("spec.conversion.strategy", strategy, ("None",))
    elif hook := conversion.get("webhook"):
        for name, of_old in _OF_HOOKS.items():
            if hook.get(name):
                why = "should not be set when strategy is not set to Webhook"
                yield causes.forbidden(f"spec.conversion.{of_old}", why)


def _storage_problems(versions: list[Json], names: list[str]) -> Iterator[Cause]:
    stored = [version.get("name", "") for version in versions if version.get("storage")]
    if len(set(names)) != len(names):
        yield causes.invalid("spec.versions", names, "must contain unique version names")
    if len(stored) != 1:
        why = "must have exactly one version marked as storage version"
        yield causes.invalid("spec.versions", names, why)
    if not stored:
        why = "must have at least one stored version"
        yield causes.invalid("status.storedVersions", None, why)
    elif len(stored) > 1:
        why = f"must have the storage version {stored[-1]}"
        yield causes.invalid("status.storedVersions", stored[:1], why)


def _parts_problems(versions: list[Json]) -> Iterator[Cause]:
    """Yield what is wrong beside the schemas; what all versions share is told once, as of old."""
    for part, problems in _PARTS.items():
        parts = [version.get(part) for version in versions]
        is_shared = all(it == parts[0] for it in parts)
        for place, version in enumerate(versions[:1] if is_shared else versions):
            where = f"spec.{part}" if is_shared else f"spec.versions[{place}].{part}"
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            yield from problems(version.get(part), schema, where)


def _schemas_problems(versions: list[Json]) -> Iterator[Cause]:
    """Yield what is wrong with the schemas; what all versions share is told once, as of old."""
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions]
    if schemas and schemas[0] is not None and all(schema == schemas[0] for schema in schemas):
        yield from schema_problems(schemas[0], "spec.validation.openAPIV3Schema")
        return
    for place, schema in enumerate(schemas):
        path = f"spec.versions[{place}].schema.openAPIV3Schema"
        if schema is None:
            yield causes.required(path, "schemas are required")
        else:
            yield from schema_problems(schema, path)


def _subresources_problems(found: Any, _: Json, where: str) -> Iterator[Cause]:
    scale = (found or {}).get("scale")
    if scale is None:
        return
    for name, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        given, path = scale.get(name, ""), f"{where}.scale.{name}"
        if not given:
            yield causes.required(path)
        elif not given.startswith("."):
            yield causes.invalid(path, given, _SIMPLE)
        elif not given.startswith(root) or given == root:
            yield causes.invalid(path, given, f"should be a json path under {root[:-1]}")
    selector = scale.get("labelSelectorPath") or ""
    if selector and not selector.startswith((".spec.", ".status.")):
        why = "should be a json path under either .spec or .status"
        yield causes.invalid(f"{where}.scale.labelSelectorPath", selector, why)


def _columns_problems(found: Any, _: Json, path: str) -> Iterator[Cause]:
    for place, column in enumerate(found or ()):
        where, kind = f"{path}[{place}]", column.get("type", "")
        if not column.get("name"):
            yield causes.required(f"{where}.name")
        if not kind:
            yield causes.required(f"{where}.type", _one_of(_COLUMN_TYPES))
        elif kind not in _COLUMN_TYPES:
            yield causes.invalid(f"{where}.type", kind, _one_of(_COLUMN_TYPES))
        if (form := column.get("format")) and form not in _COLUMN_FORMATS:
            yield causes.invalid(f"{where}.format", form, _one_of(_COLUMN_FORMATS))
        given = column.get("jsonPath", "")
        if not given:
            yield causes.required(f"{where}.JSONPath")
        elif not given.startswith("."):
            yield causes.invalid(f"{where}.JSONPath", given, _SIMPLE)


def _one_of(options: tuple[str, ...]) -> str:
    return f"must be one of {','.join(options)}"


def _selectable_problems(found: Any, schema: Json, where: str) -> Iterator[Cause]:
    before: set[str] = set()
    for place, chosen in enumerate(found or ()):
        given, path = chosen.get("jsonPath", ""), f"{where}[{place}].jsonPath"
        if given in before:
            yield causes.duplicate(path, given)
        else:
            yield from _selection_problems(given, schema, path)
        before.add(given)


def _selection_problems(given: str, schema: Json, where: str) -> Iterator[Cause]:
    """Yield why objects cannot be selected by a field: it must be one plain value."""
    if not given:
        yield causes.required(where)
    elif "[" in given:
        yield causes.invalid(where, given, "is an invalid path: array notation is not allowed")
    elif not given.startswith("."):
        yield causes.invalid(where, given, "is an invalid path: expected [ or . at its beginning")
    elif (field := _field(schema, given)) is None or given.startswith(".metadata"):
        yield causes.invalid(where, given, "is an invalid path: does not refer to a valid field")
    elif field.get("type") not in {"string", "boolean", "integer"}:
        why = "must point to a field of type string, boolean or integer"
        yield causes.invalid(where, given, why)


#: What a version says beside its schema, and who knows what is wrong with it.
_PARTS: Final = {
    "subresources": _subresources_problems,
    "additionalPrinterColumns": _columns_problems,
    "selectableFields": _selectable_problems,
}


def _field(schema: Json, path: str) -> Json | None:
    """Return what a schema says of a field, or None."""
    found: Any = schema
    for name in path.removeprefix(".").split("."):
        fields = found.get("properties") if isinstance(found, dict) else None
        found = fields.get(name) if isinstance(fields, dict) else None
    return found if isinstance(found, dict) else None


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
