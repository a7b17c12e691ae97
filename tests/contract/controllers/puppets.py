"""Pods without nodes: each runs, fails, ends or goes when the story says so.

Left alone, a pod becomes ready at once and goes as soon as somebody asks for its end. A story that
wants to see what is in between holds the strings and pulls them one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from contract.kubernetes.wire import Answer, Wire
from stateward.core.clock import SystemClock
from stateward.core.moments import to_rfc3339


@dataclass(slots=True)
class Puppets:
    """The pods of a story's namespace, and who pulls their strings."""

    wire: Wire
    #: Whether pods become ready by themselves.
    start: bool = True
    #: Whether pods that are asked to end do so by themselves.
    leave: bool = True
    #: What happened to pods, in order: ``+a`` made, ``-a`` asked to end, ``!a`` gone.
    history: list[str] = field(default_factory=list)
    _leaving: set[str] = field(default_factory=set)

    def hold(self, *, start: bool = False, leave: bool = False) -> None:
        """Have nothing happen by itself any more, or only what is said."""
        self.start, self.leave = start, leave

    async def ready(self, *names: str) -> None:
        """Have pods run and be ready."""
        for name in names:
            await self._say(name, "Running", ready=True)

    async def run(self, *names: str) -> None:
        """Have pods run without being ready."""
        for name in names:
            await self._say(name, "Running", ready=False)

    async def fail(self, *names: str) -> None:
        """Have pods end badly."""
        for name in names:
            await self._say(name, "Failed", ready=False)

    async def succeed(self, *names: str) -> None:
        """Have pods end well."""
        for name in names:
            await self._say(name, "Succeeded", ready=False)

    async def restart(self, name: str, times: int) -> None:
        """Have the container of a running pod be started again so often."""
        containers = [{**_container("Running", ready=True), "restartCount": times}]
        await self._patch(name, {"containerStatuses": containers})

    async def go(self, *names: str) -> None:
        """Have pods be gone, as a node says when all their processes have ended."""
        for name in names:
            await self.wire.delete(f"pods/{name}", {"gracePeriodSeconds": 0})

    @asynccontextmanager
    async def acting(self) -> AsyncGenerator[None, None]:
        """Pull the strings that the story does not hold."""
        async with self.wire.watch("pods") as events:

            async def act() -> None:
                async for event in events:
                    await self._act(event["type"], event["object"])

            task = asyncio.create_task(act())
            try:
                yield
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _act(self, happened: str, pod: Any) -> None:
        meta = pod["metadata"]
        self._note(happened, meta)
        if happened == "DELETED":
            return
        if meta.get("deletionTimestamp"):
            if self.leave:
                options = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
                await self.wire.delete(f"pods/{meta['name']}", options)
        elif self.start and pod["status"].get("phase", "Pending") == "Pending":
            await self._say(meta["name"], "Running", ready=True)

    def _note(self, happened: str, meta: Any) -> None:
        if happened == "ADDED":
            self.history.append(f"+{meta['name']}")
        if meta.get("deletionTimestamp") and meta["uid"] not in self._leaving:
            self._leaving.add(meta["uid"])
            self.history.append(f"-{meta['name']}")
        if happened == "DELETED":
            self.history.append(f"!{meta['name']}")

    async def _say(self, name: str, phase: str, *, ready: bool) -> None:
        now = to_rfc3339(SystemClock().now())
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": now}
        status = {
            "phase": phase,
            "conditions": [condition],
            "containerStatuses": [_container(phase, ready=ready)],
        }
        await self._patch(name, status)

    async def _patch(self, name: str, status: Any) -> Answer:
        """Patch a status; somebody may have removed the pod in the meantime."""
        answer = await self.wire.patch(f"pods/{name}/status", {"status": status})
        assert answer.code in {200, 404, 409}, answer.body
        return answer


def _container(phase: str, *, ready: bool) -> Any:
    now = to_rfc3339(SystemClock().now())
    code = {"Failed": 1, "Succeeded": 0}.get(phase)
    state = (
        {"running": {"startedAt": now}}
        if code is None
        else {"terminated": {"exitCode": code, "startedAt": now, "finishedAt": now}}
    )
    return {
        "name": "main",
        "image": "app:1",
        "imageID": "",
        "ready": ready,
        "restartCount": 0,
        "state": state,
    }
