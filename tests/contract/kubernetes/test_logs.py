"""Logs of pods: what may be asked, and what a pod without a node has to say."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import pod
from contract.kubernetes.wire import Wire


@pytest.mark.parametrize("query", [{}, {"follow": True}, {"tailLines": 0}, {"container": "main"}])
async def test_what_runs_nowhere_says_nothing(wire: Wire, query: Any) -> None:
    (await wire.post("pods", pod())).made()

    assert (await wire.get("pods/a/log", **query)).ok(204).body == ""


@pytest.mark.parametrize(
    ("query", "cause"),
    [
        ({"tailLines": -1}, "FieldValueInvalid tailLines"),
        ({"limitBytes": 0}, "FieldValueInvalid limitBytes"),
        ({"sinceSeconds": 0}, "FieldValueInvalid sinceSeconds"),
        ({"sinceSeconds": 1, "sinceTime": "2024-01-01T00:00:00Z"}, "FieldValueForbidden []"),
    ],
    ids=str,
)
async def test_a_part_of_a_log_must_make_sense(wire: Wire, query: Any, cause: str) -> None:
    (await wire.post("pods", pod())).made()

    answer = await wire.get("pods/a/log", **query)

    answer.refused(422, "Invalid", cause, says='PodLogOptions "a" is invalid: ')


@pytest.mark.parametrize(
    "query", [{"tailLines": "x"}, {"sinceTime": "x"}, {"container": "odd"}], ids=str
)
async def test_a_part_of_a_log_must_be_readable(wire: Wire, query: Any) -> None:
    (await wire.post("pods", pod())).made()

    (await wire.get("pods/a/log", **query)).refused(400, "BadRequest")
