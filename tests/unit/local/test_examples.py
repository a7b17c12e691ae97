"""Every example is taken by the embedded Kubernetes, to the letter."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube import manifests
from stateward.local.catalog import SERVED
from stateward.local.rules.writes import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(EXAMPLES.rglob("*.yaml"))


@pytest.mark.virtual
@pytest.mark.parametrize(
    "found",
    [manifests.read(it.read_text(), it.name) for it in FILES],
    ids=[it.name for it in FILES],
)
async def test_an_example_is_taken(found: list[manifests.Manifest]) -> None:
    api = served_api(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))

    for it in found:
        resource = SERVED.of_kind(it.body["apiVersion"], it.body["kind"])
        made = api.create(resource, "default", it.body, Author(strictness=Strictness.STRICT))
        assert made.key.name == it.body["metadata"]["name"]


def test_there_are_examples() -> None:
    assert len(FILES) >= 3
