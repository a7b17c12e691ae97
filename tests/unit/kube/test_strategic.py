"""Strategic merge patches: the schema says how a list merges, directives say otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.codec import Json, plain
from stateward.kube.patch import PatchError
from stateward.kube.strategic import strategic_patch
from stateward.kube.structure import structure_of_kind

POD = structure_of_kind("", "v1", "Pod")
DEPLOYMENT = structure_of_kind("apps", "v1", "Deployment")


def patched(target: Json, patch: Json, structure: Any = POD) -> Any:
    before = plain(target), plain(patch)
    result = strategic_patch(target, patch, structure)
    assert (target, patch) == before, "neither is changed"
    return result


A: Json = {"name": "a", "image": "one"}
B: Json = {"name": "b", "image": "two"}


@pytest.mark.parametrize(
    ("was", "patch", "now"),
    [
        (
            {"containers": [A, B]},
            {"containers": [{"name": "a", "image": "new"}]},
            {"containers": [A | {"image": "new"}, B]},
        ),
        ({"containers": [A]}, {"containers": [B]}, {"containers": [B, A]}),
        (
            {"containers": [A, B]},
            {"containers": [{"name": "a", "$patch": "delete"}]},
            {"containers": [B]},
        ),
        (
            {"containers": [A, B]},
            {"containers": [{"$patch": "replace"}, {"name": "c"}]},
            {"containers": [{"name": "c"}]},
        ),
        (
            {"containers": [A, B]},
            {
                "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
                "containers": [{"name": "b", "image": "x"}],
            },
            {"containers": [B | {"image": "x"}, A]},
        ),
        (
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "b"}]},
            {"tolerations": [{"key": "b"}]},
        ),
        ({"nodeName": "n", "hostname": "h"}, {"nodeName": None}, {"hostname": "h"}),
        (
            {"nodeSelector": {"a": "1", "b": "2"}},
            {"nodeSelector": {"a": None}},
            {"nodeSelector": {"b": "2"}},
        ),
        (
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"$patch": "replace", "c": "3"}},
            {"nodeSelector": {"c": "3"}},
        ),
        ({"securityContext": {"runAsUser": 1}}, {"securityContext": {"$patch": "delete"}}, {}),
        (
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            {
                "volumes": [
                    {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}
                ]
            },
            {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]},
        ),
    ],
    ids=lambda value: "",
)
def test_specs_of_pods(was: Json, patch: Json, now: Json) -> None:
    assert patched({"spec": was}, {"spec": patch}) == {"spec": now}


def test_a_list_of_words_merges_as_a_set() -> None:
    target = {"metadata": {"finalizers": ["a/a", "b/b"]}}

    assert patched(target, {"metadata": {"finalizers": ["b/b", "c/c"]}}) == {
        "metadata": {"finalizers": ["a/a", "b/b", "c/c"]}
    }
    away = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/a"]}}
    assert patched(target, away) == {"metadata": {"finalizers": ["b/b"]}}


def test_a_strategy_keeps_only_the_keys_it_names() -> None:
    target = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}

    assert patched(target, patch, DEPLOYMENT) == {"spec": {"strategy": {"type": "Recreate"}}}


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"spec": {"$patch": "explode"}}, "must be replace or delete"),
        ({"spec": {"containers": [{"image": "x"}]}}, "must have its merge key 'name'"),
    ],
)
def test_a_patch_that_makes_no_sense(patch: Json, problem: str) -> None:
    with pytest.raises(PatchError, match=problem):
        patched({"spec": {"containers": [A]}}, patch)
