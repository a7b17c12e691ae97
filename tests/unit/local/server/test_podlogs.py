"""Logs over HTTP: whose, which part, and what is said when that is not clear."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from stateward.kube.client import LogOptions
from stateward.kube.errors import BadRequest
from stateward.kube.meta import ObjectKey
from unit.local.server.site import PODS, serving

LOG = f"{PODS}/p/log"


def pod(*names: str, inits: tuple[str, ...] = (), **annotations: str) -> Any:
    def containers(of: tuple[str, ...]) -> Any:
        return [{"name": name, "image": "none"} for name in of]

    metadata = {"name": "p", "annotations": annotations}
    return {
        "metadata": metadata,
        "spec": {
            "nodeName": "n",
            "containers": containers(names),
            "initContainers": containers(inits),
        },
    }


async def echo(key: ObjectKey, asked: LogOptions) -> AsyncGenerator[bytes, None]:
    """Tell what was asked for, in two pieces."""
    yield f"{key} {asked.container} ".encode()
    yield f"{asked.tail_lines} {asked.since_seconds} {asked.previous} {asked.timestamps}\n".encode()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "default/p main None None False False\n"),
        ("?container=main&tailLines=5&sinceSeconds=9", "default/p main 5 9 False False\n"),
        ("?previous=true&timestamps=true&tailLines=0", "default/p main 0 None True True\n"),
        ("?container=setup", "default/p setup None None False False\n"),
        ("?limitBytes=14", "default/p main"),
        ("?limitBytes=17", "default/p main No"),
    ],
)
async def test_which_part(query: str, told: str) -> None:
    async with serving(logs=echo) as site:
        await site.post(PODS, pod("main", inits=("setup",)))
        answer = await site.get(LOG + query)

        assert (answer.status, answer.headers["Content-Type"], answer.text) == (
            200,
            "text/plain",
            told,
        )


@pytest.mark.parametrize(
    ("sent", "query", "told"),
    [
        (pod("a", "b"), "", "a container name must be specified for pod p, choose one of: [a b]"),
        (
            pod("a", "b", inits=("i",)),
            "",
            "choose one of: [a b] or one of the init containers: [i]",
        ),
        (pod("a"), "?container=z", "container z is not valid for pod p"),
        (pod("a"), "?sinceSeconds=soon", "sinceSeconds must be a whole number"),
        (pod("a"), "?sinceTime=noon", "sinceTime"),
    ],
)
async def test_what_is_not_clear(sent: Any, query: str, told: str) -> None:
    async with serving(logs=echo) as site:
        await site.post(PODS, sent)
        code, reason, message = (await site.get(LOG + query)).refusal

        assert (code, reason) == (400, "BadRequest")
        assert told in message


async def test_a_pod_may_say_which_is_meant() -> None:
    async with serving(logs=echo) as site:
        await site.post(PODS, pod("a", "b", **{"kubectl.kubernetes.io/default-container": "b"}))

        assert "default/p b" in (await site.get(LOG)).text


async def test_what_is_wrong_is_said_before_the_answer_begins() -> None:
    async def waiting(key: ObjectKey, asked: LogOptions) -> AsyncGenerator[bytes, None]:
        raise BadRequest(f"container {asked.container} in pod {key.name} is waiting to start")
        yield b""

    async with serving(logs=waiting) as site:
        await site.post(PODS, pod("main"))

        assert (await site.get(LOG)).refusal[0] == 400


async def test_a_pod_that_is_not_there() -> None:
    async with serving(logs=echo) as site:
        assert (await site.get(LOG)).refusal[:2] == (404, "NotFound")
