"""Reading objects by their schemas: what is unknown is dropped, what is mistyped refused."""

from __future__ import annotations

from typing import Any, Final

from stateward.kube import schemas
from stateward.kube.codec import Json, plain
from stateward.kube.errors import ServerFailed
from stateward.local.apply.fields import path_to
from stateward.local.apply.paths import dotted
from stateward.local.kinds import Kind
from stateward.local.rules.admission import Author, Refusal, Strictness
from stateward.local.rules.validity import invalid
from stateward.local.schema import validators
from stateward.local.schema.complaints import too_wide, unreadable
from stateward.local.schema.custom import typed
from stateward.local.schema.pruning import (
    META,
    OBJECT,
    pruned,
    pruned_ways,
    texts_for_nulls,
    without_nulls,
)

#: Oddities that a writer is told of at most, as with a real server.
_MOST_TOLD: Final = 100
_INT64: Final = 2**63
#: Up to here every whole number can be written with a point.
_EXACT: Final = 2**53


def read_built_in(kind: Kind, document: Json, author: Author, refusal: Refusal) -> None:
    """Read an object of one of Kubernetes' own kinds, in place."""
    name = definition_of(kind)
    if name is None:
        return
    validator = validators.of_definition(name)
    if validator.is_valid(document):  # every field is known and of its type, which is the rule
        tell([], kind, author, refusal)
        return
    texts_for_nulls(document, {"$ref": name})
    without_nulls(document)
    unknown = pruned(document, {"$ref": name})
    if found := unreadable(validator, document):
        raise refusal(_unhandled(kind, "; ".join(found)))
    tell(unknown, kind, author, refusal)


def read_custom(kind: Kind, document: Json, schema: Json, author: Author, refusal: Refusal) -> None:
    """Drop what the schema of a custom kind does not name, in place; its metadata must be such."""
    _as_numbers_are_read(document)
    unknown = pruned(document, whole(schema))
    validator = validators.of_definition(META)
    if not validator.is_valid(document["metadata"]):
        without_nulls(document["metadata"])
        if found := unreadable(validator, document["metadata"]):
            raise refusal(_unhandled(kind, "; ".join(found)))
    tell(unknown, kind, author, refusal)


def _as_numbers_are_read(value: Any) -> None:
    """Have numbers as Kubernetes reads them, in place: 1.0 is 1, and huge is not whole."""
    places = value.items() if isinstance(value, dict) else enumerate(value)
    for place, inner in tuple(places):
        if isinstance(inner, dict | list):
            _as_numbers_are_read(inner)
        elif isinstance(inner, float) and inner.is_integer() and abs(inner) <= _EXACT:
            value[place] = int(inner)
        elif isinstance(inner, int) and not -_INT64 <= inner < _INT64:
            value[place] = float(inner)


def check_applied(kind: Kind, body: Json) -> None:
    """Raise when an applied object says what its schema does not know."""
    copy = plain(body)
    if kind.schema is not None:
        unknown = pruned_ways(copy, whole(kind.schema))
        mistyped = [*_mistyped_metadata(copy), *typed.mistyped(copy, kind.schema)]
    elif (name := definition_of(kind)) is not None:
        validator = validators.of_definition(name)
        if validator.is_valid(body):
            return
        without_nulls(copy)
        unknown = pruned_ways(copy, {"$ref": name})
        if wide := tuple(too_wide(validator, copy)):  # it is a number, and asked no further
            raise invalid(kind.resource, _name_in(body), *wide)
        mistyped = unreadable(validator, copy)
    else:
        return
    paths = [dotted(path_to(body, way, kind.structure())) for way in unknown]
    found = [*(f"{path}: field not declared in schema" for path in paths), *mistyped]
    if found:
        raise ServerFailed(_no_typed_patch(kind, body.get("metadata"), found))


def _name_in(body: Json) -> str:
    metadata = body.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _mistyped_metadata(document: Json) -> list[str]:
    metadata = document.get("metadata")
    without_nulls(metadata)
    validator = validators.of_definition(META)
    return [] if metadata is None else [f"metadata: {it}" for it in unreadable(validator, metadata)]


def _no_typed_patch(kind: Kind, metadata: Any, found: list[str]) -> str:
    resource, meta = kind.resource, metadata if isinstance(metadata, dict) else {}
    which = f"{meta.get('namespace', '')}/{meta.get('name', '')}"
    told = found[0] if len(found) == 1 else "\n  ".join(["errors:", *found])
    return (
        f"failed to create typed patch object ({which};"
        f" {resource.group}/{resource.version}, Kind={resource.kind}): {told}"
    )


def say_nothing(kind: Kind, document: Json) -> None:
    """Leave out what an applied object says in nulls, in place."""
    if (name := definition_of(kind)) is not None:
        texts_for_nulls(document, {"$ref": name})
    without_nulls(document)


def definition_of(kind: Kind) -> str | None:
    """Return the name of Kubernetes' own definition of a kind, or None."""
    resource = kind.resource
    return schemas.name_of_kind(resource.group, resource.version, resource.kind)


def whole(schema: Json) -> Json:
    """Add to the schema of a custom kind what every object has."""
    return schema | {"properties": schema.get("properties", {}) | OBJECT}


def tell(unknown: list[str], kind: Kind, author: Author, refusal: Refusal) -> None:
    """Tell a writer of the fields that nobody knows or that are there twice, as it asked for."""
    if author.strictness is Strictness.IGNORE:
        return
    told = [*(f'unknown field "{path}"' for path in unknown), *author.doubles][:_MOST_TOLD]
    if told and author.strictness is Strictness.STRICT:
        raise refusal(_unhandled(kind, f"strict decoding error: {', '.join(told)}"))
    author.warnings.extend(told)


def _unhandled(kind: Kind, why: str) -> str:
    name, version = kind.resource.kind, kind.resource.version
    return f'{name} in version "{version}" cannot be handled as a {name}: {why}'
