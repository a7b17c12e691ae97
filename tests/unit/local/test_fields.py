"""Places in objects: tables of small specs, and laws about all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.kube.codec import Json
from stateward.kube.structure import Shape, Structure
from stateward.local.apply.fields import (
    FREE,
    differences,
    doubled,
    merged,
    named,
    places,
    released,
    without,
)
from stateward.local.apply.paths import Path, dotted, from_fields_v1, to_fields_v1
from unit.local.pictures import STRUCTURE

LAW = settings(max_examples=40)
SPEC = STRUCTURE.child("spec") or FREE

words = st.sampled_from("abc")
texts = st.dictionaries(words, words, min_size=1, max_size=2)


def _parts(names: list[str], colors: Json) -> list[Json]:
    return [{"name": name, **({"color": colors[name]} if name in colors else {})} for name in names]


#: Specs of widgets: one of everything that merges, in every combination.
specs: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 2) | st.booleans(),
        "backup": st.dictionaries(st.sampled_from(["store", "keep"]), words, max_size=2),
        "limits": texts,
        "origin": st.dictionaries(st.sampled_from(["host", "path"]), words, max_size=2),
        "words": st.lists(words, max_size=2),
        "tags": st.lists(words, min_size=1, max_size=3, unique=True),
        "parts": st.builds(_parts, st.lists(words, min_size=1, max_size=3, unique=True), texts),
        "extra": st.dictionaries(words, st.integers(0, 1) | texts, max_size=2),
    },
)

_HOLDER = object()


def flat(value: Any, structure: Structure = SPEC, path: Path = ()) -> dict[Path, Any]:
    """Return every place of a value and what stands there, holders included: written to be obvious, not fast."""
    places: dict[Path, Any] = {}
    match structure.shape, value:
        case ((Shape.STRUCT | Shape.MAP | Shape.UNKNOWN), dict()):
            inside = [
                (f"f:{name}", it, structure.child(name) or FREE) for name, it in value.items()
            ]
        case Shape.LIST_MAP, list():
            items = structure.items or FREE
            inside = [(f'k:{{"name":"{it["name"]}"}}', it, items) for it in value]
        case Shape.LIST_SET, list():
            inside = [(f'v:"{it}"', it, Structure(Shape.SCALAR)) for it in value]
        case _:
            return {path: (type(value), value)}
    if path:
        places[path] = _HOLDER
    for element, it, how in inside:
        places |= flat(it, how, (*path, element))
    return places


def is_within(path: Path, some: set[Path]) -> bool:
    return any(path[: len(one)] == one for one in some)


def keys_of(paths: set[Path]) -> set[str]:
    return {dotted(path) for path in paths}


# ------------------------------------------------------------------ places
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"size": 1}, ".size"),
        ({"backup": {"store": "s"}}, ".backup.store"),
        ({"backup": {}}, ".backup"),
        ({"limits": {"a": "1"}}, ".limits.a"),
        ({"limits": {}}, ".limits"),
        ({"origin": {"host": "h"}}, ".origin"),
        ({"words": ["a", "b"]}, ".words"),
        ({"words": []}, ".words"),
        ({"tags": ["a", "b"]}, '.tags[="a"] .tags[="b"]'),
        ({"tags": []}, ""),
        ({"parts": [{"name": "a"}]}, '.parts[name="a"] .parts[name="a"].name'),
        ({"parts": []}, ""),
        ({"size": None}, ".size"),
        ({"backup": None}, ".backup"),
        ({"extra": {"a": {"b": 1}}}, ".extra .extra.a .extra.a.b"),
        ({"extra": [{"a": 1}]}, ".extra"),
    ],
    ids=str,
)
def test_what_is_said(spec: Json, said: str) -> None:
    assert keys_of(places(spec, SPEC)) == set(said.split())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("f:spec", "f:size"), ".spec.size"),
        (("f:a", 'k:{"port":80,"protocol":"TCP"}', "f:b"), '.a[port=80,protocol="TCP"].b'),
        (("f:metadata", "f:finalizers", 'v:"x/y"'), '.metadata.finalizers[="x/y"]'),
        (("f:metadata", "f:labels", "f:app.io/name"), ".metadata.labels.app.io/name"),
    ],
)
def test_a_place_for_people(path: Path, text: str) -> None:
    assert dotted(path) == text


@LAW
@given(specs)
def test_a_holder_is_named_by_its_schema_or_says_itself(spec: Json) -> None:
    """Every place but the named holders is said, so naming them gives every place there is."""
    assert named(places(spec, SPEC), SPEC) == set(flat(spec))


# ------------------------------------------------------------------ differences
@pytest.mark.parametrize(
    ("old", "new", "written", "removed"),
    [
        ({}, {"size": 1}, ".size", ""),
        ({"size": 1}, {"size": 2}, ".size", ""),
        ({"size": 1}, {"size": True}, ".size", ""),
        ({"size": 1}, {}, "", ".size"),
        ({}, {"backup": {"store": "s"}}, ".backup .backup.store", ""),
        ({"backup": {}}, {"backup": {"store": "s"}}, ".backup.store", ""),
        ({"backup": {"store": "s"}}, {}, "", ".backup .backup.store"),
        ({"backup": {"store": "s"}}, {"backup": {}}, "", ".backup.store"),
        ({"origin": {"host": "a"}}, {"origin": {"host": "b"}}, ".origin", ""),
        ({"words": ["a", "b"]}, {"words": ["b", "a"]}, ".words", ""),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, "", ""),
        ({"tags": ["a"]}, {"tags": ["b"]}, '.tags[="b"]', '.tags[="a"]'),
        ({"extra": 1}, {"extra": {"a": 1}}, ".extra .extra.a", ""),
        ({"extra": {"a": 1}}, {"extra": 1}, ".extra", ".extra.a"),
        ({"backup": None}, {"backup": {}}, ".backup", ""),
    ],
    ids=str,
)
def test_what_differs(old: Json, new: Json, written: str, removed: str) -> None:
    found = differences(old, new, SPEC)

    assert keys_of(found.written) == set(written.split())
    assert keys_of(found.removed) == set(removed.split())


def test_items_that_are_there_twice_are_one_place() -> None:
    twice = {"parts": [{"name": "a"}, {"name": "a", "color": "red"}]}
    once = {"parts": [{"name": "a"}]}

    assert keys_of(differences(once, twice, SPEC).written) == {'.parts[name="a"]'}
    assert differences(twice, twice, SPEC).written == set()


@LAW
@given(specs, specs)
def test_differences_are_a_comparison_of_places(old: Json, new: Json) -> None:
    found = differences(old, new, SPEC)

    was, now = flat(old), flat(new)
    assert found.removed == was.keys() - now.keys()
    assert found.written == {path for path in now if was.get(path) != now[path]}


# ------------------------------------------------------------------ merging
@pytest.mark.parametrize(
    ("live", "applied", "result"),
    [
        ({"size": 1}, {"words": ["w"]}, {"size": 1, "words": ["w"]}),
        ({"limits": {"a": "1"}}, {"limits": {"b": "2"}}, {"limits": {"a": "1", "b": "2"}}),
        ({"origin": {"host": "h"}}, {"origin": {"path": "p"}}, {"origin": {"path": "p"}}),
        ({"words": ["a"]}, {"words": ["b"]}, {"words": ["b"]}),
        ({"tags": ["a", "b"]}, {"tags": ["c", "a"]}, {"tags": ["c", "a", "b"]}),
        ({"backup": {"store": "s"}}, {"backup": {}}, {"backup": {"store": "s"}}),
        ({"backup": {"store": "s"}}, {"backup": None}, {"backup": {"store": "s"}}),
        ({}, {"backup": {}}, {"backup": {}}),
        ({}, {"tags": []}, {"tags": []}),
        ({"extra": 1}, {"extra": {"a": 1}}, {"extra": {"a": 1}}),
        ({"extra": [1]}, {"extra": [2]}, {"extra": [2]}),
    ],
    ids=str,
)
def test_one_laid_over_another(live: Json, applied: Json, result: Json) -> None:
    assert merged(live, applied, SPEC) == result


@LAW
@given(specs)
def test_laid_over_nothing_or_itself_it_is_what_it_is(spec: Json) -> None:
    assert merged({}, spec, SPEC) == spec
    assert merged(spec, {}, SPEC) == spec
    assert merged(spec, spec, SPEC) == spec


@LAW
@given(specs, specs)
def test_laid_over_it_is_all_there_and_nothing_else_is_lost(live: Json, applied: Json) -> None:
    both = flat(merged(live, applied, SPEC))

    under, over = flat(live), flat(applied)
    assert both == under | over or _has_atomic_change(under, over)
    assert both.items() >= over.items()
    assert merged(merged(live, applied, SPEC), applied, SPEC) == merged(live, applied, SPEC)


def _has_atomic_change(under: dict[Path, Any], over: dict[Path, Any]) -> bool:
    """Tell whether a value took the place of one with parts, which are then gone."""
    return any(over.get(path, it) is not it and it is _HOLDER for path, it in under.items())


@LAW
@given(specs, specs)
def test_what_is_laid_over_decides_the_order(live: Json, applied: Json) -> None:
    both = merged(live, applied, SPEC)

    for name in ("tags", "parts"):
        ours = [_name(it) for it in applied.get(name, [])]
        assert [_name(it) for it in both.get(name, []) if _name(it) in ours] == ours


def _name(item: Any) -> Any:
    return item["name"] if isinstance(item, dict) else item


# ------------------------------------------------------------------ removing
@LAW
@given(specs, st.data())
def test_without_some_places_exactly_those_are_gone(spec: Json, data: st.DataObject) -> None:
    everywhere = sorted(path for path in flat(spec) if path[-1] != "f:name")  # names are keys
    gone = (
        set(data.draw(st.lists(st.sampled_from(everywhere), max_size=4))) if everywhere else set()
    )

    left = flat(without(spec, gone, SPEC))

    assert left.keys() == {path for path in flat(spec) if not is_within(path, gone)}
    assert without(spec, (), SPEC) == spec


@LAW
@given(specs, specs, specs)
def test_only_what_was_held_and_is_held_by_nobody_is_released(
    live: Json, mine: Json, theirs: Json
) -> None:
    spec = merged(merged(live, mine, SPEC), theirs, SPEC)
    last, held = places(mine, SPEC), places(theirs, SPEC)

    left = released(spec, last, held, SPEC)

    before, after = named(places(spec, SPEC), SPEC), named(places(left, SPEC), SPEC)
    assert after <= before
    assert held & places(spec, SPEC) <= after
    assert all(is_within(path, named(last, SPEC)) for path in before - after)
    assert released(left, last, held, SPEC) == left


@LAW
@given(specs, specs)
def test_who_holds_everything_releases_nothing(live: Json, mine: Json) -> None:
    spec = merged(live, mine, SPEC)

    assert released(spec, places(mine, SPEC), places(spec, SPEC), SPEC) == spec


@LAW
@given(specs)
def test_who_made_everything_takes_everything_away(spec: Json) -> None:
    assert released(spec, places(spec, SPEC), set(), SPEC) == {}


@LAW
@given(specs, specs)
def test_what_one_applies_is_what_there_is(first: Json, second: Json) -> None:
    """The heart of apply: with one applier, the object is what it said last."""
    laid = merged(first, second, SPEC)
    now = released(laid, places(first, SPEC), places(second, SPEC), SPEC)

    assert now == second


# ------------------------------------------------------------------ items there twice
@pytest.mark.parametrize(
    ("spec", "twice"),
    [
        ({"parts": [{"name": "a"}, {"name": "b"}]}, ""),
        ({"parts": [{"name": "a"}, {"name": "a"}]}, '.parts[name="a"]'),
        ({"tags": ["x", "y", "x"]}, '.tags[="x"]'),
        ({"words": ["x", "x"]}, ""),
    ],
    ids=str,
)
def test_what_is_there_twice(spec: Json, twice: str) -> None:
    assert {dotted(path) for path in doubled(spec, SPEC)} == set(twice.split())


# ------------------------------------------------------------------ the record
@pytest.mark.parametrize(
    ("paths", "record"),
    [
        ((), {}),
        ((("f:a",),), {"f:a": {}}),
        ((("f:a", "f:b"),), {"f:a": {"f:b": {}}}),
        ((("f:a",), ("f:a", "f:b")), {"f:a": {".": {}, "f:b": {}}}),
    ],
    ids=str,
)
def test_a_set_of_places_as_kubernetes_writes_it(paths: tuple[Path, ...], record: Json) -> None:
    assert to_fields_v1(paths) == record
    assert from_fields_v1(record) == set(paths)


elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"a"}', 'v:"x"'])
paths = st.lists(elements, min_size=1, max_size=4).map(tuple)


@LAW
@given(st.sets(paths, max_size=12))
def test_places_come_back_as_they_went(some: set[Path]) -> None:
    assert from_fields_v1(to_fields_v1(some)) == some


@LAW
@given(specs)
def test_the_places_of_a_spec_come_back_too(spec: Json) -> None:
    assert from_fields_v1(to_fields_v1(places(spec, SPEC))) == places(spec, SPEC)
