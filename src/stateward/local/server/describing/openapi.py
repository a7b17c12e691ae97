"""OpenAPI 3 documents: enough for ``kubectl explain`` and for clients that check before they write.

One document for each group and version, made when first asked for and kept until its kinds change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from stateward.kube import schemas
from stateward.kube.codec import Json, encode
from stateward.local.kinds import Kind, Kinds
from stateward.local.server.describing.discovery import priority

_PREFIX: Final = "#/components/schemas/"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_PATCHES: Final = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_STRATEGIC: Final = "application/strategic-merge-patch+json"


class OpenApi:
    """The documents of all versions of all groups."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._made: dict[str, tuple[tuple[Kind, ...], bytes]] = {}

    def index(self) -> Json:
        """Return where the documents are; an address names what is in the document."""
        paths = {}
        for place in self._places():
            text = self.document(place)
            digest = hashlib.sha256(text or b"").hexdigest().upper()
            paths[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={digest}"}
        return {"paths": paths}

    def document(self, place: str) -> bytes | None:
        """Return the document of ``api/v1`` or ``apis/group/version``; None: no such place."""
        kinds = self._places().get(place)
        if kinds is None:
            return None
        made = self._made.get(place)
        # Documents are many and large; kinds are few, and a changed one is another object.
        if made is None or [*map(id, made[0])] != [*map(id, kinds)]:
            made = self._made[place] = (tuple(kinds), encode(_document(kinds)))
        return made[1]

    def _places(self) -> dict[str, list[Kind]]:
        found: dict[str, list[Kind]] = {}
        for kind in sorted(self._kinds, key=lambda it: (it.resource.group, _rank(it))):
            resource = kind.resource
            root = f"apis/{resource.group}" if resource.group else "api"
            found.setdefault(f"{root}/{resource.version}", []).append(kind)
        return found


def _rank(kind: Kind) -> tuple[int, ...]:
    return tuple(-number for number in priority(kind.resource.version))


def _document(kinds: list[Kind]) -> Json:
    described = {_schema_name(kind): _schema_of(kind) for kind in kinds}
    wanted = {name for schema in described.values() for name in _mentioned(schema)}
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": f"v{schemas.vendored().kubernetes}"},
        "paths": dict(path for kind in kinds for path in _paths(kind)),
        "components": {"schemas": _closure(wanted) | described},
    }


def _schema_name(kind: Kind) -> str:
    resource = kind.resource
    known = schemas.name_of_kind(resource.group, resource.version, resource.kind)
    if kind.schema is None and known is not None:
        return known
    group = ".".join(reversed(resource.group.split("."))) if resource.group else "core"
    return f"{group}.{resource.version}.{resource.kind}"


def _schema_of(kind: Kind) -> Json:
    resource = kind.resource
    known = schemas.name_of_kind(resource.group, resource.version, resource.kind)
    if kind.schema is None and known is not None:
        schema: Json = _rewritten(schemas.definitions()[known])
    else:
        schema = _custom_schema(kind.schema or {"type": "object"})
    return schema | {"x-kubernetes-group-version-kind": [_gvk(kind)]}


def _custom_schema(schema: Json) -> Json:
    head = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"allOf": [{"$ref": _PREFIX + _META}]},
    }
    return schema | {"properties": (schema.get("properties") or {}) | head}


def _gvk(kind: Kind) -> Json:
    resource = kind.resource
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _rewritten(schema: Any) -> Any:
    """Return a schema whose references are those of OpenAPI; nothing else may stand beside one."""
    if isinstance(schema, list):
        return [_rewritten(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _rewritten(value) for name, value in schema.items() if name != "$ref"}
    if not isinstance(schema.get("$ref"), str):
        return found | ({"$ref": found["$ref"]} if "$ref" in found else {})
    reference = {"$ref": _PREFIX + schema["$ref"]}
    return found | {"allOf": [reference]} if found else reference


def _mentioned(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(_PREFIX)
        for value in schema.values():
            yield from _mentioned(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _mentioned(value)


def _closure(names: Iterable[str]) -> Json:
    """Return the definitions of these names, and of all that they mention."""
    found: Json = {}
    open_ = list(names)
    while open_:
        name = open_.pop()
        if name not in found and name in schemas.definitions():
            found[name] = _rewritten(schemas.definitions()[name])
            open_ += _mentioned(found[name])
    return found


def _paths(kind: Kind) -> Iterator[tuple[str, Json]]:
    resource = kind.resource
    namespace = "{namespace}" if resource.namespaced else ""
    root = f"/apis/{resource.group}" if resource.group else "/api"
    place = f"{root}/{resource.version}"
    within = f"{place}/namespaces/{namespace}" if namespace else place
    schema = {"schema": {"$ref": _PREFIX + _schema_name(kind)}}
    get = _operation(kind, "list", [], None)
    if namespace:
        yield f"{place}/{resource.plural}", {"get": get}
    yield (
        f"{within}/{resource.plural}",
        {"get": get, "post": _operation(kind, "post", _WRITING, {"application/json": schema})},
    )
    yield (
        f"{within}/{resource.plural}/{{name}}",
        {
            "get": _operation(kind, "get", [], None),
            "put": _operation(kind, "put", _WRITING, {"application/json": schema}),
            "patch": _operation(kind, "patch", [*_WRITING, "force"], _patches(kind)),
            "delete": _operation(kind, "delete", ["dryRun", "propagationPolicy"], None),
        },
    )


_WRITING: Final = ["dryRun", "fieldManager", "fieldValidation"]


def _patches(kind: Kind) -> Json:
    kinds = (*_PATCHES, _STRATEGIC) if kind.built_in else _PATCHES
    return {it: {"schema": {"type": "object"}} for it in kinds}


def _operation(kind: Kind, action: str, query: list[str], content: Json | None) -> Json:
    operation: Json = {
        "parameters": [{"name": it, "in": "query", "schema": {"type": "string"}} for it in query],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": _gvk(kind),
    }
    return operation | ({"requestBody": {"content": content}} if content else {})
