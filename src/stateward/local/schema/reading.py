"""Reading objects by their schemas: what is unknown is dropped, what is mistyped refused."""

from __future__ import annotations

from stateward.kube import schemas
from stateward.kube.codec import Json, plain
from stateward.kube.errors import BadRequest, ServerFailed
from stateward.local.apply.fields import path_to
from stateward.local.apply.paths import dotted
from stateward.local.kinds import Kind
from stateward.local.rules.admission import Author, Refusal, Strictness
from stateward.local.schema import validators
from stateward.local.schema.complaints import unreadable
from stateward.local.schema.pruning import OBJECT, pruned, pruned_ways, without_nulls


def read_built_in(kind: Kind, document: Json, author: Author, refusal: Refusal) -> None:
    """Read an object of one of Kubernetes' own kinds, in place."""
    name = definition_of(kind)
    if name is None:
        return
    validator = validators.of_definition(name)
    if validator.is_valid(document):
        return  # every field is known and of its type, which is the rule
    without_nulls(document)
    unknown = pruned(document, {"$ref": name})
    if found := unreadable(validator, document):
        resource = kind.resource
        raise refusal(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a'
            f" {resource.kind}: {'; '.join(found)}"
        )
    tell(unknown, author)


def read_custom(document: Json, schema: Json, author: Author) -> None:
    """Drop what the schema of a custom kind does not name, in place."""
    tell(pruned(document, whole(schema)), author)


def check_applied(kind: Kind, body: Json) -> None:
    """Raise when an applied object says what its schema does not know."""
    mistyped: list[str] = []
    copy = plain(body)
    if kind.schema is not None:
        unknown = pruned_ways(copy, whole(kind.schema))
    elif (name := definition_of(kind)) is not None:
        validator = validators.of_definition(name)
        if validator.is_valid(body):
            return
        without_nulls(copy)
        unknown = pruned_ways(copy, {"$ref": name})
        mistyped = unreadable(validator, copy)
    else:
        return
    paths = [dotted(path_to(body, way, kind.structure())) for way in unknown]
    found = [*(f"{path}: field not declared in schema" for path in paths), *mistyped]
    if found:
        raise ServerFailed(_no_typed_patch(kind, body["metadata"], found))


def _no_typed_patch(kind: Kind, meta: Json, found: list[str]) -> str:
    resource = kind.resource
    which = f"{meta.get('namespace', '')}/{meta.get('name', '')}"
    told = found[0] if len(found) == 1 else "\n  ".join(["errors:", *found])
    return (
        f"failed to create typed patch object ({which};"
        f" {resource.group}/{resource.version}, Kind={resource.kind}): {told}"
    )


def definition_of(kind: Kind) -> str | None:
    """Return the name of Kubernetes' own definition of a kind, or None."""
    resource = kind.resource
    return schemas.name_of_kind(resource.group, resource.version, resource.kind)


def whole(schema: Json) -> Json:
    """Add to the schema of a custom kind what every object has."""
    return schema | {"properties": schema.get("properties", {}) | OBJECT}


def tell(unknown: list[str], author: Author) -> None:
    """Tell a writer of the fields that nobody knows, as it asked for."""
    if not unknown or author.strictness is Strictness.IGNORE:
        return
    told = [f'unknown field "{path}"' for path in unknown]
    if author.strictness is Strictness.STRICT:
        raise BadRequest(f"strict decoding error: {', '.join(told)}")
    author.warnings.extend(told)
