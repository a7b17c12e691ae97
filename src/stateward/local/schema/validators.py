"""Schemas as validators: each is compiled when first asked for, and then kept.

The validators of Kubernetes' own kinds know every field, so one quick question tells of most
objects that nothing is wrong with them; only for the others is it worth to look closer.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from stateward.core.errors import UsageError
from stateward.kube import schemas
from stateward.kube.codec import Json
from stateward.local.schema.formats import FORMATS

if TYPE_CHECKING:
    from jsonschema_rs import Draft4Validator

#: As Kubernetes reads them: a number, a sign, a suffix.
QUANTITY: Final = r"^[+-]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
_BASE64: Final = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\s*$"
_INTEGERS: Final = {"int32": 2**31, "int64": 2**63}
_API: Final = "io.k8s.apimachinery.pkg"
_EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_SCHEMA: Final[Json] = {"$ref": f"#/definitions/{_EXTENSIONS}.JSONSchemaProps"}
#: What the schemas of Kubernetes say less exactly than its decoder reads.
_EXACTLY: Final[dict[str, Json]] = {
    f"{_API}.api.resource.Quantity": {
        "anyOf": [{"type": "string", "pattern": QUANTITY}, {"type": "number"}]
    },
    f"{_EXTENSIONS}.JSONSchemaPropsOrBool": {"anyOf": [{"type": "boolean"}, _SCHEMA]},
    # A moment that is null is not valid, so that it is dropped with all else that says nothing.
    f"{_API}.apis.meta.v1.Time": {"type": "string", "format": "date-time"},
    f"{_API}.apis.meta.v1.MicroTime": {"type": "string", "format": "micro-time"},
    f"{_API}.util.intstr.IntOrString": {
        "anyOf": [
            {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
            {"type": "string"},
        ]
    },
}


def compiled(schema: Json) -> Draft4Validator:
    """Return a schema as a validator, in the dialect that Kubernetes uses."""
    try:
        from jsonschema_rs import Draft4Validator  # noqa: PLC0415 - only those who serve need it
    except ModuleNotFoundError as error:
        raise UsageError(
            "the embedded Kubernetes needs jsonschema-rs: install stateward[local]"
        ) from error
    return Draft4Validator(schema, formats=dict(FORMATS), validate_formats=True)


@cache
def of_definition(name: str) -> Draft4Validator:
    """Return the validator of one of Kubernetes' own definitions, by its name."""
    return compiled({"$ref": f"#/definitions/{name}", "definitions": _closed_definitions()})


def of_custom(schema: Json) -> Draft4Validator:
    """Return the validator of the schema of a custom kind."""
    return compiled(_plain_schema(schema))


def schema_problem(schema: Json) -> tuple[tuple[str, ...], str] | None:
    """Say where a schema of a custom kind is none, and why; None when it is one."""
    try:
        of_custom(schema)
    except ValueError as error:
        where = tuple(str(word) for word in getattr(error, "instance_path", ()))
        return where, str(getattr(error, "message", error))
    return None


@cache
def _closed_definitions() -> Json:
    closed = {
        name: _EXACTLY.get(name) or _closed(schema)
        for name, schema in schemas.definitions().items()
    }
    # Read whatever it is: what it must be is said later, with all else that is wrong.
    anything = ["object", "array", "boolean", "number", "string"]
    of_schema: Json = closed[f"{_EXTENSIONS}.JSONSchemaProps"]
    closed[f"{_EXTENSIONS}.JSONSchemaPropsOrArray"] = of_schema | {
        "type": anything,
        "items": _SCHEMA,
    }
    return closed


def _closed(schema: Json) -> Json:
    """Return a schema that refuses what it does not name; what must be there, others say."""
    if "$ref" in schema:
        return {"$ref": f"#/definitions/{schema['$ref']}"}
    match schema.get("type"):
        case "object" if "properties" in schema:
            fields = {name: _closed(inner) for name, inner in schema["properties"].items()}
            return {"type": "object", "properties": fields, "additionalProperties": False}
        case "object" if isinstance(values := schema.get("additionalProperties"), dict):
            return {"type": "object", "additionalProperties": _closed(values)}
        case "array":
            return {"type": "array", "items": _closed(schema["items"])}
        case "integer" if limit := _INTEGERS.get(schema.get("format", "")):
            return {"type": "integer", "minimum": -limit, "maximum": limit - 1}
        case "string" if schema.get("format") == "byte":
            return {"type": "string", "pattern": _BASE64}
        case _:
            return {name: schema[name] for name in ("type", "format") if name in schema}


# ------------------------------------------------------------------ custom kinds
_BELOW: Final = ("not", "items", "additionalProperties")
_MANY_BELOW: Final = ("allOf", "anyOf", "oneOf")
_KEPT: Final = frozenset(
    {
        *("type", "format", "enum", "required", "pattern", "minimum", "maximum", "multipleOf"),
        *("exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"),
        *("uniqueItems", "minProperties", "maxProperties"),
    }
)


def _plain_schema(schema: Any) -> Any:
    """Return a structural schema in words that any validator knows."""
    if not isinstance(schema, dict):
        return schema
    plain: Json = {name: value for name, value in schema.items() if name in _KEPT}
    for name in ("required", "enum"):
        if not plain.get(name, True):
            del plain[name]  # to Kubernetes an empty list says nothing
    below = {name: schema[name] for name in _BELOW if name in schema}
    if not isinstance(below.get("items", {}), dict | list):
        del below["items"]  # nor does such a thing, and it is told of as missing
    plain |= {name: _plain_schema(inner) for name, inner in below.items()}
    for name in _MANY_BELOW:
        if schema.get(name):
            plain[name] = [_plain_schema(inner) for inner in schema[name]]
    if "properties" in schema:
        plain["properties"] = {n: _plain_schema(s) for n, s in schema["properties"].items()}
    return _with_types(plain, schema)


def _with_types(plain: Json, schema: Json) -> Json:
    """Say in a list of types what Kubernetes says in words of its own."""
    if schema.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
        plain.pop("anyOf", None)
    if schema.get("nullable") and "type" in plain:
        known = plain["type"]
        plain["type"] = [*(known if isinstance(known, list) else [known]), "null"]
    return plain
