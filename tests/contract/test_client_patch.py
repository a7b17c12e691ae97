"""Merge patches and JSON patches: small changes to an object that need not be known whole."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import KINDS, config_map, key, shown, widget
from stateward.kube.client import JsonPatch, MergePatch, Patch
from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Conflict, Invalid, NotFound
from stateward.kube.meta import is_newer
from stateward.kube.resources import CONFIG_MAPS


def op(name: str, path: str, **more: Any) -> Json:
    return {"op": name, "path": path, **more}


# ------------------------------------------------------------------ merge patches
@pytest.mark.parametrize(
    ("patch", "spec"),
    [
        ({"size": 2}, {"size": 2, "words": ["a", "b"], "limits": {"x": "1", "y": "2"}}),
        ({"size": None}, {"words": ["a", "b"], "limits": {"x": "1", "y": "2"}}),
        ({"words": ["c"]}, {"size": 1, "words": ["c"], "limits": {"x": "1", "y": "2"}}),
        ({"limits": {"x": None}}, {"size": 1, "words": ["a", "b"], "limits": {"y": "2"}}),
        (
            {"limits": {"z": "3"}, "words": None},
            {"size": 1, "limits": {"x": "1", "y": "2", "z": "3"}},
        ),
        (
            {"limits": {"none": None}},
            {"size": 1, "words": ["a", "b"], "limits": {"x": "1", "y": "2"}},
        ),
    ],
    ids=shown,
)
async def test_a_merge_patch_sets_what_it_names_and_null_removes(
    kube: Kube, patch: Json, spec: Json
) -> None:
    before = {"size": 1, "words": ["a", "b"], "limits": {"x": "1", "y": "2"}}
    made = await kube.client.create(WIDGETS, widget(kube, "a", before))

    now = await kube.client.patch(WIDGETS, made.metadata.key, MergePatch({"spec": patch}))

    assert now.spec == spec


async def test_a_merge_patch_changes_metadata(kube: Kube) -> None:
    body = config_map(kube, "a", labels={"x": "1", "y": "2"}, annotations={"n": "1"})
    made = await kube.client.create(CONFIG_MAPS, body)
    change = {"labels": {"x": None, "z": "3"}, "annotations": None, "finalizers": ["example.com/a"]}

    now = await kube.client.patch(CONFIG_MAPS, made.metadata.key, MergePatch({"metadata": change}))

    assert now.metadata.labels == {"y": "2", "z": "3"}
    assert now.metadata.annotations == {}
    assert now.metadata.finalizers == ("example.com/a",)


@pytest.mark.parametrize("kind", ["ConfigMap", "Lease", "Widget", "PodDisruptionBudget"])
async def test_a_patch_needs_no_revision(kube: Kube, kind: str) -> None:
    resource, one = KINDS[kind]
    made = await kube.client.create(resource, one(kube, "a"))
    change = MergePatch({"metadata": {"labels": {"a": "b"}}})

    now = await kube.client.patch(resource, made.metadata.key, change)

    assert now.metadata.labels == {"a": "b"}


async def test_a_patch_with_a_revision_is_a_promise_to_have_seen_it(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    def to(value: str) -> MergePatch:
        seen = {"resourceVersion": made.metadata.resource_version}
        return MergePatch({"metadata": seen, "data": {"by": value}})

    first = await kube.client.patch(CONFIG_MAPS, made.metadata.key, to("first"))
    with pytest.raises(Conflict):
        await kube.rival.patch(CONFIG_MAPS, made.metadata.key, to("second"))

    assert first.data == {"by": "first"}
    assert await kube.client.get(CONFIG_MAPS, made.metadata.key) == first


@pytest.mark.parametrize(
    "patch",
    [
        MergePatch({}),
        MergePatch({"data": {"x": "1"}}),
        MergePatch({"data": {"none": None}}),
        MergePatch({"metadata": {"labels": {}}}),
        JsonPatch(()),
        JsonPatch((op("replace", "/data/x", value="1"),)),
        JsonPatch((op("test", "/data/x", value="1"),)),
        JsonPatch((op("add", "/data/y", value="1"), op("remove", "/data/y"))),
    ],
    ids=shown,
)
async def test_a_patch_that_changes_nothing_writes_nothing(kube: Kube, patch: Patch) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))

    assert await kube.rival.patch(CONFIG_MAPS, made.metadata.key, patch) == made


@pytest.mark.parametrize("patch", [MergePatch({"data": {"x": "1"}}), JsonPatch(())], ids=shown)
async def test_nothing_cannot_be_patched(kube: Kube, patch: Patch) -> None:
    with pytest.raises(NotFound):
        await kube.client.patch(CONFIG_MAPS, key(kube, "none"), patch)


@pytest.mark.parametrize(
    ("metadata", "refusal"),
    [
        ({"name": "b"}, BadRequest),
        ({"name": None}, BadRequest),
        ({"namespace": "nowhere"}, BadRequest),
        ({"uid": "another"}, Invalid),
        ({"deletionTimestamp": "2001-01-01T00:00:00Z"}, Invalid),
        ({"labels": {"a": "b c"}}, Invalid),
        ({"labels": {"a": 1}}, Invalid),
        ({"ownerReferences": [{"name": "a"}]}, Invalid),
    ],
    ids=shown,
)
async def test_what_no_patch_may_do(kube: Kube, metadata: Json, refusal: Any) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(refusal):
        await kube.client.patch(
            CONFIG_MAPS, made.metadata.key, MergePatch({"metadata": metadata, "data": {"x": "1"}})
        )

    assert await kube.client.get(CONFIG_MAPS, made.metadata.key) == made


@pytest.mark.parametrize(
    "metadata", [{"creationTimestamp": "2001-01-01T00:00:00Z"}, {"generation": 9}], ids=shown
)
async def test_what_a_patch_tries_in_vain(kube: Kube, metadata: Json) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))

    now = await kube.client.patch(WIDGETS, made.metadata.key, MergePatch({"metadata": metadata}))

    assert now == made


@pytest.mark.parametrize("patch", [{"kind": "Secret"}, {"apiVersion": "v2"}], ids=shown)
async def test_an_object_stays_of_its_kind(kube: Kube, patch: Json) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))

    with pytest.raises(Invalid):
        await kube.client.patch(CONFIG_MAPS, made.metadata.key, MergePatch(patch))


# ------------------------------------------------------------------ JSON patches
@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ((op("add", "/spec/words/-", value="z"),), "abz"),
        ((op("add", "/spec/words/0", value="z"),), "zab"),
        ((op("remove", "/spec/words/0"),), "b"),
        ((op("replace", "/spec/words/1", value="z"),), "az"),
        ((op("move", "/spec/words/0", **{"from": "/spec/words/1"}),), "ba"),
        ((op("copy", "/spec/words/-", **{"from": "/spec/words/0"}),), "aba"),
        ((op("test", "/spec/words", value=["a", "b"]), op("remove", "/spec/words/1")), "a"),
    ],
    ids=shown,
)
async def test_a_json_patch_is_a_list_of_steps(
    kube: Kube, operations: tuple[Json, ...], words: str
) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"words": ["a", "b"]}))

    now = await kube.client.patch(WIDGETS, made.metadata.key, JsonPatch(operations))

    assert now.spec == {"words": list(words)}
    assert is_newer(now.metadata.resource_version, than=made.metadata.resource_version)


async def test_replacing_a_member_that_is_not_there_adds_it(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))

    patch = JsonPatch((op("replace", "/data/y", value="2"),))
    now = await kube.client.patch(CONFIG_MAPS, made.metadata.key, patch)

    assert now.data == {"x": "1", "y": "2"}


@pytest.mark.parametrize(
    "operation",
    [
        op("test", "/data/x", value="another"),
        op("test", "/data/none", value="1"),
        op("remove", "/data/none"),
        op("add", "/none/x", value="1"),
        op("replace", "/none/x", value="1"),
        op("frobnicate", "/data/x"),
    ],
    ids=shown,
)
async def test_one_failing_step_and_nothing_is_done(kube: Kube, operation: Json) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))
    steps = (op("replace", "/data/x", value="2"), op("replace", "/data/x", value="1"), operation)

    with pytest.raises(Invalid):
        await kube.client.patch(CONFIG_MAPS, made.metadata.key, JsonPatch(steps))

    assert await kube.client.get(CONFIG_MAPS, made.metadata.key) == made


async def test_a_json_patch_can_insist_on_a_version(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))
    where = "/metadata/resourceVersion"
    seen = op("test", where, value=made.metadata.resource_version)
    steps = JsonPatch((seen, op("replace", "/data/x", value="2")))

    now = await kube.client.patch(CONFIG_MAPS, made.metadata.key, steps)
    with pytest.raises(Invalid):
        await kube.client.patch(CONFIG_MAPS, made.metadata.key, steps)

    assert now.data == {"x": "2"}
