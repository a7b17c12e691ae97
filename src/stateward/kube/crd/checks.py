"""What the API server would refuse in a schema, found before it is asked.

These are the rules of structural schemas, of list types, of defaults and of CEL rules. They look at
the finished schema, whatever made it, so they also guard the generator itself.

Some are stricter than the server's, which takes bounds that mean nothing for their type, required
fields that no object may have, and rules without a message. And a CEL rule in or on a list or map
without an upper bound is refused outright: the server multiplies the cost of a rule by the largest
size it can imagine, so such a rule works until somebody makes it a little longer, and then the
whole kind is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from stateward.kube.codec import Json
from stateward.kube.crd import values
from stateward.kube.crd.nodes import KEYWORDS, Node, find, nodes
from stateward.kube.crd.problems import Problem

_TYPES: Final = frozenset({"array", "boolean", "integer", "number", "object", "string"})
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
#: What Python's regular expressions have and the server's do not: looking around, and going back.
_FOREIGN: Final = re.compile(r"\(\?(?:[=!>#(]|<[=!]|P[=>])|\\[1-9]")
#: Which bounds mean something for which type; elsewhere the server would never look at them.
_BOUNDS: Final = {
    "Items": frozenset({"array"}),
    "Length": frozenset({"string", "int-or-string"}),
    "Properties": frozenset({"object"}),
    "imum": frozenset({"integer", "number", "int-or-string"}),
}
_OLD_SELF: Final = re.compile(r"\boldSelf\b")
#: To the server the text of a number is endless, so putting it beside another text costs too much.
_ENDLESS: Final = re.compile(r"\+\s*string\(|\bstring\(.*\)\s*\+")


def problems(schema: Json) -> Iterator[Problem]:
    """Yield everything that the API server would refuse in the schema of a kind.

    >>> [str(p) for p in problems({"type": "object", "properties": {"spec": {"type": "array"}}})]
    ['spec: must say what its items are']
    """
    for node in nodes(schema):
        for check in CHECKS:
            yield from check(node)


# -------------------------------------------------------------------------------- structure


def words_are_known(node: Node) -> Iterator[Problem]:
    """A schema is finite and plain: no references, no keywords that the server would drop."""
    for word in sorted(node.schema.keys() - set(KEYWORDS)):
        yield node.says(f"must not say {word}: a structural schema has no such keyword")


def types_are_named(node: Node) -> Iterator[Problem]:
    """Every value has one type, unless it is an int-or-string or open."""
    schema = node.schema
    either = schema.get("x-kubernetes-int-or-string")
    if either and (node.type or schema.get("anyOf") != _INT_OR_STRING):
        yield node.says("must have no type but the two, being an int-or-string")
    if not either and "anyOf" in schema:
        yield node.says("must not offer alternatives: only an int-or-string may")
    is_open = either or schema.get("x-kubernetes-preserve-unknown-fields")
    if node.type not in _TYPES and not (is_open and not node.type):
        yield node.says(f"must have a type, one of {', '.join(sorted(_TYPES))}")
    if not node.path and node.type != "object":
        yield node.says("must be an object at the root")


def parts_fit_the_type(node: Node) -> Iterator[Problem]:
    """Arrays have items, objects have either named fields or free ones."""
    schema = node.schema
    if node.type == "array" and "items" not in schema:
        yield node.says("must say what its items are")
    if "properties" in schema and "additionalProperties" in schema:
        yield node.says("must have either properties or additionalProperties")
    if not node.path and "additionalProperties" in schema:
        yield node.says("must not be a free map at the root")
    for name in schema.get("required", ()):
        if name not in schema.get("properties", {}):
            yield node.says(f"must have the property {name}, which it requires")


def bounds_fit_the_type(node: Node) -> Iterator[Problem]:
    """A bound is of the kind that its type has, and leaves something between low and high."""
    schema = node.schema
    own = "int-or-string" if schema.get("x-kubernetes-int-or-string") else node.type
    for suffix, fitting in _BOUNDS.items():
        low, high = f"min{suffix}", f"max{suffix}"
        for word in (low, high):
            if word in schema and own not in fitting:
                yield node.says(f"must not say {word}, being of type {own or 'anything'}")
        if low in schema and high in schema and schema[low] > schema[high]:
            yield node.says(f"must have a {low} that is no larger than its {high}")
    if "pattern" in schema and own not in _BOUNDS["Length"]:
        yield node.says(f"must not say pattern, being of type {own or 'anything'}")


def embedded_objects_are_objects(node: Node) -> Iterator[Problem]:
    """A whole object inside another is an object with something in it."""
    schema = node.schema
    if not schema.get("x-kubernetes-embedded-resource"):
        return
    if node.type != "object" or "additionalProperties" in schema:
        yield node.says("must be an object, being an embedded resource")
    if not (schema.get("properties") or schema.get("x-kubernetes-preserve-unknown-fields")):
        yield node.says("must have properties or keep unknown fields, being an embedded resource")


def metadata_is_left_alone(node: Node) -> Iterator[Problem]:
    """About metadata a schema may only limit the name."""
    if node.path != "metadata":
        return
    if node.schema.keys() - {"type", "properties"}:
        yield node.says("must say nothing but its type and its name")
    if node.schema.get("properties", {}).keys() - {"name", "generateName"}:
        yield node.says("must limit nothing but name and generateName")


def patterns_are_portable(node: Node) -> Iterator[Problem]:
    """A pattern means the same to Python and to the server."""
    if (pattern := node.schema.get("pattern")) is None:
        return
    try:
        re.compile(pattern)
    except re.error as error:
        yield node.says(f"must have a valid pattern: {error}")
    if found := _FOREIGN.search(pattern):
        yield node.says(f"must have a pattern without {found[0]}, which the server does not know")


# -------------------------------------------------------------------------------- lists and maps


def list_types_fit(node: Node) -> Iterator[Problem]:
    """Only arrays have a list type, only objects a map type; a set holds what merges as one."""
    schema, kind = node.schema, node.schema.get("x-kubernetes-list-type")
    if kind is not None and node.type != "array":
        yield node.says("must be an array to have a list type")
    if "x-kubernetes-map-type" in schema and node.type != "object":
        yield node.says("must be an object to have a map type")
    if ("x-kubernetes-list-map-keys" in schema) != (kind == "map"):
        yield node.says("must have keys if it is a list of type map, and only then")
    items = schema.get("items", {})
    if kind == "set" and (
        (items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic")
        or (items.get("type") == "array" and items.get("x-kubernetes-list-type") in {"set", "map"})
    ):
        yield node.says("must hold scalars or atomic items, being a set")


def list_keys_are_there(node: Node) -> Iterator[Problem]:
    """Items are told apart by keys that every one of them has."""
    keys = node.schema.get("x-kubernetes-list-map-keys", [])
    items = node.schema.get("items", {})
    if len(set(keys)) < len(keys):
        yield node.says("must name every key once")
    for key in keys:
        part = items.get("properties", {}).get(key)
        if part is None:
            yield node.says(f"must have items with the key {key}")
        elif part.get("type") in {"array", "object"}:
            yield node.says(f"must have a scalar as its key {key}")
        elif key not in items.get("required", ()) and "default" not in part:
            yield node.says(f"must require the key {key} of its items, or promise a default for it")


def defaults_fit(node: Node) -> Iterator[Problem]:
    """A promised default obeys the schema beside it."""
    if "default" in node.schema:
        for problem in values.problems_of(node.schema["default"], node.schema, node.path):
            yield Problem(problem.path, f"default {problem.message}")


# -------------------------------------------------------------------------------- rules


def rules_are_worded(node: Node) -> Iterator[Problem]:
    """A rule has a text for the user, on one line, and blames a field that is there."""
    for rule in node.schema.get("x-kubernetes-validations", ()):
        name = rule.get("rule", "").strip()
        if not name:
            yield node.says("must have a rule in every rule")
        if not (rule.get("message", "").strip() or rule.get("messageExpression", "").strip()):
            yield node.says(f"must have a message for the rule {name!r}")
        if "\n" in rule.get("message", "") + rule.get("fieldPath", ""):
            yield node.says(
                f"must have its message and field path on one line in the rule {name!r}"
            )
        path = rule.get("fieldPath")
        if path is not None and find(node.schema, path) is None:
            yield node.says(f"must have the field {path} that the rule {name!r} blames")


def rules_are_affordable(node: Node) -> Iterator[Problem]:
    """A rule runs a limited number of times, over limited lists and texts."""
    rules = node.schema.get("x-kubernetes-validations", ())
    for text in (rule.get(key, "") for rule in rules for key in ("rule", "messageExpression")):
        if _ENDLESS.search(text):
            yield node.says(f"must use '...%d'.format([...]) instead of + string(...) in {text!r}")
    if not rules:
        return
    for path in (node.path if node.grows else "", node.unbounded):
        if path:
            yield node.says(
                f"must not have a rule while {path} has no upper bound; "
                "give it max_items or max_properties"
            )


def rules_about_the_past_can_see_it(node: Node) -> Iterator[Problem]:
    """``oldSelf`` needs items that can be matched with what they were."""
    for rule in node.schema.get("x-kubernetes-validations", ()):
        looks_back = _OLD_SELF.search(rule.get("rule", ""))
        if looks_back and node.uncorrelated:
            yield node.says(
                f"must not look at oldSelf, because the items of {node.uncorrelated} have no keys"
            )
        if not looks_back and rule.get("optionalOldSelf"):
            yield node.says("must use oldSelf in a rule that has optional_old_self")


CHECKS: Final[tuple[Callable[[Node], Iterator[Problem]], ...]] = (
    words_are_known,
    types_are_named,
    parts_fit_the_type,
    bounds_fit_the_type,
    embedded_objects_are_objects,
    metadata_is_left_alone,
    patterns_are_portable,
    list_types_fit,
    list_keys_are_there,
    defaults_fit,
    rules_are_worded,
    rules_are_affordable,
    rules_about_the_past_can_see_it,
)
