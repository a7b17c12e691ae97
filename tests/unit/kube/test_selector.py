"""Selectors: who is selected, as small pictures."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.kube.selector import (
    FieldRequirement,
    FieldSelector,
    LabelSelector,
    Operator,
    Requirement,
)

words = st.sampled_from(["a", "b", "in", "notin", "x.y/z", "A_1", "app.kubernetes.io/name"])
label_values = st.sampled_from(["", "x", "y", "in", "1.2-3_Z"])
labels = st.dictionaries(words, label_values)
requirements = st.builds(
    Requirement,
    words,
    st.sampled_from([Operator.IN, Operator.NOT_IN]),
    st.frozensets(label_values, min_size=1),
) | st.builds(Requirement, words, st.sampled_from([Operator.EXISTS, Operator.ABSENT]))
label_selectors = st.builds(LabelSelector, st.lists(requirements, max_size=4).map(tuple))
field_selectors = st.builds(
    FieldSelector,
    st.lists(
        st.builds(
            FieldRequirement,
            st.sampled_from(["metadata.name", "spec.nodeName", "type"]),
            st.text(),
            st.booleans(),
        ),
        max_size=3,
    ).map(tuple),
)


def labelled(text: str) -> dict[str, str]:
    """Read ``a=1 b= c=x``."""
    return dict(word.split("=", 1) for word in text.split())


# ------------------------------------------------------------------------------ labels
@pytest.mark.parametrize(
    ("selector", "selected", "left_out"),
    [
        ("", ["", "a=b"], []),
        ("  ", ["", "a=b"], []),
        ("a=b", ["a=b", "a=b c=d"], ["", "a=c", "b=b"]),
        ("a==b", ["a=b"], ["", "a=c"]),
        ("a = b", ["a=b"], ["a=c"]),
        ("a=", ["a="], ["", "a=b"]),
        ("a!=b", ["", "a=c", "a="], ["a=b"]),
        ("a!=", ["", "a=b"], ["a="]),
        ("a in (b,c)", ["a=b", "a=c"], ["", "a=d", "a="]),
        ("a in ( b , c )", ["a=b", "a=c"], ["a=d"]),
        ("a in(b)", ["a=b"], ["a=c"]),
        ("a in ()", ["a="], ["", "a=b"]),
        ("a in (b,)", ["a=", "a=b"], ["", "a=c"]),
        ("a notin (b,c)", ["", "a=d"], ["a=b", "a=c"]),
        ("a", ["a=", "a=b"], ["", "b=a"]),
        ("!a", ["", "b=a"], ["a=", "a=b"]),
        ("! a", ["b=a"], ["a="]),
        ("in in (in),notin notin (in)", ["in=in"], ["in=in notin=in", ""]),
        ("in", ["in=x"], [""]),
        ("x.y/z=1", ["x.y/z=1"], ["z=1"]),
        ("a=1,b!=2,c in (3,4),!d", ["a=1 c=3", "a=1 b=3 c=4"], ["a=1 b=2 c=3", "a=1 c=3 d="]),
        (" a = 1 , b ", ["a=1 b="], ["a=1"]),
        ("a,!a", [], ["", "a="]),
    ],
)
def test_who_is_selected(selector: str, selected: list[str], left_out: list[str]) -> None:
    matches = LabelSelector.parse(selector).matches
    assert [text for text in selected + left_out if matches(labelled(text))] == selected


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a == b", "a=b"),
        ("a in (b)", "a=b"),
        ("a notin (b)", "a!=b"),
        ("a in (c, b, c)", "a in (b,c)"),
        ("a notin (c,b)", "a notin (b,c)"),
        ("b, ! a", "b,!a"),
        ("a in ()", "a="),
        ("a in (,b)", "a in (,b)"),
    ],
)
def test_one_way_to_print(text: str, printed: str) -> None:
    assert str(LabelSelector.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (",", "must look like"),
        ("a,", "must look like"),
        (",a", "must look like"),
        ("a,,b", "must look like"),
        ("a b", "must look like"),
        ("a=b c", "must look like"),
        ("=b", "must look like"),
        ("!", "must look like"),
        ("!!a", "must look like"),
        ("!a=b", "must look like"),
        ("a===b", "must look like"),
        ("a=b=c", "must look like"),
        ("a!b", "must look like"),
        ("a in b", "must look like"),
        ("a in (b", "must look like"),
        ("a in (b))", "must look like"),
        ("a in ((b))", "must look like"),
        ("a within (b)", "must look like"),
        ("a>1", "the key of a selector must"),
        ("-a=b", "the key of a selector must"),
        ("/a=b", "the key of a selector must have a domain"),
        ("a=-b", "the value of a in a selector must"),
        ("a in (b c)", "the value of a in a selector must"),
        ("a=" + "b" * 64, "must be at most 63 characters"),
    ],
)
def test_refuses_text(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        LabelSelector.parse(text)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


@pytest.mark.parametrize(
    ("document", "printed"),
    [
        ({}, ""),
        ({"matchLabels": {}, "matchExpressions": []}, ""),
        ({"matchLabels": None, "matchExpressions": None}, ""),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        ({"matchExpressions": [expression("a", "In", "y", "x")]}, "a in (x,y)"),
        ({"matchExpressions": [expression("a", "NotIn", "x")]}, "a!=x"),
        ({"matchExpressions": [expression("a", "Exists")]}, "a"),
        ({"matchExpressions": [expression("a", "DoesNotExist") | {"values": []}]}, "!a"),
        ({"matchExpressions": [expression("b", "Exists")], "matchLabels": {"c": ""}}, "c=,b"),
        (None, "nothing,!nothing"),
    ],
)
def test_reads_documents(document: dict[str, Any] | None, printed: str) -> None:
    selector = LabelSelector.from_document(document)
    assert (str(selector), selector) == (printed, LabelSelector.parse(printed))


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({"app": "shop"}, r"must have matchLabels or matchExpressions, got \['app'\]"),
        ({"matchLabels": ["a"]}, "matchLabels must map names to text"),
        ({"matchLabels": {"a": 1}}, "matchLabels must map names to text"),
        ({"matchLabels": {"a": "-"}}, "the value of a in a selector must"),
        ({"matchExpressions": {"a": "b"}}, "matchExpressions must be a list"),
        ({"matchExpressions": ["a"]}, "must have a key and an operator"),
        ({"matchExpressions": [{"key": "a"}]}, "must have a key and an operator"),
        ({"matchExpressions": [expression("a", "Gt", "1")]}, "operator must be one of In, NotIn"),
        ({"matchExpressions": [expression("a", "In")]}, "In must have at least one value, for a"),
        ({"matchExpressions": [expression("a", "Exists", "b")]}, "Exists must have no values"),
        ({"matchExpressions": [expression("a", "In") | {"values": "b"}]}, "must be a list of text"),
        ({"matchExpressions": [expression("a", "In") | {"values": [1]}]}, "must be a list of text"),
    ],
)
def test_refuses_documents(document: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        LabelSelector.from_document(document)


@given(labels)
def test_an_empty_document_means_all_and_none_means_nobody(carried: dict[str, str]) -> None:
    assert LabelSelector.from_document({}).matches(carried)
    assert not LabelSelector.from_document(None).matches(carried)


@given(label_selectors)
def test_label_text_is_read_back(selector: LabelSelector) -> None:
    assert LabelSelector.parse(str(selector)) == selector


@given(words, st.frozensets(label_values, min_size=1), labels)
def test_not_is_the_opposite(key: str, wanted: frozenset[str], carried: dict[str, str]) -> None:
    for one, other in (("IN", "NOT_IN"), ("EXISTS", "ABSENT")):
        given_values = wanted if one == "IN" else frozenset[str]()
        yes, no = (Requirement(key, Operator[name], given_values) for name in (one, other))
        assert yes.matches(carried) is not no.matches(carried)


@given(label_selectors, label_selectors, labels)
def test_a_comma_means_and(a: LabelSelector, b: LabelSelector, carried: dict[str, str]) -> None:
    both = LabelSelector(a.requirements + b.requirements)
    assert both.matches(carried) is (a.matches(carried) and b.matches(carried))


# ------------------------------------------------------------------------------ fields
POD = {
    "metadata": {"name": "shop-0", "namespace": "prod", "generation": 3},
    "spec": {"nodeName": "n1", "hostNetwork": False, "containers": [{"name": "a,b=c\\d"}]},
    "status": {"phase": "Running"},
    "note": "a,b=c\\d",
}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("", True),
        (" ", True),
        ("metadata.name=shop-0", True),
        ("metadata.name==shop-0", True),
        ("metadata.name=shop-1", False),
        ("metadata.name!=shop-0", False),
        ("metadata.name!=shop-1", True),
        ("metadata.name=shop-0,spec.nodeName!=n2, status.phase=Running", True),
        ("metadata.name=shop-0,spec.nodeName!=n1", False),
        ("spec.missing=", True),
        ("spec.missing!=", False),
        ("spec.missing!=x", True),
        ("status.phase.deeper=", True),
        ("spec.containers=", True),
        ("spec.hostNetwork=false", True),
        ("metadata.generation=3", True),
        (r"note=a\,b\=c\\d", True),
    ],
)
def test_which_fields_are_selected(selector: str, selected: bool) -> None:
    assert FieldSelector.parse(selector).matches(POD) is selected


@pytest.mark.parametrize(
    "text",
    [
        *("metadata.name", "=x", "metadata..name=x", ".name=x", "a=b,", ",a=b", "a=b,,c=d"),
        *("a=b=c", "a===b", r"a=\x", "a=\\", "!a", "a in (b)", "a b=c"),
    ],
)
def test_refuses_fields(text: str) -> None:
    with pytest.raises(ValueError, match="a field selector must look like"):
        FieldSelector.parse(text)


def test_a_field_path_cannot_be_made_wrong() -> None:
    with pytest.raises(ValueError, match="a field path must look like"):
        FieldRequirement("a=b", "c")


@given(field_selectors)
def test_field_text_is_read_back(selector: FieldSelector) -> None:
    assert FieldSelector.parse(str(selector)) == selector
