"""Every example is taken by the embedded Kubernetes, to the letter, and by `stateward validate`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from stateward.app.kinds import KINDS, definitions
from stateward.app.validation import problems
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube import manifests
from stateward.kube.resources import CUSTOM_RESOURCES, Registry
from stateward.local.catalog import SERVED
from stateward.local.rules.writes import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

#: What the embedded Kubernetes has, and what we add to it.
KNOWN = Registry((*SERVED, *(kind.resource for kind in KINDS)))
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

    for definition in definitions().values():
        api.create(CUSTOM_RESOURCES, "", definition, Author())

    for it in found:
        assert list(problems(it)) == []
        resource = KNOWN.of_kind(it.body["apiVersion"], it.body["kind"])
        author = Author(strictness=Strictness.STRICT)
        made = api.create(resource, "default", it.body, author)
        assert (made.key.name, author.warnings) == (it.body["metadata"]["name"], [])


def test_there_are_examples() -> None:
    assert {it.parent.name for it in FILES} == {"etcd", "foundationdb", "local"}
