"""Our election before a server that restarts and is cut off: one leads, and never two."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from real.proxy import Proxy, before
from real.servers import Server
from real.site import Opened, until
from stateward.core.ports import Ports
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import LEASES
from stateward.runtime.election import Elector, Terms
from stateward.runtime.telling.metrics import Metrics

LEASE = ObjectKey("default", "leader")
TERMS = Terms(duration=3.0, renew_deadline=2.0, retry_every=0.3)


@dataclass(slots=True)
class Candidate:
    """One who stands for election, again and again, over a cable of their own."""

    name: str
    elector: Elector
    cable: Proxy
    #: What they wrote down: ``a leads``, ``a lost it``.
    diary: list[str] = field(default_factory=list)

    @property
    def leads(self) -> bool:
        return self.elector.leadership.held

    async def stand(self) -> None:
        while True:
            await self.elector.acquire()
            self.diary.append(f"{self.name} leads")
            await self.elector.keep()
            self.diary.append(f"{self.name} lost it")


@asynccontextmanager
async def campaign(server: Server, *names: str) -> AsyncGenerator[list[Candidate], None]:
    """Let some stand, and watch all the time that no two lead."""
    ports = Ports.of_this_machine()
    async with AsyncExitStack() as stack:
        candidates: list[Candidate] = []
        for name in names:
            cable, access = await stack.enter_async_context(before(server.access))
            client = await stack.enter_async_context(
                HttpClient(access, ports.clock, ports.chance, field_manager=name)
            )
            meter = Metrics(ports.clock).leader("test")
            elector = Elector(client, LEASE, name, ports=ports, meter=meter, terms=TERMS)
            candidates.append(Candidate(name, elector, cable))
        tasks = [asyncio.create_task(it.stand()) for it in candidates]
        witness = asyncio.create_task(_witness(candidates))
        try:
            yield candidates
            assert not witness.done(), witness.result()
        finally:
            for task in (*tasks, witness):
                task.cancel()
            await asyncio.gather(*tasks, witness, return_exceptions=True)


async def _witness(candidates: Sequence[Candidate]) -> str:
    while sum(it.leads for it in candidates) < 2:  # noqa: ASYNC110 - it looks on all the time
        await asyncio.sleep(0.005)
    return f"two lead: {[it.name for it in candidates if it.leads]}"


async def _lease(server: Server) -> Lease:
    ports = Ports.of_this_machine()
    async with HttpClient(server.access, ports.clock, ports.chance) as client:
        return await client.get(LEASES, LEASE)


async def test_one_leads_and_says_so_in_the_lease(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as server, campaign(server, "a", "b") as candidates:
        await until("somebody leads", lambda: any(it.leads for it in candidates))

        lease = await _lease(server)

        leader = next(it for it in candidates if it.leads)
        assert lease.spec.holder_identity == leader.name
        assert lease.spec.lease_duration_seconds == 3
        assert lease.spec.acquire_time is not None


async def test_a_leader_that_is_cut_off_is_followed_by_another(
    opened: Opened, tmp_path: Path
) -> None:
    async with opened(tmp_path) as server, campaign(server, "a", "b") as candidates:
        await until("somebody leads", lambda: any(it.leads for it in candidates))
        first = next(it for it in candidates if it.leads)
        second = next(it for it in candidates if it is not first)

        first.cable.cut()
        await until("the other leads", lambda: second.leads)

        assert first.diary == [f"{first.name} leads", f"{first.name} lost it"]
        lease = await _lease(server)
        assert lease.spec.holder_identity == second.name
        assert lease.spec.lease_transitions == 1


async def test_a_restarted_server_has_one_leader_again(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as server, campaign(server, "a", "b", "c") as candidates:
        await until("somebody leads", lambda: any(it.leads for it in candidates))

        await server.restart()
        renewed = (await _lease(server)).metadata.resource_version

        await until("it is renewed", lambda: _is_newer(server, renewed))
        await until("somebody leads", lambda: any(it.leads for it in candidates))


async def _is_newer(server: Server, revision: str) -> bool:
    return (await _lease(server)).metadata.resource_version != revision
