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
    "format": "must be of type {format}",
    "uniqueItems": "shouldn't contain duplicates",
}
_MATCH: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
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


def broken(validator: Draft4Validator, new: Json, old: Json | None) -> Iterator[Cause]:
    """Yield what a schema says against an object; what was so before is let pass."""
    for error in validator.iter_errors(new):
        if old is None or not _was_so(error, new, old):
            yield _cause(error)


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


def _was_so(error: ValidationError, new: Json, old: Json) -> bool:
    before = at(old, error.instance_path)
    return before is not None and before == at(new, error.instance_path)


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
        case "minimum" | "maximum":
            return f"cannot read number {error.instance} into field {where}: it is out of range"
        case _:
            return f"cannot read field {where}: {error.message}"


def _cause(error: ValidationError) -> Cause:
    kind: Any = error.kind
    value: Any = error.instance
    where = path_of(error.instance_path)
    match kind.name:
        case "required":
            return causes.required(f"{where}.{kind.property}".removeprefix("."))
        case "type":
            wanted = _wanted(kind)
            why = f"{where} in body must be of type {wanted}: {causes.text(type_name(value))}"
            return causes.wrong_type(where, type_name(value), why)
        case "enum":
            return causes.unsupported(where, value, kind.options)
        case "maxLength":
            return causes.too_long(where, f"may not be more than {kind.limit} bytes")
        case "maxItems" | "maxProperties":
            return causes.too_many(where, f"{len(value)}: must have at most {kind.limit} items")
        case name if name in _WORDS:
            why = _WORDS[name].format(**_facts(kind))
            return causes.invalid(where, value, f"{where} in body {why}")
        case _:
            return causes.invalid(where, value, f"{where} in body {error.message}")


def _facts(kind: Any) -> Json:
    names = ("limit", "pattern", "multiple_of", "format")
    return {name: getattr(kind, name) for name in names if hasattr(kind, name)}


def _wanted(kind: Any) -> str:
    types = getattr(kind, "types", None)
    if not types:
        return ""
    return " or ".join(str(one) for one in types if one != "null")
