"""Large objects: what is too much for one, and for one request."""

from __future__ import annotations

import json

import pytest

from contract.kubernetes.bodies import named
from contract.kubernetes.wire import Wire

MIB = 1024 * 1024


async def test_a_config_map_holds_a_mebibyte(wire: Wire) -> None:
    made = await wire.post("configmaps", named("a", data={"x": "x" * MIB}))

    assert len(made.made()["data.x"]) == MIB


@pytest.mark.parametrize("act", ["create", "patch"])
async def test_and_not_a_byte_more(wire: Wire, act: str) -> None:
    if act == "patch":
        (await wire.post("configmaps", named("a", data={"x": "x" * MIB}))).made()
        answer = await wire.patch("configmaps/a", {"data": {"y": "x"}})
    else:
        answer = await wire.post("configmaps", named("a", data={"x": "x" * MIB, "y": "x"}))

    says = f'ConfigMap "a" is invalid: []: Too long: may not be more than {MIB} bytes'
    answer.refused(422, "Invalid", "FieldValueTooLong []", says=says)


async def test_bytes_are_counted_as_they_are_not_as_they_are_written(wire: Wire) -> None:
    written = "eHh4" * (MIB // 4)

    (await wire.post("configmaps", named("a", binaryData={"x": written}))).made()


@pytest.mark.parametrize("part", ["data", "stringData"])
async def test_a_secret_holds_as_much(wire: Wire, part: str) -> None:
    more = "eHh4" * (MIB // 3 + 1) if part == "data" else "x" * (MIB + 1)

    answer = await wire.post("secrets", named("a", **{part: {"x": more}}))

    answer.refused(422, "Invalid", "FieldValueTooLong data")


@pytest.mark.parametrize("verb", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_request_has_a_size(wire: Wire, verb: str) -> None:
    (await wire.post("configmaps", named("a"))).made()
    headers = {"Content-Type": "application/merge-patch+json"} if verb == "PATCH" else None
    body = json.dumps(named("a", data={"x": "x" * 3 * MIB}))

    answer = await wire.ask(
        verb, "configmaps" if verb == "POST" else "configmaps/a", body, headers=headers
    )

    answer.refused(
        413, "RequestEntityTooLarge", says=f"Request entity too large: limit is {3 * MIB}"
    )
    assert answer.about == {}
    (await wire.get("configmaps/a")).ok()
