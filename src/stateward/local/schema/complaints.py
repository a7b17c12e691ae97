"""What a validator finds, in the words of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes

if TYPE_CHECKING:
    from jsonschema_rs import Draft4Validator, ValidationError

#: What is said of a value that is not what it must be, by the keyword that is broken.
_WORDS: Final = {
    "minimum": "should be greater than or equal to {limit}",
    "maximum": "should be less than or equal to {limit}",
    "exclusiveMinimum": "should be greater than {limit}",
    "exclusiveMaximum": "should be less than {limit}",
    "minLength": "should be at least {limit} chars long",
    "minItems": "should have at least {limit} items",
    "minProperties": "should have at least {limit} properties",
    "pattern": "should match '{pattern}'",
    "multipleOf": "should be a multiple of {multiple_of}",
    "uniqueItems": "shouldn't contain duplicates",
}
_MATCH: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
#: What Kubernetes calls the place of what is wrong with a whole.
NOWHERE: Final = "<nil>"
#: What is said where one of several schemas must hold, or none may.
_ALTERNATIVES: Final = {
    "anyOf": "must validate at least one schema (anyOf)",
    "oneOf": "must validate one and only one schema (oneOf). ",
    "not": "must not validate the schema (not)",
}
#: What is said of numbers that are too small or too large for their type.
_RANGE: Final = frozenset({"minimum", "maximum"})
#: Types in Kubernetes' words.
_TYPES: Final = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def unreadable(validator: Draft4Validator, document: Json) -> list[str]:
    """Return why an object of one of Kubernetes' own kinds cannot be read, field by field."""
    return [_misread(error) for error in validator.iter_errors(document)]


def too_wide(validator: Draft4Validator, document: Json) -> Iterator[Cause]:
    """Yield which numbers of an object are of their type and do not fit in it."""
    for error in validator.iter_errors(document):
        if error.kind.name in _RANGE:
            where = path_of(error.instance_path)
            yield causes.invalid(where, error.instance, "must fit in the type of the field")


def broken(
    validator: Draft4Validator, new: Any, old: Json | None = None, schema: Json | None = None
) -> Iterator[Cause]:
    """Yield what a schema says against a value; what was so before is let pass."""
    for error in validator.iter_errors(new):
        if old is None or not _was_so(error.instance_path, new, old, schema or {}):
            yield from _causes(error)


def path_of(elements: Iterable[str | int]) -> str:
    """Write a place as Kubernetes does: ``spec.containers[0].name``."""
    words = [f"[{it}]" if isinstance(it, int) else f".{it}" for it in elements]
    return "".join(words).removeprefix(".")


def type_name(value: Any) -> str:
    """Return what JSON calls the type of a value."""
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "null")


def at(document: Any, elements: Iterable[str | int]) -> Any:
    """Return the value at a place, or None."""
    for element in elements:
        if isinstance(document, dict):
            document = document.get(element)
        elif isinstance(document, list) and isinstance(element, int) and element < len(document):
            document = document[element]
        else:
            return None
    return document


def _was_so(way: Iterable[str | int], new: Any, old: Any, schema: Json) -> bool:
    """Tell whether a value was the same before; items of a list are known by their keys alone."""
    for step in way:
        if isinstance(new, list) and isinstance(step, int):
            new, old, schema = _items(new[step], new, old, schema)
        elif isinstance(new, dict) and isinstance(old, dict):
            new, old = new.get(step), old.get(step)
            fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
            schema = fields.get(step, others if isinstance(others, dict) else {})
        else:
            return False
    return old is not None and old == new


def _items(item: Any, new: Any, old: Any, schema: Json) -> tuple[Any, Any, Json]:
    """Return an item, what it was, and its schema; without keys the whole list must be the same."""
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    items = schema.get("items") if isinstance(schema.get("items"), dict) else {}
    if not keys or not isinstance(item, dict) or not isinstance(old, list):
        return item, item if old == new else None, items or {}
    same = (
        it for it in old if isinstance(it, dict) and all(it.get(k) == item.get(k) for k in keys)
    )
    return item, next(same, None), items or {}


def _misread(error: ValidationError) -> str:
    where, kind = path_of(error.instance_path), error.kind
    got = type_name(error.instance)
    match kind.name:
        case "type":
            return f"cannot read {got} into field {where}, which must be of type {_wanted(kind)}"
        case "anyOf" if got in {"string", "integer", "number"}:
            return f"cannot read {causes.text(error.instance)} into field {where}: {_MATCH}"
        case "pattern":
            return f"cannot read field {where}: illegal base64 data"
        case name if name in _RANGE:
            return f"cannot read number {error.instance} into field {where}: it is out of range"
        case _:
            return f"cannot read field {where}: {error.message}"


def _causes(error: ValidationError) -> Iterator[Cause]:
    """Yield what is wrong; where no alternative holds, also why the first one does not."""
    kind: Any = error.kind
    branches = getattr(kind, "context", None) or [[]]
    if (said := _ALTERNATIVES.get(kind.name)) is None:
        yield _cause(error)
        return
    if kind.name == "oneOf":
        valid = sum(1 for branch in branches if not branch)
        said += f"Found {valid} valid alternatives" if valid else "Found none valid"
    yield causes.invalid(NOWHERE, "", f'"{path_of(error.instance_path)}" {said}')
    for inner in branches[0]:
        yield from _causes(inner)


def _cause(error: ValidationError) -> Cause:
    kind: Any = error.kind
    value: Any = error.instance
    where = path_of(error.instance_path)
    match kind.name:
        case "required":
            return causes.required(f"{where}.{kind.property}".removeprefix("."))
        case "type" | "format":
            wanted = _wanted(kind)
            shown = type_name(value) if kind.name == "type" else value
            why = f"{where} in body must be of type {wanted}: {causes.text(shown)}"
            return causes.wrong_type(where, shown, why)
        case "enum":
            options = [it if isinstance(it, str) else causes.text(it) for it in kind.options]
            return causes.unsupported(where, value, options)
        case "maxLength":
            return causes.too_long(where, f"may not be more than {kind.limit} bytes")
        case "maxItems" | "maxProperties":
            return causes.too_many(where, f"{len(value)}: must have at most {kind.limit} items")
        case name if name in _WORDS:
            why = _WORDS[name].format(**_facts(kind))
            shown = len(value) if name in {"minItems", "minProperties"} else value
            return causes.invalid(where, shown, f"{where} in body {why}")
        case _:
            return causes.invalid(where, value, f"{where} in body {error.message}")


def _facts(kind: Any) -> Json:
    names = ("limit", "pattern", "multiple_of")
    return {name: getattr(kind, name) for name in names if hasattr(kind, name)}


def _wanted(kind: Any) -> str:
    types = getattr(kind, "types", None) or [getattr(kind, "format", "")]
    return ",".join(str(one) for one in types if one != "null")
