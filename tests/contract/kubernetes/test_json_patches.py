"""JSON patches: steps, all of them or none."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import Json, named
from contract.kubernetes.custom import NUMBER, TEXT, fields, listed, things
from contract.kubernetes.wire import Answer, Wire


def step(op: str, path: str, *value: Any, **more: Any) -> Json:
    return {"op": op, "path": path, **({"value": value[0]} if value else {}), **more}


async def patched(wire: Wire, *steps: Json) -> Answer:
    body = {
        "metadata": {"name": "a", "finalizers": ["a.b/0", "a.b/1"]},
        "data": {"x": "1", "y": "2"},
    }
    (await wire.post("configmaps", body)).made()
    answer = await wire.patch("configmaps/a", list(steps), "json")
    (await wire.patch("configmaps/a", {"metadata": {"finalizers": None}})).ok()
    return answer


@pytest.mark.parametrize(
    ("steps", "data"),
    [
        ([step("add", "/data/z", "3")], {"x": "1", "y": "2", "z": "3"}),
        ([step("add", "/data/x", "9")], {"x": "9", "y": "2"}),
        ([step("replace", "/data/x", "9")], {"x": "9", "y": "2"}),
        ([step("replace", "/data/z", "9")], {"x": "1", "y": "2", "z": "9"}),
        ([step("remove", "/data/x")], {"y": "2"}),
        ([step("copy", "/data/z", **{"from": "/data/x"})], {"x": "1", "y": "2", "z": "1"}),
        ([step("move", "/data/z", **{"from": "/data/x"})], {"y": "2", "z": "1"}),
        ([step("test", "/data/x", "1"), step("remove", "/data/y")], {"x": "1"}),
        ([step("replace", "/data", {"q": "1"})], {"q": "1"}),
        ([step("remove", "/data")], None),
        ([step("add", "/data/z")], {"x": "1", "y": "2", "z": ""}),
        ([step("replace", "/data")], None),
        ([step("test", "/data/z", None), step("remove", "/data/y")], {"x": "1"}),
        ([], {"x": "1", "y": "2"}),
    ],
    ids=str,
)
async def test_steps(wire: Wire, steps: list[Json], data: Json | None) -> None:
    assert (await patched(wire, *steps)).ok()["data"] == data


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([step("add", "/metadata/finalizers/-", "a.b/2")], ["a.b/0", "a.b/1", "a.b/2"]),
        ([step("add", "/metadata/finalizers/0", "a.b/2")], ["a.b/2", "a.b/0", "a.b/1"]),
        ([step("add", "/metadata/finalizers/2", "a.b/2")], ["a.b/0", "a.b/1", "a.b/2"]),
        ([step("remove", "/metadata/finalizers/0")], ["a.b/1"]),
        ([step("replace", "/metadata/finalizers/1", "a.b/2")], ["a.b/0", "a.b/2"]),
        ([step("replace", "/metadata/finalizers/01", "a.b/2")], ["a.b/0", "a.b/2"]),
        ([step("replace", "/metadata/finalizers/-1", "a.b/2")], ["a.b/0", "a.b/2"]),
        ([step("add", "/metadata/finalizers/-1", "a.b/2")], ["a.b/0", "a.b/1", "a.b/2"]),
        ([step("add", "/metadata/finalizers/-3", "a.b/2")], ["a.b/2", "a.b/0", "a.b/1"]),
        ([step("remove", "/metadata/finalizers/-2")], ["a.b/1"]),
    ],
    ids=str,
)
async def test_places_in_a_list(wire: Wire, steps: list[Json], names: list[str]) -> None:
    assert (await patched(wire, *steps)).ok()["metadata.finalizers"] == names


async def test_signs_in_a_path_can_be_escaped(wire: Wire) -> None:
    answer = await patched(
        wire,
        step("add", "/metadata/annotations", {}),
        step("add", "/metadata/annotations/a.b~1c", "slash"),
    )

    assert answer.ok()["metadata.annotations"] == {"a.b/c": "slash"}


@pytest.mark.parametrize(
    "wrong",
    [
        step("test", "/data/x", "8"),
        step("test", "/data/none", "9"),
        step("remove", "/data/none"),
        step("replace", "/none/none", "9"),
        step("add", "/binaryData/none", "eA=="),
        step("frob", "/data/x"),
        {"path": "/data/x"},
        {"op": "remove"},
        step("copy", "/data/z"),
        step("add", "/metadata/finalizers/9", "a.b/2"),
        step("remove", "/metadata/finalizers/9"),
        step("remove", "/metadata/finalizers/x"),
        step("remove", "/metadata/finalizers/-3"),
        step("add", "/metadata/finalizers/-4", "a.b/2"),
        step("test", "/none/none", None),
        step("remove", ""),
    ],
    ids=str,
)
async def test_one_failing_step_and_nothing_is_done(wire: Wire, wrong: Json) -> None:
    answer = await patched(wire, step("add", "/data/x", "9"), wrong)

    answer.refused(422, "Invalid")
    assert answer.about == {}
    assert (await wire.get("configmaps/a"))["data"] == {"x": "1", "y": "2"}


@pytest.mark.parametrize("body", ["{nope", "", "{}", '["text"]', '"text"'])
async def test_a_patch_is_a_list_of_objects(wire: Wire, body: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.patch("configmaps/a", body, "json")

    answer.refused(400, "BadRequest")
    assert answer.about == {}


@pytest.mark.parametrize(
    ("wrong", "code", "reason"),
    [
        (step("replace", "/metadata/name", "b"), 400, "BadRequest"),
        (step("replace", "", {}), 400, "BadRequest"),
        (step("add", "/data/x", 1), 422, "Invalid"),
        (step("replace", "/kind", "Secret"), 422, "Invalid"),
        (step("replace", "/metadata/uid", "b"), 422, "Invalid"),
        (step("replace", "/metadata/resourceVersion", "1"), 409, "Conflict"),
    ],
    ids=str,
)
async def test_what_comes_out_is_an_object_that_may_be(
    wire: Wire, wrong: Json, code: int, reason: str
) -> None:
    (await patched(wire, wrong)).refused(code, reason)


async def test_there_are_only_so_many_steps(wire: Wire) -> None:
    answer = await patched(wire, *[step("test", "/kind", "ConfigMap")] * 10_001)

    answer.refused(
        413, "RequestEntityTooLarge", says="maximum operations in a JSON patch is 10000, got 10001"
    )
    assert answer.about == {}


async def test_steps_on_a_custom_object(wire: Wire) -> None:
    async with things(wire, fields(words=listed(TEXT), size=NUMBER)) as kind:
        await kind.made({"words": ["a"], "size": 1})
        steps = [step("test", "/spec/size", 1), step("add", "/spec/words/-", "b")]
        now = await wire.patch(kind.at("a"), steps, "json")
        wrong = await wire.patch(kind.at("a"), [step("replace", "/spec/size", "x")], "json")

    assert now.ok()["spec"] == {"words": ["a", "b"], "size": 1}
    wrong.refused(422, "Invalid", "FieldValueTypeInvalid spec.size")
    assert wrong.about == {"name": "a", "group": kind.group, "kind": "Thing"}


@pytest.mark.parametrize(
    "steps", [[None], [{}], [None, step("add", "/data", {"x": "3"})]], ids=["null", "empty", "both"]
)
async def test_a_step_that_says_nothing_cannot_be_done(wire: Wire, steps: list[Any]) -> None:
    (await wire.post("configmaps", named("a", data={"x": "1"}))).made()

    (await wire.patch("configmaps/a", steps, "json")).refused(422, "Invalid")

    assert (await wire.get("configmaps/a"))["data"] == {"x": "1"}
