"""Rules in the schemas of custom kinds: what they can say, and how a refusal is worded."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    OPEN,
    TEXT,
    Json,
    as_set,
    defined,
    definition,
    embedded,
    fields,
    listed,
    mapped,
    own_group,
    ruled,
    things,
    told,
    version,
    whole,
)
from contract.kubernetes.wire import Answer, Wire

WORD = TEXT | {"maxLength": 60}
NUMBERS = listed(NUMBER, maxItems=5)
WORDS = listed(TEXT | {"maxLength": 5}, maxItems=5)
HERE = "spec.validation.openAPIV3Schema.properties[spec].properties[v]"


async def ask(wire: Wire, schema: Json) -> Answer:
    """Ask whether a schema with rules would be taken."""
    document = definition(own_group(), version(whole(fields(v=schema))))
    return await wire.post("customresourcedefinitions", document, dryRun="All")


# ------------------------------------------------------------------ how a refusal is worded
@pytest.mark.parametrize(
    ("schema", "value", "cause", "says"),
    [
        (ruled(NUMBER, "self > 5"), 1, "FieldValueInvalid spec.v", "failed rule: self > 5"),
        (ruled(NUMBER, "self > 5", message="more"), 1, "FieldValueInvalid spec.v", ": more"),
        (
            ruled(NUMBER, "self > 5", message="no", reason="FieldValueForbidden"),
            1,
            "FieldValueForbidden spec.v",
            "spec.v: Forbidden: no",
        ),
        (
            ruled(NUMBER, "self > 5", message="no", reason="FieldValueRequired"),
            1,
            "FieldValueRequired spec.v",
            "spec.v: Required value: no",
        ),
        (
            ruled(NUMBER, "self > 5", message="no", reason="FieldValueDuplicate"),
            1,
            "FieldValueDuplicate spec.v",
            "spec.v: Duplicate value",
        ),
        (
            ruled(fields(a=NUMBER, b=fields(c=NUMBER)), "self.a > 5", fieldPath=".b.c"),
            {"a": 1},
            "FieldValueInvalid spec.v.b.c",
            "failed rule: self.a > 5",
        ),
        (
            ruled(fields(a=NUMBER, m=mapped(NUMBER)), "self.a > 5", fieldPath=".m['key']"),
            {"a": 1},
            "FieldValueInvalid spec.v.m[key]",
            "failed rule: self.a > 5",
        ),
        (
            ruled(WORD, "self == 'x'", messageExpression="'got ' + self", message="no"),
            "y",
            "FieldValueInvalid spec.v",
            ": got y",
        ),
        (
            ruled(WORDS, "self.size() > 3", messageExpression="'got ' + self[9]", message="plain"),
            [],
            "FieldValueInvalid spec.v",
            ": plain",
        ),
        (
            ruled(WORD, "self == 'x'", messageExpression="''", message="plain"),
            "y",
            "FieldValueInvalid spec.v",
            ": plain",
        ),
        (
            listed(ruled(NUMBER, "self > 5"), maxItems=5),
            [6, 1],
            "FieldValueInvalid spec.v[1]",
            "failed rule",
        ),
        (
            mapped(ruled(NUMBER, "self > 5"), maxProperties=5),
            {"a b": 1, "c": 9},
            "FieldValueInvalid spec.v[a b]",
            "failed rule",
        ),
    ],
    ids=[
        *("plain", "message", "forbidden", "required", "duplicate", "field", "key of a map"),
        *("expression", "expression fails", "expression is empty", "item", "value of a map"),
    ],
)
async def test_how_a_refusal_is_worded(
    wire: Wire, schema: Json, value: Any, cause: str, says: str
) -> None:
    async with things(wire, fields(v=schema)) as kind:
        (await kind.post({"v": value})).refused(422, "Invalid", cause, says=says)


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        (
            ruled(fields(a=NUMBER, b=NUMBER), "self.a > 5", message="no"),
            {"b": 1},
            '"object": no such key: a evaluating rule: no',
        ),
        (
            ruled(mapped(NUMBER, maxProperties=5), "self['x'] > 5"),
            {},
            "\"object\": no such key: x evaluating rule: self['x'] > 5",
        ),
        (
            ruled(NUMBERS, "self[0] > 5", message="no"),
            [],
            '"array": index out of bounds: 0 evaluating rule: no',
        ),
        (
            ruled(NUMBER, "10 / self > 5", message="no"),
            0,
            '"integer": division by zero evaluating rule: no',
        ),
    ],
    ids=["field", "key", "index", "zero"],
)
async def test_a_rule_that_has_no_answer_refuses(
    wire: Wire, schema: Json, value: Any, why: str
) -> None:
    async with things(wire, fields(v=schema)) as kind:
        assert told(await kind.post({"v": value})) == [f"spec.v: Invalid value: {why}"]


async def test_every_rule_is_asked(wire: Wire) -> None:
    schema = ruled(ruled(NUMBER, "self > 5", message="one"), "self > 7", message="two")
    async with things(wire, fields(v=schema)) as kind:
        assert [it.rsplit(": ")[-1] for it in told(await kind.post({"v": 1}))] == ["one", "two"]


async def test_rules_are_asked_only_of_what_has_its_types(wire: Wire) -> None:
    schema = fields(a=TEXT, b=ruled(NUMBER, "self > 5", message="more"))
    async with things(wire, schema) as kind:
        answer = await kind.post({"a": 1, "b": 1})

        causes = ["FieldValueTypeInvalid spec.a", "FieldValueInvalid <nil>"]
        answer.refused(422, "Invalid", *causes, says="some validation rules were not checked")


async def test_rules_see_defaults(wire: Wire) -> None:
    schema = ruled(fields(a=NUMBER | {"default": 1}, b=NUMBER), "self.a > self.b")
    async with things(wire, schema) as kind:
        await kind.made({"b": 0})
        (await kind.post({"b": 1}, "b")).refused(422, "Invalid", "FieldValueInvalid spec")


async def test_a_rule_may_look_at_the_name(wire: Wire) -> None:
    rule = "self.metadata.name.startsWith('ok') && self.kind == 'Thing'"
    schema = ruled(whole(fields(a=TEXT)), rule, message="odd name")
    async with defined(wire, version(schema)) as kind:
        await kind.made({}, "ok-a")

        (await kind.post({}, "a")).refused(
            422, "Invalid", "FieldValueInvalid <nil>", says="odd name"
        )


# ------------------------------------------------------------------ what rules can say
SAYS: list[tuple[str, Json, str, list[Any], list[Any]]] = [
    ("has", fields(a=NUMBER, b=NUMBER), "has(self.a) || has(self.b)", [{"b": 1}], [{}]),
    ("optional", fields(a=fields(b=NUMBER)), "self.?a.?b.orValue(7) == 7", [{}], [{"a": {"b": 1}}]),
    ("quantity", WORD, "quantity(self).isGreaterThan(quantity('1Gi'))", ["2Gi"], ["1Mi", "1Gi"]),
    (
        "sum of quantities",
        WORD,
        "isQuantity(self) && quantity(self).add(quantity('1')).compareTo(quantity('3')) == 0",
        ["2", "2000m"],
        ["3", "bad"],
    ),
    (
        "url",
        WORD,
        "isURL(self) && url(self).getScheme() == 'https' && url(self).getHost() == 'a.b:80'",
        ["https://a.b:80/x"],
        ["http://a.b:80/x", "%"],
    ),
    ("query", WORD, "url(self).getQuery() == {'a': ['1', '2']}", ["https://a/?a=1&a=2"], ["https://a/"]),
    ("ip", WORD, "isIP(self) && ip(self).family() == 4 && !ip(self).isLoopback()", ["10.0.0.1"], ["127.0.0.1", "::1", "x"]),
    ("range", WORD, "isCIDR(self) && cidr(self).containsIP('10.0.0.1') && cidr(self).prefixLength() == 8", ["10.0.0.0/8"], ["10.0.0.0/16", "11.0.0.0/8"]),
    ("range in range", WORD, "cidr('10.0.0.0/8').containsCIDR(self) && cidr(self).masked() == cidr(self)", ["10.1.0.0/16"], ["10.1.1.1/16", "11.0.0.0/16"]),
    ("sets", fields(a=WORDS, b=WORDS), "sets.contains(self.a, self.b)", [{"a": ["x", "y"], "b": ["y"]}], [{"a": ["x"], "b": ["y"]}]),
    ("pattern", WORD, "self.matches('^a+$') && self.findAll('a').size() == 2", ["aa"], ["a", "b"]),
    ("texts", TEXT | {"maxLength": 5}, "self.lowerAscii().split('-')[1] == 'b' && self.indexOf('-') == 1", ["A-B"], ["AB-B"]),
    ("lists", NUMBERS, "self.isSorted() && self.sum() == 6 && self.min() == 1 && self.max() == 3", [[1, 2, 3]], [[3, 2, 1], [6]]),
    ("macros", NUMBERS, "self.exists_one(x, x == 1) && self.filter(x, x > 1).map(y, y * 2) == [4]", [[1, 2]], [[1, 1]]),
    ("duration", TEXT | {"format": "duration"}, "self > duration('1m') && self.getSeconds() == 90", ["90s", "1m30s"], ["30s"]),
    ("moment", TEXT | {"format": "date-time"}, "self.getFullYear() == 2024", ["2024-01-01T00:00:00Z"], ["2023-01-01T00:00:00Z"]),
    ("either", {"x-kubernetes-int-or-string": True}, "type(self) == int ? self > 5 : self.endsWith('%')", [6, "1%"], [1, "x"]),
    ("float", {"type": "number"}, "self > 1.5", [2, 1.6], [1, 1.5]),
    ("dash", fields(**{"max-age": NUMBER}), "self.max__dash__age > 1", [{"max-age": 2}], [{"max-age": 1}]),
    ("reserved", fields(namespace=WORD), "self.namespace == 'x'", [{"namespace": "x"}], [{"namespace": "y"}]),
    ("within", embedded(), "self.kind == 'Pod' && self.metadata.name == 'a'", [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}], [{"apiVersion": "v1", "kind": "Job", "metadata": {"name": "a"}}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "rule", "good", "bad"), [row[1:] for row in SAYS], ids=[row[0] for row in SAYS]
)
async def test_what_rules_can_say(
    wire: Wire, schema: Json, rule: str, good: list[Any], bad: list[Any]
) -> None:
    async with things(wire, fields(v=ruled(schema, rule, message="not so"))) as kind:
        for number, value in enumerate(good):
            await kind.made({"v": value}, f"good-{number}")
        for value in bad:
            answer = await kind.post({"v": value})
            answer.refused(422, "Invalid", "FieldValueInvalid spec.v", says="not so")


@pytest.mark.differs("sets compare in order")
async def test_sets_are_the_same_in_any_order(wire: Wire) -> None:
    schema = ruled(fields(a=as_set(TEXT | {"maxLength": 5})), "self.a == ['x', 'y']")
    async with things(wire, schema) as kind:
        (await kind.post({"a": ["y", "x"]})).made()


@pytest.mark.differs("no list indexOf")
async def test_a_rule_finds_the_place_of_an_item(wire: Wire) -> None:
    (await ask(wire, ruled(NUMBERS, "self.indexOf(2) == 1 && self.lastIndexOf(3) == 2"))).made()


@pytest.mark.differs("no format library")
async def test_a_rule_knows_formats(wire: Wire) -> None:
    (await ask(wire, ruled(WORD, "!format.dns1123Label().validate(self).hasValue()"))).made()


@pytest.mark.since("1.35")
@pytest.mark.parametrize(
    "rule", ["self.all(place, it, place < it)", "semver('1.2.3').major() == 1"]
)
@pytest.mark.differs("no semver, no macros of two variables")
async def test_rules_have_learnt_more(wire: Wire, rule: str) -> None:
    (await ask(wire, ruled(NUMBERS, rule))).made()


# ------------------------------------------------------------------ rules that are none
@pytest.mark.parametrize(
    ("schema", "cause"),
    [
        (ruled(NUMBER, "self >"), "FieldValueInvalid rule"),
        (ruled(NUMBER, "self + 1"), "FieldValueInvalid rule"),
        (ruled(NUMBER, "nobody == 1"), "FieldValueInvalid rule"),
        (ruled(WORD, "self.frobnicate()"), "FieldValueInvalid rule"),
        (ruled(WORD, "self.matches('([')"), "FieldValueInvalid rule"),
        (ruled(NUMBER, " "), "FieldValueRequired rule"),
        (ruled(NUMBER, "self > 1", reason="Odd"), "FieldValueNotSupported reason"),
        (ruled(fields(a=NUMBER), "self.a > 1", fieldPath=".z"), "FieldValueInvalid fieldPath"),
        (ruled(fields(a=NUMBER), "self.a > 1", fieldPath="a"), "FieldValueInvalid fieldPath"),
        (ruled(NUMBER, "self > 1", message="a\nb"), "FieldValueInvalid message"),
        (ruled(NUMBER, "self > 1", message="  "), "FieldValueInvalid message"),
        (ruled(NUMBER, "self\n> 1"), "FieldValueRequired message"),
        (ruled(NUMBER, "self > 1", messageExpression="'a"), "FieldValueInvalid messageExpression"),
        (ruled(NUMBER, "self > 1", messageExpression="1"), "FieldValueInvalid messageExpression"),
        (ruled(NUMBER, "self > 1", optionalOldSelf=True), "FieldValueInvalid optionalOldSelf"),
    ],
    ids=[
        *("syntax", "no truth", "nobody", "no function", "pattern", "empty", "reason", "no field"),
        *(
            "no path",
            "two lines",
            "no words",
            "two lines of rule",
            "expression",
            "no text",
            "no past",
        ),
    ],
)
async def test_rules_that_are_none(wire: Wire, schema: Json, cause: str) -> None:
    reason, where = cause.split()

    answer = await ask(wire, schema)

    answer.refused(422, "Invalid", f"{reason} {HERE}.x-kubernetes-validations[0].{where}")


async def test_a_condition_has_no_rules(wire: Wire) -> None:
    answer = await ask(wire, NUMBER | {"anyOf": [ruled({"minimum": 1}, "self > 1")]})

    answer.refused(422, "Invalid", f"FieldValueForbidden {HERE}.anyOf[0].x-kubernetes-validations")


@pytest.mark.differs(
    "a rule that names an unknown field fails when it is asked, not when the kind is created"
)
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (ruled(fields(a=WORD), "self.b == 'x'"), "undefined field 'b'"),
        (ruled(OPEN, "has(self.a)"), "undefined field 'a'"),
        (ruled(NUMBER, "self == 'a'"), "found no matching overload for '_==_'"),
    ],
    ids=["unknown field", "open object", "wrong type"],
)
async def test_rules_are_checked_against_the_schema(wire: Wire, schema: Json, why: str) -> None:
    where = f"FieldValueInvalid {HERE}.x-kubernetes-validations[0].rule"
    (await ask(wire, schema)).refused(422, "Invalid", where, says=why)


@pytest.mark.differs("there are no cost limits")
async def test_a_rule_may_not_cost_too_much(wire: Wire) -> None:
    answer = await ask(wire, ruled(listed(TEXT), "self.all(x, self.all(y, x.contains(y)))"))

    answer.refused(422, "Invalid", says="estimated rule cost exceeds budget")
