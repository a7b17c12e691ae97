"""Candidates for one lease, each with a wire, a clock and a process of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from fakes.bench import Bench
from fakes.rough_wire import RoughWire
from fakes.tally import Tally
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.codec import Json
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import LEASES
from stateward.local.api import Api
from stateward.local.rules.writes import Author
from stateward.runtime.election import Elector, Leadership, Terms
from stateward.sim.loop import SimClock
from stateward.sim.process import SimProcess

LEASE = ObjectKey("ns", "lease")
HOUR = 3600.0
#: The longest pause between two looks at the lease, and between two renewals.
LOOK, RENEW = 2.4, 6.0


class TwoLeaders(AssertionError):
    """Two instances believe to lead at the same moment."""


class Witnessed(Leadership):
    """A belief that is compared with all others whenever it begins anew."""

    def __init__(self, clock: SimClock, terms: Terms, name: str, all_of_them: dict[str, Any]):
        super().__init__(clock, terms)
        self._name = name
        self._all = all_of_them
        all_of_them[name] = self

    def renewed(self, at: float) -> None:
        super().renewed(at)
        others = [name for name, it in self._all.items() if it is not self and it.held]
        if self.held and others:
            raise TwoLeaders(f"{self._name} and {', '.join(others)}")


class Candidate:
    """One instance: it stands by, leads, and ends when it has lost."""

    def __init__(self, stand: Campaign, name: str, terms: Terms | None, skew: float) -> None:
        self.name = name
        self.wire = RoughWire()
        self.meter = Tally()
        clock = SimClock(stand.loop, skew=skew)
        self.elector = Elector(
            InterceptedClient(stand.user, self.wire),
            LEASE,
            name,
            ports=Ports(clock, Chance(name)),
            meter=self.meter,
            terms=terms,
        )
        self.leadership = self.elector.leadership = Witnessed(
            clock, self.elector.terms, name, stand.beliefs
        )
        self.process = SimProcess(stand.loop, name)
        self.led: list[float] = []
        self.task: asyncio.Task[None] = self.process.spawn(self._live())

    async def _live(self) -> None:
        await self.elector.acquire()
        self.led.append(asyncio.get_running_loop().time())
        await self.elector.keep()
        self.led.append(asyncio.get_running_loop().time())


def make_lease(api: Api) -> None:
    """Make a lease that nobody ever held, so that the first to ask leads at once."""
    metadata = {"namespace": LEASE.namespace, "name": LEASE.name}
    api.create(LEASES, LEASE.namespace, {"metadata": metadata, "spec": {}}, Author("human"))


class Campaign(Bench):
    """Make it inside a test marked ``virtual``. There is a lease that nobody ever held."""

    def __init__(self, *, lease: bool = True) -> None:
        super().__init__()
        if lease:
            make_lease(self.api)
        self.beliefs: dict[str, Leadership] = {}
        self.candidates: list[Candidate] = []

    def stand(self, name: str, *, terms: Terms | None = None, skew: float = 0.0) -> Candidate:
        """Let one more instance stand by."""
        candidate = Candidate(self, name, terms, skew)
        self.candidates.append(candidate)
        return candidate

    async def pair(self) -> tuple[Candidate, Candidate]:
        """Return a, who leads since a second ago, and b, who just came to stand by."""
        first = self.stand("a")
        await asyncio.sleep(1)
        return first, self.stand("b")

    @property
    def leaders(self) -> list[str]:
        """Who believes to lead now."""
        return [name for name, belief in self.beliefs.items() if belief.held]

    async def lease(self) -> Lease:
        return await self.user.get(LEASES, LEASE)

    async def write(self, **spec: Any) -> Lease:
        """Make the lease say this, whatever it said."""
        await self.delete()
        body: Json = {"metadata": {"namespace": "ns", "name": "lease"}, "spec": spec}
        return await self.user.create(LEASES, body)

    async def delete(self) -> None:
        """Do what a human should not."""
        await self.user.delete(LEASES, LEASE, uid=(await self.lease()).metadata.uid)

    async def end(self) -> None:
        """Stop everybody and say who fell over."""
        for candidate in self.candidates:
            candidate.task.cancel()
        for ended in await asyncio.gather(
            *(candidate.task for candidate in self.candidates), return_exceptions=True
        ):
            if ended is not None and not isinstance(ended, asyncio.CancelledError):
                raise ended
