"""Somebody who has what an operator has, and does nothing by itself: tests are its hands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fakes import fdb_pods as made
from stateward.core.facts import Fact, Known
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.fdb.admin.ports import Admin
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status import health
from stateward.fdb.status.processes import roster
from stateward.kube.codec import Json
from stateward.kube.resources import PODS
from stateward.local.api import Api
from stateward.sim.fdb.world import FdbWorld, Surroundings, simulated
from stateward.sim.world import Result

VERSION = Version.parse(made.VERSION)


class Hand:
    """An operator that waits to be told."""

    def __init__(self, it: FdbWorld) -> None:
        self.it = it
        self.found: list[Surroundings] = []
        self.string = ConnectionString.parse("shop:a@127.0.0.1:1")
        self.version = VERSION
        [self.slot] = it.operate(self._assembled)

    def _assembled(self, surroundings: Surroundings) -> Hand:
        self.found.append(surroundings)
        return self

    async def run(self, stop: asyncio.Event) -> None:
        """Wait for the end."""
        await stop.wait()

    @property
    def own(self) -> Surroundings:
        """What the process that runs now has."""
        return self.found[-1]

    @property
    def admin(self) -> Admin:
        """The database, by what is known of it."""
        return self.own.databases.reach(made.KEY, self.string, self.version)

    # ------------------------------------------------------------------ making

    async def pods(self, *groups: str, processes: int = 1) -> None:
        """Make pods with nothing to run, and wait until they are ready."""
        made.write_config(self.it, made.config_map(run=False))
        for it in groups:
            if not it.startswith("stateless"):
                made.make_claim(self.it, it)
            made.make_pod(self.it, it, processes=processes)
        await self.until("pods are ready", lambda: all(map(self.is_ready, groups)))

    async def serve(self, *groups: str, processes: int = 1) -> None:
        """Make a database of double redundancy that three storage servers coordinate."""
        await self.pods(*groups, processes=processes)
        addresses = ",".join(f"{self.ip(it)}:4501" for it in groups[:3])
        self.string = ConnectionString.parse(f"shop:first@{addresses}")
        made.write_config(self.it, made.config_map(str(self.string)))
        await self.until("processes run", lambda: all(map(self.runs, groups)))
        await self.admin.create(made.DOUBLE)
        await self.available()

    # ------------------------------------------------------------------ waiting and looking

    async def until(self, what: str, holds: Callable[[], bool], within: float = 120.0) -> None:
        """Wait until something is so."""
        await self.it.world.until(what, holds, within=within)

    async def available(self) -> None:
        """Wait until the database serves, and all data has its copies."""
        for _ in range(60):
            status = await self.admin.status()
            if is_so(health.is_available(status)) and is_so(health.is_fully_replicated(status)):
                return
            await asyncio.sleep(2)
        raise AssertionError("the database does not serve")

    async def reporting(self) -> dict[str, list[str]]:
        """Return who reports: its processes by group."""
        found = roster(await self.admin.status())
        assert isinstance(found, Known)
        return {
            group: sorted(it.localities["process_id"] for it in some)
            for group, some in sorted(found.value.groups.items())
        }

    def document(self, group: str) -> Json:
        """Return the pod of a group."""
        stored = self.it.world.api.store.get(PODS.name, made.key(group))
        return stored.document() if stored is not None else {}

    def is_ready(self, group: str) -> bool:
        """Tell whether a pod is ready."""
        said = self.document(group).get("status", {}).get("conditions") or ()
        return any(it["type"] == "Ready" and it["status"] == "True" for it in said)

    def runs(self, group: str) -> bool:
        """Tell whether the first process of a pod runs and is part of its database."""
        process = self.it.process(made.key(group))
        return process is not None and process.database is not None

    def ip(self, group: str) -> str:
        """Return the address of a pod."""
        return str(self.document(group)["status"]["podIP"])

    def line(self, group: str) -> str:
        """Return how the first process of a pod was started."""
        process = self.it.process(made.key(group))
        return process.server.command_line if process is not None else ""

    def disk(self, group: str) -> str:
        """Return the name of the data folder of a pod's first process."""
        process = self.it.process(made.key(group))
        assert process is not None
        return process.server.disk.process_id


def is_so(fact: Fact[bool]) -> bool:
    """Tell whether something is known to be so."""
    return isinstance(fact, Known) and fact.value


def played(
    play: Callable[[Hand], Awaitable[None]], seed: int = 1, serve: Callable[[Ports], Api] = Api
) -> Result:
    """Let hands do something in a world."""

    async def lived(it: FdbWorld) -> None:
        hand = Hand(it)
        await hand.until("somebody is there", lambda: bool(hand.found))
        await play(hand)

    return simulated(lived, seed=seed, serve=serve)
