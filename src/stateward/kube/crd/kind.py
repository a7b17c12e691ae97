"""The document that adds a kind to Kubernetes: names, versions, columns, subresources, schema.

Everything is checked before the document is handed out: what the API server would refuse stays
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from stateward.kube.codec import Json
from stateward.kube.crd import checks
from stateward.kube.crd.nodes import find
from stateward.kube.crd.problems import Problem, SchemaInvalid
from stateward.kube.crd.schema import schema_of
from stateward.kube.resources import Resource

ColumnType: TypeAlias = Literal["boolean", "date", "integer", "number", "string"]

_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_SELECTABLE: Final = frozenset({"boolean", "integer", "string"})
#: The API server takes no more.
_MOST_SELECTABLE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of ``kubectl get``; with a priority above 0, of ``kubectl get -o wide`` only."""

    name: str
    path: str
    type: ColumnType = "string"
    description: str = ""
    priority: int = 0
    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Where ``kubectl scale`` and autoscalers find the size of an object."""

    spec_path: str
    status_path: str
    selector_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a kind. Exactly one version of a kind is the one that is stored."""

    resource: Resource[Any]
    served: bool = True
    storage: bool = True
    #: Not empty: the version is deprecated, and everybody who uses it reads this.
    deprecation: str = ""
    columns: tuple[Column, ...] = ()
    scale: Scale | None = None
    #: Paths that field selectors may use.
    selectable: tuple[str, ...] = ()
    #: Limits on the names of objects, for kinds that make other names of theirs.
    name_pattern: str = ""
    name_max_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomKind:
    """A kind that we add to Kubernetes."""

    versions: tuple[Version, ...]
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def resource(self) -> Resource[Any]:
        """The resource of the version that is stored."""
        return next(version.resource for version in self.versions if version.storage)


def crd(kind: CustomKind) -> Json:
    """Return the CustomResourceDefinition; raise SchemaInvalid with everything that is wrong."""
    if found := tuple(_name_problems(kind)):
        raise SchemaInvalid(found)
    versions = [_version(version) for version in kind.versions]
    if found := tuple(_version_problems(kind, versions)):
        raise SchemaInvalid(found)
    resource = kind.resource
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.name},
        "spec": {
            "group": resource.group,
            "names": _names(kind),
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": versions,
        },
    }


# -------------------------------------------------------------------------------- the document


def _names(kind: CustomKind) -> Json:
    names: Json = {
        "kind": kind.resource.kind,
        "listKind": kind.list_kind or f"{kind.resource.kind}List",
        "plural": kind.resource.plural,
        "singular": kind.singular or kind.resource.kind.lower(),
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    if kind.categories:
        names["categories"] = list(kind.categories)
    return names


def _version(version: Version) -> Json:
    body: Json = {
        "name": version.resource.version,
        "served": version.served,
        "storage": version.storage,
    }
    if version.deprecation:
        body |= {"deprecated": True, "deprecationWarning": version.deprecation}
    if version.columns:
        body["additionalPrinterColumns"] = [_column(column) for column in version.columns]
    if version.selectable:
        body["selectableFields"] = [{"jsonPath": path} for path in version.selectable]
    if subresources := _subresources(version):
        body["subresources"] = subresources
    return body | {"schema": {"openAPIV3Schema": _schema(version)}}


def _column(column: Column) -> Json:
    body: Json = {"name": column.name, "type": column.type, "jsonPath": column.path}
    for key in ("description", "format", "priority"):
        if value := getattr(column, key):
            body[key] = value
    return body


def _subresources(version: Version) -> Json:
    body: Json = {"status": {}} if version.resource.has_status else {}
    if version.scale is not None:
        body["scale"] = {
            "specReplicasPath": version.scale.spec_path,
            "statusReplicasPath": version.scale.status_path,
        }
        if version.scale.selector_path:
            body["scale"]["labelSelectorPath"] = version.scale.selector_path
    return body


def _schema(version: Version) -> Json:
    schema = schema_of(version.resource.type)
    name: Json = {"pattern": version.name_pattern} if version.name_pattern else {}
    if version.name_max_length is not None:
        name["maxLength"] = version.name_max_length
    if name:
        schema["properties"]["metadata"] = {
            "type": "object",
            "properties": {"name": {"type": "string"} | name},
        }
    return schema


# -------------------------------------------------------------------------------- what may be wrong


def _name_problems(kind: CustomKind) -> Iterator[Problem]:
    if sum(version.storage for version in kind.versions) != 1:
        yield Problem("versions", "must have exactly one version that is stored")
        return
    yield from _unity_problems(kind)
    if "." not in kind.resource.group:
        yield Problem("group", f"must be a domain with a dot in it, not {kind.resource.group!r}")
    names = _names(kind)
    if names["kind"] == names["listKind"]:
        yield Problem("names.listKind", "must differ from the kind")
    single = (names["plural"], names["singular"], names["kind"].lower(), names["listKind"].lower())
    for name in (*single, *kind.short_names, *kind.categories):
        if not _LABEL.fullmatch(name):
            yield Problem("names", f"must be letters, digits and -, in lower case, not {name!r}")


def _unity_problems(kind: CustomKind) -> Iterator[Problem]:
    stored = kind.resource
    if len({version.resource.version for version in kind.versions}) < len(kind.versions):
        yield Problem("versions", "must have different names")
    for other in (version.resource for version in kind.versions):
        same = other.name == stored.name and other.kind == stored.kind
        if not same or other.namespaced != stored.namespaced:
            yield Problem("versions", f"must agree on names and scope, unlike {other.api_version}")


def _version_problems(kind: CustomKind, bodies: list[Json]) -> Iterator[Problem]:
    for version, body in zip(kind.versions, bodies, strict=True):
        schema = body["schema"]["openAPIV3Schema"]
        yield from checks.problems(schema)
        yield from _column_problems(version, schema)
        yield from _scale_problems(version, schema)
        yield from _selectable_problems(version, schema)


def _column_problems(version: Version, schema: Json) -> Iterator[Problem]:
    for column in version.columns:
        simple = column.path.partition("[")[0]  # a filter stands behind a list that must be there
        if not simple.startswith(".metadata.") and find(schema, simple) is None:
            yield Problem(f"column {column.name}", f"must show a field that is there, not {simple}")


def _scale_problems(version: Version, schema: Json) -> Iterator[Problem]:
    if (scale := version.scale) is None:
        return
    wanted = (
        (scale.spec_path, (".spec.",), "integer"),
        (scale.status_path, (".status.",), "integer"),
        (scale.selector_path, (".spec.", ".status."), "string"),
    )
    for path, places, type_ in wanted:
        if not path and type_ == "string":
            continue
        if not path.startswith(places) or (find(schema, path) or {}).get("type") != type_:
            yield Problem("scale", f"must point at an {type_} below {places[0]}, not at {path}")


def _selectable_problems(version: Version, schema: Json) -> Iterator[Problem]:
    if len(version.selectable) > _MOST_SELECTABLE:
        yield Problem("selectable", f"must be no more than {_MOST_SELECTABLE} paths")
    for path in version.selectable:
        type_ = (find(schema, path) or {}).get("type")
        if type_ not in _SELECTABLE or path.startswith(".metadata."):
            yield Problem("selectable", f"must point at a text, number or boolean, not at {path}")
