"""Many groups, with informers and workers as an operator has them: few writes, and all come up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.core.ports import Ports
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.groups.caches import (
    GroupCaches,
    by_cluster,
    group_of_claim,
    groups_of_config,
    nobody,
    same_name,
    wake_groups,
)
from stateward.fdb.model import names
from stateward.fdb.status.processes import Reporting
from stateward.kube.client import Client, Selection
from stateward.kube.errors import NotFound
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, EVENTS, PODS, SERVICES, VOLUME_CLAIMS, Resource
from stateward.runtime.controller import Controller, Source
from stateward.runtime.informer import Informer
from stateward.runtime.queue import WorkQueue
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.tracking import Tracking
from stateward.runtime.triggers import itself
from stateward.sim.loop import SimClock
from unit.fdb.groups.desks import SHOP, Desk, conditions, kinds

pytestmark = pytest.mark.virtual
IDS = [*(f"storage-{it}" for it in range(12)), *(f"stateless-{it}" for it in range(6))]


class Room(Desk):
    """An operator whose caches follow the server, and who is woken by what changes."""

    def sight(self) -> tuple[GroupCaches, Client]:
        self.ports, self.metrics = Ports(self.clock, Chance(7)), Metrics(self.clock)
        ours = Selection(labels=names.OURS)
        groups = self.informer(PROCESS_GROUPS, Selection(), indexes=(by_cluster(),))
        parts = [self.informer(CLUSTERS, Selection())]
        parts += [self.informer(it, ours) for it in (PODS, VOLUME_CLAIMS, SERVICES, CONFIG_MAPS)]
        self.informers = [groups, *parts]
        caches = GroupCaches(*(it.cache for it in self.informers))
        return caches, InterceptedClient(self.client, Tracking(self.informers))

    def informer(self, resource: Resource[Any], selection: Selection, **more: Any) -> Informer[Any]:
        meter = self.metrics.informer(resource.name)
        return Informer(self.user, resource, selection, ports=self.ports, meter=meter, **more)

    def controller(self) -> Controller:
        queue: WorkQueue[ObjectKey] = WorkQueue(self.ports, self.metrics.queue("groups"))
        self.board.listen(wake_groups(self.caches, queue.add))
        config = groups_of_config(self.caches.groups)
        wakes = (itself, nobody, same_name, group_of_claim, same_name, config)
        return Controller(
            "fdb-groups",
            self.reconciler,
            queue=queue,
            sources=tuple(map(Source, self.informers, wakes)),
            client=self.user,
            ports=self.ports,
            meter=self.metrics.controller("groups"),
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Have it work, and the nodes and the database with it."""
        works = [*(it.run() for it in self.informers), self.controller().run(), self.nodes()]
        tasks = [asyncio.create_task(it) for it in works]
        try:
            yield
        finally:
            for it in tasks:
                it.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def nodes(self) -> None:
        """Run pods one after another; say who reports."""
        while True:
            await asyncio.sleep(1.3)
            reporting: dict[str, tuple[Reporting, ...]] = {}
            for pod in (await self.user.list(PODS)).items:
                with suppress(NotFound):
                    await self.tend(pod, reporting)
            self.board.post(SHOP, self.posted(reporting, available=True))

    async def tend(self, pod: Any, reporting: dict[str, tuple[Reporting, ...]]) -> None:
        key, number = pod.metadata.key, len(reporting)
        if pod.metadata.deleting:
            await self.end(PODS, key)
        elif pod.status.phase != "Running":
            await self.say(key, phase="Pending")
            await self.run_pod(key, ip=f"10.0.1.{number}")
        else:
            found = str(names.group_of_pod(SHOP.name, key.name))
            reporting[found] = (await self.process(found),)


def room_of_now() -> Room:
    loop: Any = asyncio.get_running_loop()
    return Room(SimClock(loop))


async def up(room: Room) -> None:
    await room.cluster()
    await room.config()
    for it in IDS:
        await room.group(it)
    await asyncio.sleep(30)
    groups = (await room.user.list(PROCESS_GROUPS)).items
    assert [conditions(it)["Ready"] for it in groups] == ["True"] * len(IDS)


async def test_groups_come_up_with_three_writes_each_at_most() -> None:
    room = room_of_now()
    async with room.working():
        await up(room)
        assert Counter(kinds(room.doorman.writes)) == {
            "create pods": 18,
            "create persistentvolumeclaims": 12,
            "patch foundationdbprocessgroups.apps.foundationdb.org/status": 18,
        }
        room.doorman.writes.clear()
        await asyncio.sleep(200)
        assert room.doorman.writes == []
    assert (await room.user.list(EVENTS)).items == ()


async def test_groups_that_are_emptied_go_and_others_stay() -> None:
    room = room_of_now()
    async with room.working():
        await up(room)
        room.doorman.writes.clear()
        gone = ObjectKey(SHOP.namespace, "shop-storage-3")
        proved = to_rfc3339(room.clock.now())
        await room.edit(gone, remove=True, excluded=True, exclusionTimestamp=proved)
        await room.delete(PROCESS_GROUPS, gone)
        await asyncio.sleep(60)
        claim = ObjectKey(SHOP.namespace, "shop-storage-3-data")
        with suppress(NotFound):
            await room.end(VOLUME_CLAIMS, claim)
        await asyncio.sleep(60)
        assert await room.there(PROCESS_GROUPS, gone) is None
        assert len((await room.user.list(PODS)).items) == len(IDS) - 1
        assert kinds(room.wrote("delete", "create")) == [
            "delete pods",
            "delete persistentvolumeclaims",
        ]
