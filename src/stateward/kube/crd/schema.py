"""From a type to its structural schema.

Only what a schema can say exactly is taken; everything else is refused with what to write
instead. In particular no type becomes "anything" by accident: the API server would keep every
typing error of a user.
"""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from stateward.kube.codec import Json
from stateward.kube.crd import definitions, marks, nodes
from stateward.kube.crd.fields import Definition, Field, Shaped
from stateward.kube.crd.problems import Problem, SchemaInvalid
from stateward.kube.meta import Object

_SCALARS: Final[dict[Any, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
}
_INT_OR_STR: Final = frozenset({int, str})
_MISSING: Final = (type(None), msgspec.UnsetType)


def schema_of(hint: Any) -> Json:
    """Return the structural schema of a type, with all that its marks say.

    >>> schema_of(Annotated[int, msgspec.Meta(gt=0), Field(format="int32")])
    {'type': 'integer', 'format': 'int32', 'minimum': 0, 'exclusiveMinimum': True}
    """
    return nodes.in_order(_value(hint, _Place()))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where we are: the path for messages, and the classes that we are inside of."""

    path: str = ""
    inside: tuple[type, ...] = ()

    def field(self, name: str) -> _Place:
        return _Place(f"{self.path}.{name}" if self.path else name, self.inside)

    def each(self, brackets: str) -> _Place:
        return _Place(self.path + brackets, self.inside)

    def within(self, kind: type) -> _Place:
        return _Place(self.path, (*self.inside, kind))

    def refuse(self, message: str, hint: str = "") -> SchemaInvalid:
        return SchemaInvalid([Problem(self.path, message)], hint=hint)


@dataclass(frozen=True, slots=True)
class _Type:
    """A type without its marks, and the marks, innermost first; a union is a set of types."""

    core: Any
    marks: tuple[Any, ...] = ()
    optional: bool = False

    @property
    def is_open(self) -> bool:
        ours = [mark for mark in self.marks if isinstance(mark, Field)]
        return any(mark.preserve_unknown or mark.embedded_resource for mark in ours)

    @property
    def defined_as(self) -> str | None:
        return next((m.name for m in reversed(self.marks) if isinstance(m, Definition)), None)

    @property
    def shaped_as(self) -> type[msgspec.Struct] | None:
        return next((m.kind for m in reversed(self.marks) if isinstance(m, Shaped)), None)

    def __str__(self) -> str:
        members = self.core if isinstance(self.core, frozenset) else (self.core,)
        names = (getattr(m, "__name__", str(m)) if not get_args(m) else str(m) for m in members)
        return " | ".join(sorted(names))


def _read(hint: Any) -> _Type:
    """Take a type apart. None and UNSET in a union only say that the value may be missing."""
    if (supertype := getattr(hint, "__supertype__", None)) is not None:  # a NewType
        return _read(supertype)
    if get_origin(hint) is Annotated:
        inner, *outer = get_args(hint)
        found = _read(inner)
        return _Type(found.core, (*found.marks, *outer), found.optional)
    if get_origin(hint) not in {Union, types.UnionType}:
        return _Type(hint)
    members = [_read(arg) for arg in get_args(hint) if arg not in _MISSING]
    optional = len(members) < len(get_args(hint))
    found_marks = tuple(mark for member in members for mark in member.marks)
    if len(members) == 1:
        return _Type(members[0].core, found_marks, optional)
    return _Type(frozenset(member.core for member in members), found_marks, optional)


# -------------------------------------------------------------------------------- values


def _value(hint: Any, place: _Place) -> Json:
    found = _read(hint)
    if found.optional:
        raise place.refuse("must not be None", "leave the item out instead")
    return _schema(found, place)


def _schema(found: _Type, place: _Place) -> Json:
    schema = marks.apply(_body(found, place), found.marks, place.path)
    if schema.get("type") == "integer":
        schema.setdefault("format", "int64")
    return schema


def _body(found: _Type, place: _Place) -> Json:
    core = found.core
    if found.defined_as is not None:
        return _defined(found.defined_as, found, place)
    if found.shaped_as is not None:
        return _shaped(found.shaped_as, found, place)
    if core in _SCALARS:
        return {"type": _SCALARS[core]}
    if core == _INT_OR_STR:
        return definitions.int_or_string()
    if isinstance(core, frozenset):
        raise place.refuse(f"must be of one type, not {found}", "X | None and int | str are fine")
    if core in {Any, dict, dict[str, Any]}:
        return _untyped(found, place)
    if isinstance(core, type) and issubclass(core, msgspec.Struct):
        return _struct(core, place)
    return _enum(core, place) or _container(found, place)


def _defined(name: str, found: _Type, place: _Place) -> Json:
    schema = definitions.inline(name)
    fitting = {"object": dict[str, Any], "string": str, "integer": int, "number": float}
    wanted = _Type(fitting.get(schema.get("type", ""), _INT_OR_STR))
    if found.core != wanted.core:
        raise place.refuse(f"must be of type {wanted}, because {name} is; it is {found}")
    return schema


def _shaped(kind: type[msgspec.Struct], found: _Type, place: _Place) -> Json:
    if found.core != dict[str, Any]:
        raise place.refuse(f"must be of type dict[str, Any] to have a shape; it is {found}")
    return _struct(kind, place)


def _untyped(found: _Type, place: _Place) -> Json:
    if not found.is_open:
        raise place.refuse(
            f"must say what it holds, and {found} holds anything",
            "mark it Field(preserve_unknown=True), or definition(name) for a type of Kubernetes",
        )
    body: Json = {} if found.core is Any else {"type": "object"}
    return body | {"x-kubernetes-preserve-unknown-fields": True}


def _enum(core: Any, place: _Place) -> Json:
    if get_origin(core) is Literal:
        values = list(get_args(core))
    elif isinstance(core, type) and issubclass(core, Enum):
        values = [member.value for member in core]
    else:
        return {}
    for kind in (str, int):
        if values and all(type(value) is kind for value in values):
            return {"type": _SCALARS[kind], "enum": values}
    raise place.refuse(f"must list texts only or whole numbers only, not {values!r}")


def _container(found: _Type, place: _Place) -> Json:
    origin, arguments = get_origin(found.core), get_args(found.core)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return {"type": "array", "items": _value(arguments[0], place.each("[]"))}
    if origin is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": _value(arguments[1], place.each("{}"))}
    raise place.refuse(
        f"must be of a type that a schema can say, not {found}",
        "use bool, int, float, str, Literal, Enum, list[X], tuple[X, ...], dict[str, X] or a Part",
    )


# -------------------------------------------------------------------------------- classes


def _struct(kind: type[msgspec.Struct], place: _Place) -> Json:
    _require_plain(kind, place)
    nested = bool(place.inside)
    place = place.within(kind)
    infos = msgspec.structs.fields(kind)
    properties = {info.encode_name: _property(info, kind, place) for info in infos}
    schema: Json = {"description": text} if (text := _docstring(kind)) else {}
    schema["type"] = "object"
    if issubclass(kind, Object):
        properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}} | properties
        schema |= {"x-kubernetes-embedded-resource": True} if nested else {}
    if properties:
        schema["properties"] = properties
    if required := [info.encode_name for info in infos if info.required]:
        schema["required"] = required
    return marks.with_rules(schema, getattr(kind, "RULES", ()))


def _require_plain(kind: type[msgspec.Struct], place: _Place) -> None:
    if kind in place.inside:
        raise place.refuse(
            f"must not contain {kind.__name__} again, because a schema is finite",
            "refer to it by name, or mark the field Field(preserve_unknown=True)",
        )
    config = kind.__struct_config__
    if config.array_like or config.tag is not None:
        raise place.refuse(f"must be a plain object; {kind.__name__} is an array or has a tag")


def _property(info: msgspec.structs.FieldInfo, kind: type, place: _Place) -> Json:
    if issubclass(kind, Object) and info.encode_name == "metadata":
        return {"type": "object"}  # the server knows what is in it and takes no schema for it
    place = place.field(info.encode_name)
    found = _read(info.type)
    if found.optional and info.required:
        raise place.refuse("must have a default, because it may be missing", "write = None")
    schema = _schema(found, place)
    if "default" in schema and not info.required:
        _require_same_default(info, schema["default"], place)
    return schema


def _require_same_default(info: msgspec.structs.FieldInfo, promised: Any, place: _Place) -> None:
    """Defaults are left out when we write, so what the server fills in must be what Python had."""
    factory = info.default_factory
    ours = info.default if factory is msgspec.NODEFAULT else factory()
    if ours is msgspec.UNSET or marks.as_json(ours) != promised:
        raise place.refuse(f"must promise the default that Python has, {ours!r}, not {promised!r}")


def _docstring(kind: type) -> str:
    """Return the first paragraph, as one line."""
    text = inspect.cleandoc(kind.__dict__.get("__doc__") or "")
    return " ".join(text.partition("\n\n")[0].split())
