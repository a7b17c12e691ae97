"""Lease election: of several instances one acts, and it knows how long it may be sure of that.

The rules are client-go's, so that instances of other operators can share a lease with us:

- the holder renews every ``retry_every`` seconds and gives up when it could not for ``renew_deadline``;
- another instance takes the lease when it has *watched* it unrenewed for ``duration`` on its own stopwatch; the
  times written in the lease are for people, because two machines' clocks need not agree.

Being the leader is a belief that ages. Right before every write :meth:`Leadership.check` asks whether the last
renewal is young enough; a process that slept through its lease finds out there, and does not act.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

from stateward.core.clock import Clock, to_rfc3339_micro
from stateward.core.errors import NotLeader, PeerError
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch, Patch
from stateward.kube.codec import Body, Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import LEASES, Resource

T = TypeVar("T", bound=Object)


class LeaseClient(Protocol):
    """The three calls that an election needs."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the lease as it is now."""

    async def create(self, resource: Resource[T], body: Body) -> T:
        """Create the lease."""

    async def patch(self, resource: Resource[T], key: ObjectKey, patch: Patch) -> T:
        """Change the lease."""


class LeaderMeter(Protocol):
    """What an election tells about itself."""

    def leads(self, leads: bool) -> None:  # noqa: FBT001 - a gauge of zero or one
        """Whether this instance leads now."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The times of a lease, in seconds."""

    duration: float = 15.0
    renew_deadline: float = 10.0
    retry_every: float = 2.0

    def __post_init__(self) -> None:
        if not self.duration > self.renew_deadline > self.retry_every > 0:
            raise ValueError("a lease must have duration > renew_deadline > retry_every > 0")

    @property
    def margin(self) -> float:
        """How long a call may take that was begun while we were sure to lead."""
        return self.duration - self.renew_deadline


class Leadership:
    """What one instance may believe about being the leader."""

    def __init__(self, clock: Clock, terms: Terms) -> None:
        self._clock = clock
        self._terms = terms
        self._renewed: float | None = None

    @property
    def held(self) -> bool:
        """True while the last renewal is young enough to act upon."""
        return (
            self._renewed is not None
            and self._clock.monotonic() - self._renewed < self._terms.renew_deadline
        )

    @property
    def margin(self) -> float:
        """How long a call that starts now may take and still end before anybody else can lead."""
        return self._terms.margin

    def check(self) -> None:
        """Raise NotLeader unless we can be sure to lead."""
        if not self.held:
            raise NotLeader(
                "this instance cannot be sure that it leads: its lease was not renewed in time",
                hint="nothing to do; the leader goes on with the work",
            )

    def renewed(self, at: float) -> None:
        """Note a renewal, by the moment at which it was *asked for*."""
        self._renewed = at

    def lost(self) -> None:
        """Note that we do not lead."""
        self._renewed = None


class Elector:
    """One candidate for one lease."""

    def __init__(
        self,
        client: LeaseClient,
        key: ObjectKey,
        identity: str,
        *,
        ports: Ports,
        meter: LeaderMeter,
        terms: Terms | None = None,
    ) -> None:
        self.terms = terms or Terms()
        self.leadership = Leadership(ports.clock, self.terms)
        self._client = client
        self._key = key
        self._identity = identity
        self._clock = ports.clock
        self._chance = ports.chance
        self._meter = meter
        self._seen: tuple[str, float] = (
            "",
            0.0,
        )  # the lease's revision, and since when we see that one
        self._log = structlog.get_logger("election").bind(lease=str(key), identity=identity)

    async def acquire(self) -> None:
        """Return when we lead; until then stand by."""
        while not await self._try():
            await self._pause()
        self._meter.leads(leads=True)
        self._log.info("this instance leads now")

    async def keep(self) -> None:
        """Renew for as long as possible; return when leadership is lost."""
        last = self._clock.monotonic()
        while self._clock.monotonic() - last < self.terms.renew_deadline:
            await self._pause()
            if await self._try():
                last = self._clock.monotonic()
            elif not self.leadership.held:
                break
        self.leadership.lost()
        self._meter.leads(leads=False)
        self._log.warning("leadership is lost")

    async def release(self) -> None:
        """Let the lease go, so that a successor need not wait for it to run out."""
        self._meter.leads(leads=False)
        if not self.leadership.held:
            return
        try:
            lease = await self._client.get(LEASES, self._key)
            if lease.spec.holder_identity == self._identity:
                self.leadership.lost()
                await self._write(lease, {"holderIdentity": "", "leaseDurationSeconds": 1})
        except PeerError as error:
            self._log.info("the lease could not be released; it runs out", error=str(error))

    async def _try(self) -> bool:
        """Take or renew the lease if it is ours to take; return whether we lead."""
        asked = self._clock.monotonic()
        try:
            async with asyncio.timeout(self.terms.margin):
                won = await self._take_or_renew()
        except (PeerError, TimeoutError) as error:
            self._log.info("the lease could not be written", error=str(error))
            return False
        if won:
            self.leadership.renewed(asked)
        else:
            self.leadership.lost()
        return won

    async def _take_or_renew(self) -> bool:
        try:
            lease = await self._client.get(LEASES, self._key)
        except NotFound:
            await self._client.create(LEASES, self._new_lease())
            return True
        if lease.spec.holder_identity == self._identity and self.leadership.held:
            await self._write(lease, {"renewTime": to_rfc3339_micro(self._clock.now())})
            return True
        if not self._is_free(lease):
            return False
        await self._write(lease, self._claim(lease))
        return True

    def _is_free(self, lease: Lease) -> bool:
        """Tell whether nobody holds the lease, or its holder has been silent for its duration before our eyes."""
        now = self._clock.monotonic()
        if lease.metadata.resource_version != self._seen[0]:
            self._seen = (lease.metadata.resource_version, now)
        duration = lease.spec.lease_duration_seconds or self.terms.duration
        return (
            not lease.spec.holder_identity
            or lease.spec.holder_identity == self._identity
            or now - self._seen[1] > duration
        )

    def _claim(self, lease: Lease | None) -> Json:
        now = to_rfc3339_micro(self._clock.now())
        transitions = (lease.spec.lease_transitions or 0) + 1 if lease else 0
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": int(self.terms.duration),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": transitions,
        }

    def _new_lease(self) -> Json:
        metadata = {"namespace": self._key.namespace, "name": self._key.name}
        return {"metadata": metadata, "spec": self._claim(None)}

    async def _write(self, lease: Lease, spec: Json) -> None:
        """Write only if nobody wrote since we read."""
        metadata = {"resourceVersion": lease.metadata.resource_version}
        await self._client.patch(
            LEASES, self._key, MergePatch({"metadata": metadata, "spec": spec})
        )

    async def _pause(self) -> None:
        await self._clock.sleep(self._chance.jittered(self.terms.retry_every, 0.2))
