"""What people write, and what we say when it is wrong."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.errors import UsageError
from stateward.kube import manifests
from stateward.kube.structure import structure_of_kind


def test_documents_know_where_they_begin():
    text = "kind: A\nmetadata: {name: one}\n---\n---\nkind: B\n"

    found = manifests.read(text, "f.yaml")

    assert [str(m) for m in found] == ["f.yaml:1 A one", "f.yaml:5 B ?"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [1, 2", r"f\.yaml:\d+:\d+: the YAML is broken"),
        ("a:\n\t- tab", r"f\.yaml:2:1: the YAML is broken"),
        ("- a\n- b", r"f\.yaml:1: a manifest must be an object .* got list"),
        ("just words", r"got str"),
        ("a: !!python/object:os.system x", r"f\.yaml:1:4: the YAML is broken"),
        ("&a [*a]", "got list"),
        ("a: 1\nb: {c: 1, d: 2, c: 3}", r"f\.yaml:2:17: c must be given once, and is there twice"),
        ("a: 1\n---\na: 1\na: 1", r"f\.yaml:4:1: a must be given once"),
        ("a: [{b: 1, b: 1}]", "b must be given once"),
    ],
)
def test_what_is_no_manifest_is_said_with_its_place(text, complaint):
    with pytest.raises(UsageError, match=complaint):
        manifests.read(text, "f.yaml")


@given(st.text(max_size=60))
def test_no_text_ends_in_anything_but_documents_or_a_complaint(text):
    with suppress(UsageError):
        assert all(isinstance(m.body, dict) for m in manifests.read(text, "f"))


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        ({"containers": [{"name": "a", "image": "b"}]}, []),
        (
            {"containers": [{"name": "a", "imgae": "b"}]},
            ["spec.containers[0].imgae: there is no such field; did you mean image?"],
        ),
        ({"nodeSelector": {"any": "key"}, "containers": []}, []),
        ({"zzz": 1}, ["spec.zzz: there is no such field"]),
        ({"containers": "text"}, []),
    ],
)
def test_misspelt_fields_are_found_with_their_path(spec, problems):
    pod = structure_of_kind("", "v1", "Pod")

    assert (
        list(manifests.unknown_fields({"metadata": {"name": "x"}, "spec": spec}, pod)) == problems
    )
