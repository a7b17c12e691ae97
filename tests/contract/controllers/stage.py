"""Where controllers act: a namespace, its puppets, and words for what is to be seen.

A pod is shown as its name, the version of its image and how it is: ``web-0:1 ready``. Pods whose
names are drawn by lot are counted: ``{"1 ready": 2}``.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from contract.controllers.puppets import Puppets
from contract.controllers.scripts import NOWHERE
from contract.kubernetes.wire import Answer, Wire, wire_to
from stateward.kube.http.access import ClusterAccess

#: Seconds for a controller to do its work, and seconds in which it would have done what it must not.
PATIENCE: Final = 20.0
STILL: Final = 0.5
#: Owners before those whom they own.
_WORKLOADS: Final = ("cronjobs", "jobs", "statefulsets", "deployments", "replicasets")


@dataclass(frozen=True, slots=True)
class Stage:
    """What a story acts on and looks at."""

    wire: Wire
    puppets: Puppets

    async def make(self, kind: str, body: Any) -> Answer:
        """Make an object of the story's namespace."""
        return (await self.wire.post(kind, self._placed(body))).made()

    async def change(self, path: str, spec: Any) -> Answer:
        """Change the spec of an object."""
        return (await self.wire.patch(path, self._placed({"spec": spec}))).ok()

    def _placed(self, body: Any) -> Any:
        """Give pods a node of the story's own: in time, all pods of a node that is not there go."""
        node = f"{NOWHERE}-{self.wire.namespace}"
        return json.loads(json.dumps(body).replace(json.dumps(NOWHERE), json.dumps(node)))

    async def delete(self, path: str, propagation: str = "Background") -> None:
        answer = await self.wire.delete(path, {"propagationPolicy": propagation})
        assert answer.code in {200, 202}, answer.body

    async def pods(self) -> list[Any]:
        """Return the pods there are, by name."""
        found = (await self.wire.get("pods")).ok().body["items"]
        return sorted(found, key=lambda it: str(it["metadata"]["name"]))

    async def names(self, how: str = "") -> list[str]:
        """Return the names of the pods that are so: ``ready``, ``pending``, or any."""
        return [it["metadata"]["name"] for it in await self.pods() if how in _state(it)]

    async def shows(self, *picture: str) -> None:
        """Wait until these are the pods."""
        await self._comes(self._picture, sorted(picture))

    async def still_shows(self, *picture: str) -> None:
        """Check that these are the pods, and stay so for as long as a controller needs to err."""
        await self.shows(*picture)
        await self._stays(self._picture, sorted(picture))

    async def counts(self, **picture: int) -> None:
        """Wait until there are so many pods of each kind: ``v1_ready=2``."""
        await self._comes(self._counted, _words(picture))

    async def still_counts(self, **picture: int) -> None:
        """Check that there are so many pods of each kind, and that it stays so."""
        await self.counts(**picture)
        await self._stays(self._counted, _words(picture))

    async def happens(self, *history: str) -> None:
        """Wait until this is all that happened to pods: ``+a`` made, ``-a`` to end, ``!a`` gone."""

        async def look() -> list[str]:
            return list(self.puppets.history)

        await self._comes(look, list(history))

    async def forgets(self, count: int) -> None:
        """Wait until so many things happened to pods, in whatever order, and forget them."""

        async def look() -> int:
            return len(self.puppets.history)

        await self._comes(look, count)
        self.puppets.history.clear()

    async def says(self, path: str, **facts: Any) -> Answer:
        """Wait until an object has these values, at paths in which ``__`` stands for a dot."""

        async def look() -> Any:
            found = await self.wire.get(path)
            return {name: found[name.replace("__", ".")] for name in facts}

        await self._comes(look, facts)
        return await self.wire.get(path)

    async def condition(self, path: str, kind: str, status: str, reason: str) -> Any:
        """Wait until an object has a condition; return it."""

        async def look() -> Any:
            found = await self.wire.get(path)
            return [it for it in found["status.conditions"] or () if it["type"] == kind]

        async def short() -> Any:
            return [(it["status"], it.get("reason")) for it in await look()]

        await self._comes(short, [(status, reason)])
        return (await look())[0]

    async def listed(self, kind: str, count: int, selector: str = "") -> list[Any]:
        """Wait until there are so many objects of a kind; return them from the oldest on."""

        async def look() -> int:
            return len(await self._all(kind, selector))

        await self._comes(look, count)
        return await self._all(kind, selector)

    async def _all(self, kind: str, selector: str) -> list[Any]:
        found = (await self.wire.get(kind, labelSelector=selector)).ok().body["items"]
        return sorted(
            found, key=lambda it: (it["metadata"]["creationTimestamp"], it["metadata"]["name"])
        )

    async def _picture(self) -> list[str]:
        return [f"{it['metadata']['name']}:{_version(it)} {_state(it)}" for it in await self.pods()]

    async def _counted(self) -> dict[str, int]:
        return dict(Counter(f"v{_version(it)} {_state(it)}" for it in await self.pods()))

    @staticmethod
    async def _comes(look: Callable[[], Awaitable[Any]], wanted: Any) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while (seen := await look()) != wanted:
            assert loop.time() < end, f"waited for {wanted}, saw {seen}"
            await asyncio.sleep(0.03)

    @staticmethod
    async def _stays(look: Callable[[], Awaitable[Any]], wanted: Any) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + STILL
        while loop.time() < end:
            assert await look() == wanted
            await asyncio.sleep(0.03)


def _words(picture: dict[str, int]) -> dict[str, int]:
    return {name.replace("_", " "): count for name, count in picture.items() if count}


def _version(pod: Any) -> str:
    return str(pod["spec"]["containers"][0]["image"]).rpartition(":")[2]


def _state(pod: Any) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "leaving"
    status = pod["status"]
    ready = any(
        it["type"] == "Ready" and it["status"] == "True" for it in status.get("conditions", ())
    )
    return "ready" if ready else str(status.get("phase", "Pending")).lower()


@asynccontextmanager
async def stage_on(access: ClusterAccess) -> AsyncGenerator[Stage, None]:
    """Provide a stage on a cluster, in a namespace of its own.

    Workloads are removed afterwards, or they would act on for ever. Pods that are left over go by
    themselves: a cluster removes those of unknown nodes.
    """
    async with wire_to(access) as wire:
        puppets = Puppets(wire)
        try:
            async with puppets.acting():
                yield Stage(wire, puppets)
        finally:
            for kind in _WORKLOADS:
                await wire.delete(kind, {"propagationPolicy": "Background"})
