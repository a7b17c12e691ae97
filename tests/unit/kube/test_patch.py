"""Patches: tables of small documents, and laws about all of them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.kube.patch import PatchError, json_patch, merge_diff, merge_patch, same

names = st.sampled_from(["a", "b", "c", "", "/", "~", "0"])
scalars = st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "y", 0.5])


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
        max_leaves=10,
    )


documents = trees(scalars | st.none())
documents_without_null = trees(scalars)


def containers(value: Any) -> set[int]:
    """Return the identity of every object and list in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = {id(value)} if isinstance(value, dict | list) else set[int]()
    return own.union(*map(containers, inner))


def pointers(value: Any, path: str = "") -> dict[str, Any]:
    """Return every place of a document as a pointer, with what is there."""
    found = {path: value}
    named = value.items() if isinstance(value, dict) else ()
    listed = enumerate(value) if isinstance(value, list) else ()
    for token, inner in (*named, *listed):
        found |= pointers(inner, f"{path}/{str(token).replace('~', '~0').replace('/', '~1')}")
    return found


# ------------------------------------------------------------------------------ merge patch
@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ('{"a":1}', '{"a":2}', '{"a":2}'),
        ('{"a":1}', '{"b":2}', '{"a":1,"b":2}'),
        ('{"a":1}', '{"a":null}', "{}"),
        ('{"a":1,"b":2}', '{"a":null}', '{"b":2}'),
        ('{"a":[1,2]}', '{"a":[3]}', '{"a":[3]}'),
        ('{"a":[1]}', '{"a":{"b":1}}', '{"a":{"b":1}}'),
        ('{"a":{"b":1}}', '{"a":[1]}', '{"a":[1]}'),
        ('{"a":{"b":1,"c":2}}', '{"a":{"b":3,"c":null}}', '{"a":{"b":3}}'),
        ('{"a":[{"b":1}]}', '{"a":[{"b":null}]}', '{"a":[{"b":null}]}'),
        ("[1]", "[2]", "[2]"),
        ("[1]", '{"a":1}', '{"a":1}'),
        ('"x"', '{"a":null}', "{}"),
        ('{"a":1}', "null", "null"),
        ('{"a":1}', '"x"', '"x"'),
        ('{"a":null}', '{"b":1}', '{"a":null,"b":1}'),
        ("{}", '{"a":{"b":{"c":null}}}', '{"a":{"b":{}}}'),
        ('{"a":1}', "{}", '{"a":1}'),
    ],
)
def test_merge_patch(target: str, patch: str, result: str) -> None:
    assert json.dumps(merge_patch(json.loads(target), json.loads(patch))) == json.dumps(
        json.loads(result)
    )


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {}, {"a": None}),
        ({}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 3]}),
        ({"a": 1}, {"a": {}}, {"a": {}}),
        ({"a": 1}, {"a": True}, {"a": True}),
        ({"a": 1}, {"a": 1.0}, {}),
        ({"a": None, "b": 1}, {"a": None, "b": 2}, {"b": 2}),
        ({"a": None}, {}, {"a": None}),
        ({"a": 1}, {"a": [None]}, {"a": [None]}),
        ({"a": 1}, None, None),
        ([1], {"a": 1}, {"a": 1}),
        ({"a": 1}, [1], [1]),
    ],
)
def test_merge_diff(old: Any, new: Any, patch: Any) -> None:
    assert json.dumps(merge_diff(old, new)) == json.dumps(patch)


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ({}, {"a": None}, "/a"),
        ({"a": 1}, {"a": None}, "/a"),
        ({}, {"a": {"x/y": {"~": None}}}, "/a/x~1y/~0"),
        ([], {"a": None}, "/a"),
    ],
)
def test_merge_diff_cannot_set_null(old: Any, new: Any, path: str) -> None:
    with pytest.raises(PatchError, match="cannot set null") as caught:
        merge_diff(old, new)
    assert caught.value.path == path


@given(documents, documents_without_null)
def test_diff_then_patch_gives_the_new(old: Any, new: Any) -> None:
    assert same(merge_patch(old, merge_diff(old, new)), new)


@given(st.dictionaries(names, documents), st.dictionaries(names, documents_without_null))
def test_diff_says_nothing_needless(old: Any, new: Any) -> None:
    patch = merge_diff(old, new)
    for name in patch:
        rest = {other: value for other, value in patch.items() if other != name}
        assert not same(merge_patch(old, rest), new)


@given(st.dictionaries(names, documents))
def test_no_difference_is_an_empty_patch(document: Any) -> None:
    assert merge_diff(document, deepcopy(document)) == {}


@given(documents, documents)
def test_merging_twice_is_merging_once(target: Any, patch: Any) -> None:
    once = merge_patch(target, patch)
    assert same(merge_patch(once, patch), once)


@given(documents, documents)
def test_merging_changes_nothing_and_shares_nothing(target: Any, patch: Any) -> None:
    before = deepcopy((target, patch))
    merged = merge_patch(target, patch)
    assert (target, patch) == before
    assert containers(merged).isdisjoint(containers(target) | containers(patch))


@given(documents, documents_without_null)
def test_diffing_changes_nothing_and_shares_nothing(old: Any, new: Any) -> None:
    before = deepcopy((old, new))
    patch = merge_diff(old, new)
    assert (old, new) == before
    assert containers(patch).isdisjoint(containers(old) | containers(new))


# ------------------------------------------------------------------------------ JSON patch
def operation(line: str) -> dict[str, Any]:
    """Read ``add /a 1``, ``remove /a``, ``move /from /path``; ``.`` is the whole document."""
    op, *words = line.split(maxsplit=2)
    paths = ["" if word == "." else word for word in words]
    match op:
        case "move" | "copy":
            return {"op": op, "from": paths[0], "path": paths[1]}
        case "remove":
            return {"op": op, "path": paths[0]}
        case _:
            return {"op": op, "path": paths[0], "value": json.loads(words[1])}


def operations(lines: str) -> list[dict[str, Any]]:
    return [operation(line) for line in lines.split("; ")]


@pytest.mark.parametrize(
    ("target", "lines", "result"),
    [
        ({"a": 1}, "add /b 2", {"a": 1, "b": 2}),
        ({"a": 1}, "add /a null", {"a": None}),
        ({"a": 1}, "add . [1]", [1]),
        ({"a": [1, 3]}, "add /a/1 2", {"a": [1, 2, 3]}),
        ({"a": [1]}, "add /a/1 2", {"a": [1, 2]}),
        ({"a": [1]}, "add /a/- [2]", {"a": [1, [2]]}),
        ([], "add /- 1; add /0 0", [0, 1]),
        ({"a": {}}, "add /a/b {}; add /a/b/c 1", {"a": {"b": {"c": 1}}}),
        ({"a": 1, "b": 2}, "remove /a", {"b": 2}),
        ([1, 2, 3], "remove /1", [1, 3]),
        ({"a": 1}, "remove .; add . 5", 5),
        ({"a": 1, "b": 2}, "replace /a 3", {"a": 3, "b": 2}),
        ([1, 2], "replace /1 3", [1, 3]),
        ({"a": 1}, "replace . {}", {}),
        ({"a": 1}, "replace /b 2", {"a": 1, "b": 2}),
        ({"a": {"b": 1}, "c": {}}, "move /a/b /c/d", {"a": {}, "c": {"d": 1}}),
        ([1, 2, 3], "move /0 /2", [2, 3, 1]),
        ([1, 2, 3], "move /2 /0", [3, 1, 2]),
        ([1, 2], "move /0 /-", [2, 1]),
        ({"a": {"b": 1}}, "move /a/b .", 1),
        ({"a": 1}, "move /a /a", {"a": 1}),
        ({"a": 1, "ab": 2}, "move /a /ab", {"ab": 1}),
        ({"a": [1]}, "copy /a /b; add /b/- 2", {"a": [1], "b": [1, 2]}),
        ({"a": 1}, "copy . /b", {"a": 1, "b": {"a": 1}}),
        ({"a": [1, {"b": None}]}, 'test /a [1.0,{"b":null}]', {"a": [1, {"b": None}]}),
        ({"a/b": 1, "m~n": 2, "~1": 3}, "remove /a~1b; remove /m~0n; test /~01 3", {"~1": 3}),
        ({"": {"": 1}}, "replace // 2", {"": {"": 2}}),
        ({"0": 1, "01": 2, "-": 3}, "remove /01; remove /-", {"0": 1}),
        ([1, 2], "add /-1 3; add /-4 0; remove /-2", [0, 1, 3]),
        ([1, 2], "replace /01 3; replace /-2 0; test /+1 3", [0, 3]),
        ({}, "test /a null", {}),
    ],
)
def test_json_patch(target: Any, lines: str, result: Any) -> None:
    assert json_patch(target, operations(lines)) == result


@pytest.mark.parametrize(
    ("target", "lines", "path", "complaint"),
    [
        ({}, "remove /a", "/a", "must exist, and 'a' does not"),
        ({}, "replace /a/b 1", "/a/b", "must exist"),
        ({}, "add /a/b 1", "/a/b", "must exist, and 'a' does not"),
        ({}, "test /a/b null", "/a/b", "must exist"),
        ([1], "test /1 null", "/1", "must be below 1 here, got 1"),
        ({}, "move /a /b", "/a", "must exist"),
        ({"a": 1}, "add /a/b 1", "/a/b", "must lie in an object or a list"),
        ({"a": "text"}, "remove /a/0", "/a/0", "must exist"),
        ({"a": 1}, "test /a 2", "/a", "must equal the tested value"),
        ({"a": 1}, "test /a true", "/a", "must equal the tested value"),
        ({"a": [1]}, "test /a [1,2]", "/a", "must equal the tested value"),
        ([1], "add /2 1", "/2", "must be below 2 here, got 2"),
        ([1], "remove /1", "/1", "must be below 1 here, got 1"),
        ([1], "remove /-", "/-", "must be a whole number, got '-'"),
        ([1], "remove /-2", "/-2", "must be below 1 here, got -2"),
        ([1], "add /-3 1", "/-3", "must be below 2 here, got -3"),
        ([1], "add /x 1", "/x", "must be a whole number"),
        ([1], "add /٣ 1", "/٣", "must be a whole number"),
        ([[1]], "add /-/0 1", "/-/0", "must be a whole number"),
        ({"a": {}}, "move /a /a/b", "/a/b", "must lie outside of what is moved"),
        ({"a": {}}, "move . /a", "/a", "must lie outside of what is moved"),
        ({}, "add a 1", "a", "must be empty or begin with '/'"),
        ({}, "add /~ 1", "/~", "must write '~' as '~0'"),
        ({}, "add /~2 1", "/~2", "must write '~' as '~0'"),
        ({}, "paint /a 1", "/a", "op must be add, remove"),
        ({}, "remove .", "", "must leave a document behind"),
    ],
)
def test_json_patch_refuses(target: Any, lines: str, path: str, complaint: str) -> None:
    with pytest.raises(PatchError, match=complaint) as caught:
        json_patch(target, operations(lines))
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ({"op": "add", "value": 1}, "must have a path, got None"),
        ({"op": "add", "path": 1, "value": 1}, "must have a path, got 1"),
        ({"op": "move", "path": "/a"}, "must have a from, got None"),
        ({"path": "/a"}, "op must be add, remove, replace, move, copy or test, got None"),
    ],
)
def test_an_operation_must_be_whole(broken: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PatchError, match=complaint):
        json_patch({"a": 1}, [broken])


def test_a_refused_patch_leaves_everything_as_it_was() -> None:
    target = {"a": [1]}
    with pytest.raises(PatchError):
        json_patch(target, operations("add /a/- 2; remove /b"))
    assert target == {"a": [1]}


def test_values_of_a_failed_test_are_not_told() -> None:
    with pytest.raises(PatchError) as caught:
        json_patch({"password": "swordfish"}, operations('test /password "open sesame"'))
    assert "swordfish" not in str(caught.value)
    assert "sesame" not in str(caught.value)


@given(documents, st.data())
def test_every_place_can_be_named(document: Any, data: st.DataObject) -> None:
    places = pointers(document)
    path = data.draw(st.sampled_from(sorted(places)))
    test = {"op": "test", "path": path, "value": places[path]}
    assert same(
        json_patch(document, [test, {"op": "copy", "from": path, "path": ""}]), places[path]
    )


@given(documents, documents, st.data())
def test_what_is_replaced_can_be_put_back(document: Any, value: Any, data: st.DataObject) -> None:
    places = pointers(document)
    path = data.draw(st.sampled_from(sorted(places)))
    there = {"op": "replace", "path": path, "value": value}
    back = {"op": "replace", "path": path, "value": places[path]}
    assert same(json_patch(document, [there, back]), document)


@given(st.dictionaries(names, documents), documents, st.data())
def test_what_is_added_can_be_removed(document: Any, value: Any, data: st.DataObject) -> None:
    free: dict[type, str] = {dict: "brand-new", list: "0"}
    homes = [(path, type(found)) for path, found in pointers(document).items()]
    places = [f"{path}/{free[home]}" for path, home in homes if home in free]
    path = data.draw(st.sampled_from(places))
    add, remove = {"op": "add", "path": path, "value": value}, {"op": "remove", "path": path}
    assert same(json_patch(document, [add, remove]), document)


@pytest.mark.parametrize("op", ["add", "replace"])
def test_an_operation_without_a_value_sets_null(op: str) -> None:
    assert json_patch({"a": 1}, [{"op": op, "path": "/a"}]) == {"a": None}


@given(documents, documents, st.data())
def test_json_patch_changes_nothing_and_shares_nothing(
    document: Any, value: Any, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(sorted(pointers(document))))
    patch = [{"op": "replace", "path": path, "value": value}]
    before = deepcopy((document, patch))
    patched = json_patch(document, patch)
    assert (document, patch) == before
    assert containers(patched).isdisjoint(containers(document) | containers(patch))


# ------------------------------------------------------------------------------ limits
def test_copies_have_a_limit_together() -> None:
    doubling = [{"op": "copy", "from": "", "path": f"/{i}"} for i in range(40)]
    with pytest.raises(PatchError, match="all copies together must have at most"):
        json_patch({"a": "x" * 1000}, doubling)


def test_what_is_moved_is_not_copied() -> None:
    moves = [{"op": "move", "from": f"/{i}", "path": f"/{i + 1}"} for i in range(5000)]
    large = list(range(20_000))  # copied each time, this would take minutes
    assert json_patch({"0": large}, moves) == {"5000": large}
