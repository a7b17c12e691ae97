"""What a server that has forgotten the past says to those who ask for it, word by word."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from contract.kubernetes.bodies import named
from contract.kubernetes.wire import Answer, Wire, wire_within
from real.site import PATIENCE, Opened


async def made(wire: Wire, *names: str) -> None:
    for name in names:
        (await wire.post("configmaps", named(name))).made()


async def watched(wire: Wire, since: str) -> Any:
    """Return what a watch begins with: a refusal may be its answer, or its first event."""
    async with asyncio.timeout(PATIENCE):
        asked = {"watch": True, "resourceVersion": since, "timeoutSeconds": 20}
        answer = await wire.get("configmaps", **asked)
    return answer.body["object"] if answer.code == 200 else answer.body


async def test_a_watch_from_a_forgotten_revision(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as server, wire_within(server.access, "default", "") as wire:
        since = (await wire.get("configmaps")).revision
        await made(wire, "a", "b")
        await server.forget()

        said = await watched(wire, since)

        assert (said["kind"], said["status"], said["code"]) == ("Status", "Failure", 410)
        assert said["reason"] == "Expired"
        assert "too old" in said["message"]


async def test_the_next_page_of_a_forgotten_list(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as server, wire_within(server.access, "default", "") as wire:
        await made(wire, "a", "b", "c")
        first = (await wire.get("configmaps", limit=1)).ok()
        token = first["metadata.continue"]
        await made(wire, "d")
        await server.forget()

        answer = await wire.get("configmaps", limit=1, **{"continue": token})

        answer.refused(410, "Expired", says="The provided continue parameter is too old")
        await can_go_on(wire, answer)


async def can_go_on(wire: Wire, answer: Answer) -> None:
    """Check that the refusal brings another token, with which the list goes on as it is now."""
    token = answer["metadata.continue"]
    rest = (await wire.get("configmaps", **{"continue": token})).ok()

    assert rest.names == ["b", "c", "d"]
