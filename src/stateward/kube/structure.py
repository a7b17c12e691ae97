"""How the parts of an object merge: what server-side apply and merge patches ask of a schema.

A structure is a view of a schema. It says of every place in an object whether the value there
merges field by field, key by key or item by item, or is replaced whole. Children are made when
they are first asked for and then kept: a pod is large, and some of Kubernetes' own types contain
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from stateward.kube import schemas
from stateward.kube.codec import Json


class Shape(Enum):
    """How a value merges with another one."""

    STRUCT = "struct"  #: named fields, each on its own
    MAP = "map"  #: free keys, each on its own, all values alike
    ATOMIC_MAP = "atomic-map"  #: fields or keys, replaced whole
    LIST_MAP = "list-map"  #: items told apart by their keys
    LIST_SET = "list-set"  #: items told apart by their value
    LIST_ATOMIC = "list-atomic"  #: replaced whole
    SCALAR = "scalar"  #: replaced whole
    #: Kept without being known: an object merges key by key, into more of the same; else replaced.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """How the value at one place merges, and where to ask about the places inside it."""

    shape: Shape
    #: LIST_MAP: the fields that tell items apart.
    keys: tuple[str, ...] = ()
    #: LIST_MAP: what a key counts as in an item that leaves it out.
    key_defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Strategic merge patches only: some of ``merge``, ``replace`` and ``retainKeys``.
    patch_strategies: tuple[str, ...] = ()
    #: Strategic merge patches only: the field that tells items apart, one where apply may have two.
    patch_merge_key: str = ""
    _schema: Json = field(default_factory=dict, repr=False)
    _made: dict[str, Structure] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> Set[str]:
        """The fields that the schema names."""
        properties: Json = self._schema.get("properties", {})
        return properties.keys()

    @property
    def items(self) -> Structure | None:
        """How an item of a list merges, or None when this is no list."""
        return self._kept("[]", self._schema.get("items"))

    def child(self, name: str) -> Structure | None:
        """Return how the value of a field or key merges, or None when there may be none."""
        if (made := self._made.get(name)) is not None:
            return made
        if self.shape is Shape.UNKNOWN:
            return self
        if (named := self._schema.get("properties", {}).get(name)) is not None:
            return self._kept(name, named)
        if isinstance(values := self._schema.get("additionalProperties"), dict):
            return self._kept("{}", values)  # one for all keys: there may be any number of them
        return _UNKNOWN if self._schema.get("x-kubernetes-preserve-unknown-fields") else None

    def at(self, path: str) -> Structure | None:
        """Return how the value at a path merges; ``[]`` stands for the items of a list.

        >>> pod = structure_of_kind("", "v1", "Pod")
        >>> pod.at("spec.containers[].ports").keys
        ('containerPort', 'protocol')
        """
        found: Structure | None = self
        for word in path.replace("[]", ".[]").split("."):
            if found is not None:
                found = found.items if word == "[]" else found.child(word)
        return found

    def _kept(self, name: str, schema: Json | None) -> Structure | None:
        if schema is None:
            return None
        if name not in self._made:
            self._made[name] = _structure(schema)
        return self._made[name]


@cache
def structure_of_kind(group: str, version: str, kind: str) -> Structure | None:
    """Return how objects of a built-in kind merge, or None when we ship no schema of it."""
    name = schemas.name_of_kind(group, version, kind)
    return None if name is None else _structure({"$ref": name})


def structure_of_schema(schema: Json) -> Structure:
    """Return how objects of a custom kind merge, from the schema of one of its versions."""
    return _structure(_whole_object(schema))


_UNKNOWN: Final = Structure(Shape.UNKNOWN)
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
#: Its schema says "object", but nobody merges into the raw text of somebody else's document.
_RAW: Final = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_LISTS: Final = {"map": Shape.LIST_MAP, "set": Shape.LIST_SET}


def _structure(schema: Json) -> Structure:
    schema = _resolved(schema)
    if schema.get("x-kubernetes-embedded-resource"):
        schema = _whole_object(schema)
    shape = _shape(schema)
    if shape is Shape.UNKNOWN:
        return _UNKNOWN
    keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
    strategies = schema.get("x-kubernetes-patch-strategy", "")
    return Structure(
        shape,
        keys=keys,
        key_defaults=_key_defaults(schema, keys),
        patch_strategies=tuple(strategies.split(",")) if strategies else (),
        patch_merge_key=schema.get("x-kubernetes-patch-merge-key", ""),
        _schema=schema,
    )


def _shape(schema: Json) -> Shape:
    match schema.get("type"):
        case "array":
            return _LISTS.get(schema.get("x-kubernetes-list-type", ""), Shape.LIST_ATOMIC)
        case "object":
            return _object_shape(schema)
        case None if not (schema.keys() & {"anyOf", "oneOf", "x-kubernetes-int-or-string"}):
            return Shape.UNKNOWN
        case _:
            return Shape.SCALAR


def _object_shape(schema: Json) -> Shape:
    if schema.get("x-kubernetes-map-type") == "atomic":
        return Shape.ATOMIC_MAP
    if schema.get("properties"):
        return Shape.STRUCT
    return Shape.MAP if isinstance(schema.get("additionalProperties"), dict) else Shape.UNKNOWN


def _resolved(schema: Json) -> Json:
    """Follow a reference; what is said beside it wins over what its target says."""
    if "$ref" not in schema:
        return schema
    if schema["$ref"] == _RAW:
        return schema | {"type": "object", "x-kubernetes-map-type": "atomic"}
    return schemas.definitions()[schema["$ref"]] | schema


def _key_defaults(schema: Json, keys: tuple[str, ...]) -> Mapping[str, Any]:
    fields = _resolved(schema["items"]).get("properties", {}) if keys else {}
    return MappingProxyType(
        {key: fields[key]["default"] for key in keys if "default" in fields.get(key, {})}
    )


def _whole_object(schema: Json) -> Json:
    """Add what every object has and no schema of a custom kind spells out."""
    text: Json = {"type": "string"}
    known = {"apiVersion": text, "kind": text, "metadata": {"$ref": _META}}
    return schema | {"properties": schema.get("properties", {}) | known}
