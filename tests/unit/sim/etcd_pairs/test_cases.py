"""Cases from a schema: a toy one drawn as a table, and what the real one must have."""

from __future__ import annotations

import json

import pytest

from stateward.sim.etcd.pairs import tables
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.cases import Class, drop, generated, has, put
from stateward.sim.etcd.pairs.coverage import coverage
from stateward.sim.etcd.pairs.samples import EXAMPLES, cases_of
from stateward.sim.etcd.pairs.schema import properties, spec_schema

TOY = {
    "properties": {
        "size": {"type": "integer", "minimum": 0, "maximum": 9},
        "quiet": {"type": "boolean"},
        "name": {"type": "string", "maxLength": 2, "pattern": "^a"},
        "mode": {"type": "string", "enum": ["", "Fast"]},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "maxItems": 1, "items": {"type": "string"}},
        "share": {"x-kubernetes-int-or-string": True, "minimum": 0},
        "inside": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
        "theirs": {"type": "object", "properties": {"unseen": {"type": "boolean"}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
}
BASE = {"size": 3, "inside": {"deep": True}}
SOME = {"size": (5,), "name": ("ab",), "tags": ({"a": "b"},), "free": ({"x": 1},), "share": ("5%",)}

#: The end of a name, its class, and what the property then says; "-": it is not there.
PICTURE = """
size.drop             delete   -
size.min              min      0
size.below            invalid  -1
size.max              max      9
size.above            invalid  10
size.change           typical  5
size.mistyped         invalid  "mistyped"
quiet.on              typical  true
quiet.off             typical  false
quiet.mistyped        invalid  "mistyped"
name.empty            empty    ""
name.long             invalid  "aaa"
name.odd              invalid  "No Name!"
name.change           typical  "ab"
name.mistyped         invalid  [1]
mode.is-empty         empty    ""
mode.is-Fast          typical  "Fast"
mode.unknown          invalid  "Unknown"
mode.mistyped         invalid  [1]
tags.empty            empty    {}
tags.change           typical  {"a": "b"}
tags.mistyped         invalid  "mistyped"
list.empty            empty    []
list.many             invalid  65 of them
list.mistyped         invalid  "mistyped"
share.min             min      0
share.below           invalid  -1
share.odd             invalid  "many"
share.change          typical  "5%"
share.mistyped        invalid  ["mistyped"]
inside.drop           delete   -
inside.empty          empty    {}
inside.mistyped       invalid  "mistyped"
inside.deep.drop      delete   -
inside.deep.on        typical  true
inside.deep.off       typical  false
inside.deep.mistyped  invalid  "mistyped"
theirs.empty          empty    {}
theirs.mistyped       invalid  "mistyped"
free.empty            empty    {}
free.change           typical  {"x": 1}
free.mistyped         invalid  "mistyped"
"""


def shown(spec: dict, path: str) -> str:
    names = path.split(".")
    if not has(spec, tuple(names)):
        return "-"
    for name in names:
        spec = spec[name]
    return f"{len(spec)} of them" if isinstance(spec, list) and len(spec) > 9 else json.dumps(spec)


def test_a_toy_schema_as_a_picture():
    cases = generated(properties(TOY, {"theirs"}), BASE, SOME)
    lines = [f"{it.name:21} {it.kind:8} {shown(it.spec(BASE), it.about)}" for it in cases]
    assert lines == PICTURE.strip().splitlines()


def test_a_case_leaves_its_base_alone():
    before = json.dumps(BASE)
    for it in generated(properties(TOY), BASE, SOME):
        it.spec(BASE)
    assert json.dumps(BASE) == before


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (put(("a",), 1), {}, {"a": 1}),
        (put(("a", "b"), 1), {}, {"a": {"b": 1}}),
        (put(("a", "b"), 1), {"a": None}, {"a": {"b": 1}}),
        (put(("a", "b"), 1), {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        (drop(("a",)), {"a": 1, "b": 2}, {"b": 2}),
        (drop(("a", "b")), {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        (drop(("a", "b")), {}, {}),
    ],
)
def test_changes(change, before, after):
    assert change(before) == after


# ---------------------------------------------------------------------- the real schema

EVERY = {str(it) for it in properties(spec_schema(), tables.EMBEDDED)}


def test_every_property_has_a_case_and_nearly_every_kind_of_value():
    """Only what a property cannot be is missing: a boundary that is a rule and not a number."""
    found = coverage(BASES)
    assert found.without_case == ()
    assert found.without_value == ()


def test_a_property_without_a_case_would_be_told(monkeypatch):
    real = spec_schema()
    more = real | {"properties": real["properties"] | {"new": {"type": "boolean"}}}
    monkeypatch.setattr("stateward.sim.etcd.pairs.coverage.spec_schema", lambda: more)
    found = coverage(BASES)
    assert found.without_case == ("new",)
    assert found.without_value == ("new delete", "new invalid", "new typical")


def test_tables_speak_of_properties_that_are_there():
    for table in (tables.INERT, tables.AT_BIRTH, tables.EMBEDDED, EXAMPLES):
        assert set(table) <= EVERY


@pytest.mark.parametrize("base", BASES)
def test_tables_speak_of_cases_that_are_there(base):
    named = {it for names in tables._ANSWERS[base].values() for it in names.split()}
    assert named <= set(cases_of(base))


@pytest.mark.parametrize("base", BASES)
def test_what_is_invalid_is_declared_to_be_refused(base):
    for it in cases_of(base).values():
        if it.kind is Class.INVALID:
            assert tables.answer(base, it.name) not in tables.MADE, it.name


def test_names_can_stand_in_a_command():
    for base in BASES:
        for name in cases_of(base):
            assert not set(name) & set(" :@,'\"$"), name
