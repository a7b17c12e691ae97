"""Rules in the schemas of custom kinds: what they see, what they say, and what they know of before."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.codec import Json
from stateward.local.schema.custom import functions
from stateward.local.schema.custom.definition_checks import definition_problems
from stateward.local.schema.custom.language import Program, RuleError, escaped
from stateward.local.schema.custom.objects import CustomSchema
from stateward.local.schema.custom.rules import broken_rules, place_of
from stateward.local.schema.custom.schema_checks import schema_problems
from stateward.local.schema.custom.structural import fill

TEXT: Json = {"type": "string"}


def said(schema: Json, new: Any, old: Any | None = None) -> list[str]:
    """Return what the rules of a schema say against a value."""
    place = place_of(schema)
    assert place is not None
    return [f"{cause.field}: {cause.message}" for cause in broken_rules(place, new, old)]


def ruled(rule: str, schema: Json | None = None, **more: Any) -> Json:
    known = schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return known | {"x-kubernetes-validations": [{"rule": rule, "message": "no", **more}]}


# ------------------------------------------------------------------ the language
@pytest.mark.parametrize(
    "rule",
    [
        "self.n > 1 && self.words.all(w, w.startsWith('a'))",
        "self.words.isSorted() && [1, 2].sum() == 3 && [3, 1].min() == 1 && [3, 1].max() == 3",
        "'abc123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
        "'a1b2'.findAll('[0-9]', 1) == ['1']",
        "quantity('1Gi').isGreaterThan(quantity('500Mi')) && quantity('1').isLessThan(quantity('2'))",
        "quantity('1500m').compareTo(quantity('1.5')) == 0 && quantity('1k').asInteger() == 1000",
        "quantity('1').add(quantity('1')).sub(1).asApproximateFloat() == 1.0 && quantity('1').isInteger()",
        "isQuantity('5Mi') && !isQuantity('five') && quantity('-1').sign() == -1",
        "isIP('10.0.0.1') && ip('::1').family() == 6 && !isIP('10')",
        "isCIDR('10.0.0.0/8') && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "isURL('https://a.b:80/c') && url('https://a.b:80/c').getHostname() == 'a.b'",
        "url('https://a.b:80/c').getPort() == '80' && url('https://a.b/c').getEscapedPath() == '/c'",
        "self.?nothing.orValue(3) == 3 && !has(self.nothing)",
        "self.words.map(w, w.size()) == [1, 2] && 'A'.lowerAscii() == 'a'",
    ],
)
def test_what_rules_can_say(rule: str) -> None:
    assert said(ruled(rule), {"n": 2, "words": ["a", "ab"]}) == []


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("size", "size"),
        ("namespace", "__namespace__"),
        ("a-b", "a__dash__b"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("a__b", "a__underscores__b"),
    ],
)
def test_how_rules_name_fields(name: str, written: str) -> None:
    assert escaped(name) == written
    schema = {"type": "object", "properties": {name: {"type": "integer"}}}
    assert said(ruled(f"self.{written} == 1", schema), {name: 1}) == []


@pytest.mark.parametrize("text", ["self.a +", "nobody(self)", "unknown == 1"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(RuleError):
        Program(text)


def test_numbers_bytes_and_moments_are_what_the_schema_says() -> None:
    fields = {"share": {"type": "number"}, "raw": {"type": "string", "format": "byte"}}
    rule = ruled(
        "self.share / 2.0 == 0.5 && self.raw == b'abc'", {"type": "object", "properties": fields}
    )
    moment = ruled("self > timestamp('2020-01-01T00:00:00Z')", TEXT | {"format": "date-time"})

    assert said(rule, {"share": 1, "raw": "YWJj"}) == []
    assert said(moment, "2026-01-01T00:00:00Z") == []
    assert said(ruled("self < duration('1h')", TEXT | {"format": "duration"}), "90s") == []


# ------------------------------------------------------------------ what they say
def test_a_rule_that_cannot_be_evaluated_is_broken() -> None:
    (told,) = said(ruled("self.nothing > 1"), {"n": 1})

    assert "evaluating rule: no" in told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "a: Invalid value: no"),
        ({"message": ""}, "a: Invalid value: failed rule: false"),
        ({"messageExpression": "'n is ' + string(self.n)"}, "a: Invalid value: n is 1"),
        ({"messageExpression": "self.nothing"}, "a: Invalid value: no"),
        ({"reason": "FieldValueForbidden"}, "a: Forbidden: no"),
        ({"reason": "FieldValueRequired", "fieldPath": ".n"}, "a.n: Required value: no"),
        ({"reason": "FieldValueDuplicate"}, "a: Duplicate value"),
    ],
    ids=str,
)
def test_how_a_refusal_is_worded(more: Json, told: str) -> None:
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"a": ruled("false", inner, **more)}}

    assert said(schema, {"a": {"n": 1}}) == [told]


# ------------------------------------------------------------------ before and after
GROWS = ruled("self >= oldSelf", {"type": "integer"})


@pytest.mark.parametrize(
    ("schema", "old", "new", "count"),
    [
        (GROWS, None, 1, 0),
        (GROWS, 2, 1, 1),
        (GROWS, 1, 2, 0),
        (ruled("self > 5", {"type": "integer"}), 1, 1, 0),
        (ruled("self > 5", {"type": "integer"}), 1, 2, 1),
        (
            ruled(
                "!oldSelf.hasValue() || oldSelf.value() < self",
                {"type": "integer"},
                optionalOldSelf=True,
            ),
            None,
            1,
            0,
        ),
        (
            ruled(
                "!oldSelf.hasValue() || oldSelf.value() < self",
                {"type": "integer"},
                optionalOldSelf=True,
            ),
            2,
            1,
            1,
        ),
        ({"type": "object", "additionalProperties": GROWS}, {"a": 2}, {"a": 1, "b": 0}, 1),
        ({"type": "array", "items": GROWS}, [2], [1], 0),
    ],
)
def test_rules_that_look_back(schema: Json, old: Any, new: Any, count: int) -> None:
    assert len(said(schema, new, old)) == count


def test_items_are_known_by_their_keys() -> None:
    item = ruled(
        "self.n >= oldSelf.n",
        {"type": "object", "properties": {"name": TEXT, "n": {"type": "integer"}}},
    )
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    schema = {"type": "array", "items": item} | keyed
    old = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]

    assert said(
        schema, [{"name": "b", "n": 3}, {"name": "a", "n": 0}, {"name": "c", "n": 0}], old
    ) == ["[1]: Invalid value: no"]


# ------------------------------------------------------------------ schemas
def test_defaults_reach_into_everything() -> None:
    one = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    schema = {
        "type": "object",
        "properties": {
            "a": one | {"default": {}},
            "list": {"type": "array", "items": one},
            "map": {"type": "object", "additionalProperties": one},
            "null": {"type": "string", "default": "x"},
            "nil": {"type": "string", "default": "x", "nullable": True},
        },
    }
    value: Json = {"list": [{}, {"n": 2}], "map": {"k": {}}, "null": None, "nil": None}

    fill(value, schema)

    assert value == {
        "list": [{"n": 1}, {"n": 2}],
        "map": {"k": {"n": 1}},
        "null": "x",
        "nil": None,
        "a": {"n": 1},
    }


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        (TEXT | {"pattern": "^a+$"}, "b", "should match '^a+$'"),
        (TEXT | {"minLength": 2}, "b", "should be at least 2 chars long"),
        (TEXT | {"format": "duration"}, "long", "must be of type duration"),
        (TEXT | {"format": "duration"}, "1h30m", ""),
        (TEXT | {"format": "uuid"}, "x", "must be of type uuid"),
        (TEXT | {"format": "cidr"}, "10.0.0.0/8", ""),
        (TEXT | {"format": "byte"}, "?", "must be of type byte"),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            1,
            "should be greater than 1",
        ),
        ({"type": "integer", "multipleOf": 2}, 3, "should be a multiple of 2"),
        (
            {"type": "object", "maxProperties": 1, "additionalProperties": TEXT},
            {"a": "", "b": ""},
            "Too many",
        ),
        (
            {
                "x-kubernetes-int-or-string": True,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
            },
            "80",
            "",
        ),
        ({"x-kubernetes-int-or-string": True}, True, "must be of type integer,string"),
        (TEXT | {"nullable": True}, None, ""),
        (TEXT, None, "must be of type string"),
        (
            TEXT | {"oneOf": [{"enum": ["a"]}, {"enum": ["b"]}]},
            "c",
            "must validate one and only one schema (oneOf). Found none valid",
        ),
    ],
    ids=str,
)
def test_what_schemas_say(schema: Json, value: Any, problem: str) -> None:
    whole = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": schema}}},
    }

    told = "; ".join(
        cause.message for cause in CustomSchema(whole).problems({"spec": {"a": value}}, None)
    )

    assert (problem in told) if problem else told == ""


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ([], ""),
        ({"type": "string"}, ".type"),
        ({"type": "object", "properties": {"a": {}}}, ".properties[a].type"),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, ".properties[a].type"),
        ({"type": "object", "properties": {"a": {"type": "array"}}}, ".properties[a].items"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": [TEXT]}}},
            ".properties[a].items",
        ),
        ({"type": "object", "$ref": "x"}, ".$ref"),
        (
            {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT},
            ".additionalProperties",
        ),
        (
            {"type": "object", "properties": {"a": TEXT | {"pattern": "["}}},
            ".properties[a].pattern",
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": TEXT, "uniqueItems": True}},
            },
            ".properties[a].uniqueItems",
        ),
        ({"type": "object", "anyOf": [{"type": "object"}]}, ".anyOf[0].type"),
        ({"type": "object", "not": {"nullable": True}}, ".not.nullable"),
        (
            {
                "type": "object",
                "properties": {
                    "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}
                },
            },
            ".properties[metadata]",
        ),
        (
            {"type": "object", "properties": {"a": TEXT | {"x-kubernetes-list-type": "set"}}},
            ".properties[a].type",
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "map"}
                },
            },
            ".properties[a].x-kubernetes-list-map-keys",
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "bag"}
                },
            },
            ".properties[a].x-kubernetes-list-type",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "object", "default": {"b": 1}}}},
            ".properties[a].default",
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            ".x-kubernetes-preserve-unknown-fields",
        ),
        (ruled("", {"type": "object"}), ".x-kubernetes-validations[0].rule"),
        (
            ruled("true", {"type": "object"}, reason="Because"),
            ".x-kubernetes-validations[0].reason",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_structural_schema(schema: Any, field: str) -> None:
    assert field in {cause.field.removeprefix("it") for cause in schema_problems(schema, "it")}


def test_keys_of_a_list_must_be_there() -> None:
    def keyed(items: Json) -> Json:
        how = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
        return {"type": "object", "properties": {"a": {"type": "array", "items": items} | how}}

    item = {"type": "object", "properties": {"name": TEXT}}
    assert list(schema_problems(keyed(item | {"required": ["name"]}), "it")) == []
    assert len(list(schema_problems(keyed(item), "it"))) == 1
    assert len(list(schema_problems(keyed({"type": "object"}), "it"))) == 1


def test_an_empty_definition_lacks_everything() -> None:
    found = {cause.field for cause in definition_problems({"metadata": {"name": "x"}}, None)}

    assert found == {
        *("spec.group", "spec.scope", "metadata.name", "spec.versions", "status.storedVersions"),
        *("spec.names.plural", "spec.names.kind", "spec.names.singular", "spec.names.listKind"),
    }


# ------------------------------------------------------------------ rules that mean harm
@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("[1, 'a'].sum() == 1", "no such overload: sum"),
        ("['a', 1].isSorted()", "no such overload: isSorted"),
        ("[].min() == 1", "min called on empty list"),
        ("[].max() == 1", "max called on empty list"),
        ("{'x': 'y'}.sign() == 1", "no such overload: sign"),
        ("ip('x').family() == 4", "IP Address 'x' parse error"),
        ("cidr('x').containsIP('::1')", "network address parse error"),
        ("quantity('x').sign() == 1", "a quantity must look like"),
        ("'a'.find(self.p) == 'a'", "invalid regular expression: missing )"),
        ("self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, true))))", "Iteration budget"),
    ],
)
def test_a_rule_that_fails_says_so_in_plain_words(rule: str, problem: str) -> None:
    (why,) = said(ruled(rule), {"p": "(", "l": list(range(200))})
    assert why.startswith('<nil>: Invalid value: "object": ')
    assert problem in why


@pytest.mark.parametrize("call", ["find('(a+)+$') == ''", "findAll('(a+)+$') == []"])
def test_a_pattern_takes_no_longer_than_its_text(call: str) -> None:
    assert said(ruled(f"self.t.{call}"), {"t": "a" * 5000 + "b"}) == []


# ------------------------------------------------------------------ what a definition may not say
FIELDS: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "n": {"type": "integer"},
                "name": {"type": "string"},
                "list": {"type": "array", "items": {"type": "string"}},
            },
        },
        "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


def found(schema: Json = FIELDS, **version: Any) -> list[str]:
    """Return what is wrong with a definition that has one version, as said."""
    one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    spec = {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [one | version]}
    new: Json = {"metadata": {"name": "foos.x.io"}, "spec": spec}
    return [cause.message for cause in definition_problems(new, None)]


def column(path: str) -> Json:
    return {"additionalPrinterColumns": [{"name": "a", "type": "string", "jsonPath": path}]}


def scaled(spec: str, status: str = ".status.n", selector: str = "") -> Json:
    paths = {"specReplicasPath": spec, "statusReplicasPath": status}
    more = {"labelSelectorPath": selector} if selector else {}
    return {"subresources": {"scale": paths | more}}


def selected(path: str) -> Json:
    return {"selectableFields": [{"jsonPath": path}]}


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        (column("spec.n"), "must be a simple json path starting with ."),
        (column('.status.conditions[?(@.type=="Ready")].status'), ""),
        (selected(""), "Required value"),
        (selected("spec.name"), "expected [ or ."),
        (selected(".spec.nope"), "does not refer to a valid field"),
        (selected(".metadata.name"), "does not refer to a valid field"),
        (selected(".spec.list[0]"), "array notation is not allowed"),
        (selected(".spec.list"), "must point to a field of type string, boolean or integer"),
        (selected(".spec.name"), ""),
        (scaled("spec.n"), "must be a simple json path starting with ."),
        (scaled(".spec."), "should be a json path under .spec"),
        (scaled(".spec.n", ".spec.n"), "should be a json path under .status"),
        (scaled(".spec.n", ".status.n", "foo"), "under either .spec or .status"),
        (scaled(".spec.n", ".status.n", ".status.selector"), ""),
    ],
    ids=str,
)
def test_paths_in_a_definition(version: Json, problem: str) -> None:
    problems = found(**version)
    assert len(problems) == bool(problem)
    assert not problem or problem in problems[0]


@pytest.mark.parametrize(
    "field",
    [
        {"pattern": "("},
        {"pattern": "(?=a)"},
        {"x-kubernetes-validations": [{"rule": "self.matches('(')"}]},
        {"x-kubernetes-validations": [{"rule": "self.find(r'(\\d') == ''"}]},
    ],
    ids=str,
)
def test_patterns_in_a_definition(field: Json) -> None:
    (problem,) = found({"type": "object", "properties": {"a": TEXT | field}})
    assert "invalid regular expression" in problem


def test_an_empty_list_of_values_allows_all() -> None:
    schema = {"type": "object", "properties": {"a": TEXT | {"enum": []}}}
    assert found(schema) == []
    assert list(CustomSchema(schema).problems({"a": "x"}, None)) == []


def test_a_rule_cannot_look_for_ever() -> None:
    assert functions._find_all("ab" * 500_000, "a*", 2) == ["a", ""]
    with pytest.raises(functions.FunctionError, match="more than 10000 matches"):
        functions._find_all("ab" * 500_000, "a*")
