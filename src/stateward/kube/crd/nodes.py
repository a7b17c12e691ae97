"""Walking through a schema: every part of it, with what must be known about the parts around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from stateward.kube.codec import Json
from stateward.kube.crd.problems import Problem

#: Every keyword that our schemas use, in the order we write them: the short ones, then the parts.
KEYWORDS: Final = (
    *("description", "type", "format", "enum", "anyOf", "x-kubernetes-int-or-string", "pattern"),
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("default", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"),
    *("x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields"),
    *("x-kubernetes-validations", "required", "properties", "items", "additionalProperties"),
)


@dataclass(frozen=True, slots=True)
class Node:
    """One schema inside another."""

    schema: Json
    path: str = ""
    #: The innermost list or map around it that may grow without limit.
    unbounded: str = ""
    #: The outermost list or map around it whose items cannot be matched with what they were before.
    uncorrelated: str = ""

    @property
    def type(self) -> str:
        """The type it names, or nothing."""
        return str(self.schema.get("type", ""))

    @property
    def grows(self) -> bool:
        """True for a list or map without an upper bound."""
        return ("items" in self.schema and "maxItems" not in self.schema) or (
            "additionalProperties" in self.schema and "maxProperties" not in self.schema
        )

    def says(self, message: str) -> Problem:
        """Return a problem that is here."""
        return Problem(self.path, message)


def nodes(schema: Json) -> Iterator[Node]:
    """Yield a schema and every schema inside it, outermost first."""
    return _below(Node(schema))


def in_order(schema: Json) -> Json:
    """Return the same schema, its keywords in our order, and any others after them."""
    found = {key: schema[key] for key in KEYWORDS if key in schema} | schema
    if "properties" in found:
        found["properties"] = {name: in_order(part) for name, part in found["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in found:
            found[key] = in_order(found[key])
    return found


def find(schema: Json, path: str) -> Json | None:
    """Return the schema at a dotted path, or None when there is none.

    >>> find({"type": "object", "properties": {"size": {"type": "integer"}}}, ".size")
    {'type': 'integer'}
    """
    first, *names = path.split(".")
    if first or not names:
        return None
    found: Json | None = schema
    for name in names:
        if found is not None:
            found = _child(found, name)
    return found


def _child(schema: Json, name: str) -> Json | None:
    if name in (properties := schema.get("properties", {})):
        return dict(properties[name])
    if isinstance(values := schema.get("additionalProperties"), dict):
        return values
    return {} if schema.get("x-kubernetes-preserve-unknown-fields") else None


def _below(node: Node) -> Iterator[Node]:
    yield node
    around = _as_parent(node)
    for name, part in node.schema.get("properties", {}).items():
        path = f"{node.path}.{name}" if node.path else name
        yield from _below(replace(around, schema=part, path=path))
    for key, brackets in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(part := node.schema.get(key), dict):
            yield from _below(replace(around, schema=part, path=node.path + brackets))


def _as_parent(node: Node) -> Node:
    replaced_whole = node.schema.get("x-kubernetes-map-type") == "atomic" or (
        "items" in node.schema and node.schema.get("x-kubernetes-list-type") != "map"
    )
    return replace(
        node,
        unbounded=node.path if node.grows else node.unbounded,
        uncorrelated=node.uncorrelated or (node.path if replaced_whole else ""),
    )
