"""The rules in the schema of a custom kind, found once and asked of every object.

Only the parts of a schema with a rule somewhere inside are kept, so an object is walked no further
than it must be.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes
from stateward.local.schema.complaints import NOWHERE, type_name
from stateward.local.schema.custom.functions import pattern_problem
from stateward.local.schema.custom.language import Program, RuleError, own_type, spellings
from stateward.local.schema.formats import span_of

RULES: Final = "x-kubernetes-validations"
_OLD: Final = re.compile(r"\boldSelf\b")
#: A part of the path to the field that a rule blames: ``.name`` or ``['key']``.
_STEP: Final = re.compile(r"\.([A-Za-z_][\w-]*)|\['([^']+)'\]")
#: A pattern that a rule names, where it stands for itself.
_PATTERN: Final = re.compile(
    r"""\.(?:matches|find|findAll)\(\s*(?:r(["'])(.*?)\1|(["'])([^\\]*?)\3)"""
)
#: What is said of a rule without words of its own.
_FAILED: Final = "failed rule: "
_MISSING: Final = object()
_REASONS: Final = (
    "FieldValueInvalid",
    "FieldValueForbidden",
    "FieldValueRequired",
    "FieldValueDuplicate",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, ready to be asked."""

    text: str
    message: str
    program: Program
    #: What to say, where that depends on the object.
    telling: Program | None
    reason: str
    field_path: str
    #: Whether it speaks of what was before; then it is asked about changes only...
    of_changes: bool
    #: ... unless what was before may be nothing.
    always: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a schema with rules at it or inside it."""

    schema: Json
    rules: tuple[Rule, ...] = ()
    fields: dict[str, Place] = field(default_factory=dict)
    values: Place | None = None
    items: Place | None = None


def place_of(schema: Json) -> Place | None:
    """Return the rules of a schema, compiled; raise RuleError when one is none."""
    rules = tuple(_rule(rule, schema) for rule in schema.get(RULES) or ())
    fields = {
        name: inner
        for name, one in (schema.get("properties") or {}).items()
        if (inner := place_of(one)) is not None
    }
    others, items = schema.get("additionalProperties"), schema.get("items")
    values = place_of(others) if isinstance(others, dict) else None
    every = place_of(items) if isinstance(items, dict) else None
    if not (rules or fields or values or every):
        return None
    return Place(schema, rules, fields, values, every)


def rule_problems(schema: Json, path: str) -> Iterator[Cause]:
    """Yield what is wrong with the rules at one place of a schema."""
    for number, rule in enumerate(schema.get(RULES) or ()):
        where = f"{path}.{RULES}[{number}]"
        if not str(rule.get("rule", "")).strip():
            yield causes.required(f"{where}.rule", "rule is not specified")
            continue
        if rule.get("reason", _REASONS[0]) not in _REASONS:
            yield causes.unsupported(f"{where}.reason", rule["reason"], sorted(_REASONS))
        yield from _telling_problems(rule, schema, where)
        yield from _text_problems(rule["rule"], schema, where, optional=_is_optional(rule))


def _telling_problems(rule: Json, schema: Json, where: str) -> Iterator[Cause]:
    """Yield what is wrong with the words of a rule, and with the field that it blames."""
    message, telling = rule.get("message"), rule.get("messageExpression")
    if message and not message.strip():
        yield causes.invalid(f"{where}.message", message, "must be non-empty if specified")
    elif message and "\n" in message.strip():
        yield causes.invalid(f"{where}.message", message, "must not contain line breaks")
    elif not message and "\n" in rule["rule"].strip():
        why = "message must be specified if rule contains line breaks"
        yield causes.required(f"{where}.message", why)
    if rule.get("fieldPath") and _field_written(rule["fieldPath"], schema) is None:
        yield causes.invalid(f"{where}.fieldPath", rule["fieldPath"], "must be a valid path")
    if not telling:
        return
    try:
        text = Program(_with_old(telling, optional=_is_optional(rule)), own_type(schema))
    except RuleError as error:
        why = f"messageExpression compilation failed: {error}"
        yield causes.invalid(f"{where}.messageExpression", telling, why)
        return
    if text.returns not in {"STRING", "DYN"}:
        why = "messageExpression must evaluate to a string"
        yield causes.invalid(f"{where}.messageExpression", telling, why)


def _text_problems(text: str, schema: Json, where: str, *, optional: bool) -> Iterator[Cause]:
    """Yield what is wrong with the text of a rule itself."""
    if optional and not _OLD.search(text):
        why = "may not be set if oldSelf is not used in rule"
        yield causes.invalid(f"{where}.optionalOldSelf", optional, why)
    try:
        program = Program(_with_old(text, optional=optional), own_type(schema))
    except RuleError as error:
        yield causes.invalid(f"{where}.rule", text, f"compilation failed: {error}")
        return
    for found in _PATTERN.finditer(text):
        if problem := pattern_problem(found[2] or found[4] or ""):
            yield causes.invalid(f"{where}.rule", text, f"compilation failed: {problem}")
    if program.returns not in {"BOOL", "DYN"}:
        yield causes.invalid(f"{where}.rule", text, "cel expression must evaluate to a bool")


def looking_back(schema: Json) -> Iterator[tuple[int, str]]:
    """Yield the rules at one place of a schema that speak of what was before."""
    for number, rule in enumerate(schema.get(RULES) or ()):
        if _OLD.search(str(rule.get("rule", ""))):
            yield number, rule["rule"]


def _is_optional(rule: Json) -> bool:
    return bool(rule.get("optionalOldSelf"))


def _field_written(path: str, schema: Json) -> str | None:
    """Write the path to a blamed field as causes do; None when the schema has no such field."""
    written, place = "", 0
    while place < len(path):
        if (step := _STEP.match(path, place)) is None:
            return None
        name, known = step[1] or step[2], schema.get("properties") or {}
        inner = known.get(name, schema.get("additionalProperties"))
        if not isinstance(inner, dict):
            return None
        schema = inner
        written += f".{name}" if name in known else f"[{name}]"
        place = step.end()
    return written


def _rule(rule: Json, schema: Json) -> Rule:
    text, kind = rule["rule"], own_type(schema)
    optional = _is_optional(rule)
    telling = rule.get("messageExpression")
    return Rule(
        text=text,
        message=rule.get("message") or f"{_FAILED}{text.strip()}",
        program=Program(_with_old(text, optional=optional), kind),
        telling=Program(_with_old(telling, optional=optional), kind) if telling else None,
        reason=rule.get("reason") or _REASONS[0],
        field_path=_field_written(rule.get("fieldPath") or "", schema) or "",
        of_changes=_OLD.search(text) is not None,
        always=optional,
    )


def _with_old(text: str, *, optional: bool) -> str:
    """Let a rule see what was before as an optional value, if it asks for that."""
    if not optional:
        return text
    old = "before.size() > 0 ? optional.of(before[0]) : optional.none()"
    return f"cel.bind(oldSelf, {old}, ({text}))"


# ------------------------------------------------------------------ asking
def broken_rules(place: Place, new: Any, old: Any | None) -> Iterator[Cause]:
    """Yield the rules that an object breaks, given what was before."""
    yield from _ask(place, new, _MISSING if old is None else old, "")


def _ask(place: Place, new: Any, old: Any, path: str) -> Iterator[Cause]:
    if new is None:
        return
    if place.rules:
        yield from _ask_rules(place, new, old, path)
    if isinstance(new, dict):
        was = old if isinstance(old, dict) else {}
        for name, value in new.items():
            inner = place.fields.get(name, place.values)
            if inner is not None:
                where = f"{path}.{name}" if name in place.fields else f"{path}[{name}]"
                yield from _ask(inner, value, was.get(name, _MISSING), where.removeprefix("."))
    elif isinstance(new, list) and place.items is not None:
        before = _correlated(place.schema, old)
        for number, item in enumerate(new):
            was_item = before.get(_key(place.schema, item), _MISSING)
            yield from _ask(place.items, item, was_item, f"{path}[{number}]")


def _ask_rules(place: Place, new: Any, old: Any, path: str) -> Iterator[Cause]:
    is_known = old is not _MISSING
    is_new = not (is_known and old == new)
    # What did not change was so before; nor is there a change of what is new.
    due = [it for it in place.rules if (is_known or it.always if it.of_changes else is_new)]
    if not due:
        return
    variables = {"self": _at_the_rule(new, place.schema)}
    is_other = is_known and is_new
    variables["oldSelf"] = _at_the_rule(old, place.schema) if is_other else variables["self"]
    variables["before"] = [variables["oldSelf"]] if is_known else []
    for rule in due:
        try:
            why = _refusal(rule, variables)
        except RuleError as error:
            told = f"{error} evaluating rule: {rule.message.removeprefix(_FAILED)}"
            yield causes.invalid(path or NOWHERE, type_name(new), told)
            continue
        if why is not None:
            yield _cause(rule, new, path, why)


def _refusal(rule: Rule, variables: Json) -> str | None:
    """Say why a rule does not hold, or None; raise RuleError where it has no answer."""
    if rule.program.evaluate(variables) is True:
        return None
    if rule.telling is None:
        return rule.message
    try:
        told = str(rule.telling.evaluate(variables)).strip()
    except RuleError:
        return rule.message
    return told if told and "\n" not in told else rule.message


def _cause(rule: Rule, value: Any, path: str, why: str) -> Cause:
    where = f"{path}{rule.field_path}".removeprefix(".") or NOWHERE
    if rule.reason == "FieldValueForbidden":
        return causes.forbidden(where, why)
    if rule.reason == "FieldValueRequired":
        return causes.required(where, why)
    if isinstance(value, dict | list):
        is_double = rule.reason == "FieldValueDuplicate"
        said = "Duplicate value" if is_double else f"Invalid value: {why}"
        return Cause(reason=rule.reason, message=said, field=where)
    if rule.reason == "FieldValueDuplicate":
        return causes.duplicate(where, value)
    return causes.invalid(where, value, why)


def _correlated(schema: Json, old: Any) -> dict[Any, Any]:
    """Return the items that were there before by their keys, where items have any."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _key(schema: Json, item: Any) -> Any:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    return tuple(item.get(key) for key in keys) if isinstance(item, dict) else None


# ------------------------------------------------------------------ values as rules see them
def _at_the_rule(value: Any, schema: Json) -> Any:
    """Return the value that a rule stands at: only there are moments and spans what they are."""
    match own_type(schema):
        case "TIMESTAMP" if isinstance(value, str):
            return datetime.fromisoformat(value)
        case "DURATION" if isinstance(value, str):
            return span_of(value)
        case _:
            return seen(value, schema)


def seen(value: Any, schema: Json) -> Any:
    """Return a value as rules see it: fields with escaped names, numbers and bytes as typed."""
    if isinstance(value, dict):
        fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
        rest = others if isinstance(others, dict) else {}
        return {
            word: seen(inner, fields.get(name, rest))
            for name, inner in value.items()
            for word in (spellings(name) if name in fields else (name,))
        }
    if isinstance(value, list):
        items = schema.get("items")
        every = items if isinstance(items, dict) else {}
        return [seen(item, every) for item in value]
    if schema.get("type") == "number" and isinstance(value, int):
        return float(value)
    if schema.get("format") == "byte" and isinstance(value, str):
        return base64.b64decode(value)
    return value
