"""A whole operator at rest asks little of the server, and its own writes wake it no more than once."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from fakes.bench import Bench, running
from stateward.core.ports import Ports
from stateward.example.api import TEAM_KIND, TEAMS
from stateward.example.operator import Place, assemble
from stateward.kube.client import Selection
from stateward.kube.crd.kind import crd
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCES, LEASES
from stateward.runtime.telling.metrics import Metrics

pytestmark = pytest.mark.virtual

HOUR = 3600.0
LEASE = ObjectKey("ns", "lease")


class Rested(Bench):
    """An operator that has made a team of three, and has nothing left to do."""

    def __init__(self) -> None:
        super().__init__(lifetime=450.0)
        self.metrics = Metrics(self.clock)
        operator = assemble(
            self.client,
            Ports(self.clock, self.ports.chance),
            "me",
            self.metrics,
            place=Place(lease=LEASE),
        )
        self.run = operator.run(asyncio.Event())

    async def settle(self) -> None:
        where = {"namespace": "ns", "name": "crew"}
        await self.user.create(CUSTOM_RESOURCES, crd(TEAM_KIND))
        await self.user.create(
            LEASES, {"metadata": {"namespace": "ns", "name": "lease"}, "spec": {}}
        )
        await self.user.create(TEAMS, {"metadata": where, "spec": {"size": 3, "motto": "ahoy"}})

    async def members(self) -> int:
        return len((await self.user.list(CONFIG_MAPS, Selection("ns"))).items)

    def passes(self) -> float:
        lines = self.metrics.render()[0].decode().splitlines()
        mine = [line for line in lines if line.startswith("controller_runtime_reconcile_total")]
        return sum(float(line.rpartition(" ")[2]) for line in mine)


async def test_at_rest_it_asks_less_than_fifteen_times_a_minute() -> None:
    it = Rested()
    await it.settle()
    async with running(it.run):
        await asyncio.sleep(60)
        assert await it.members() == 3
        it.wire.calls.clear()
        before = it.passes()
        await asyncio.sleep(HOUR)
        asked = Counter(call.verb for _, call in it.wire.calls)

        assert set(asked) == {"patch", "watch"}, "the lease is renewed, and watches are resumed"
        assert asked["watch"] <= 2 * HOUR / 300
        assert asked.total() / 60 <= 13
        assert it.passes() - before >= 0.8 * HOUR / 60, "and it is still looked at every minute"


async def test_what_it_writes_itself_wakes_it_once_and_not_for_ever() -> None:
    it = Rested()
    await it.settle()
    async with running(it.run):
        await asyncio.sleep(20)
        assert await it.members() == 3
        passes = it.passes()

        # Hold, three members, and each time what was written; then one that finds nothing to do.
        assert 1 + 3 + 1 <= passes <= 2 * (1 + 3 + 1)
        await asyncio.sleep(20)
        assert it.passes() == passes
