"""Lease election: of several instances one acts, and it knows how long it may be sure of that.

The rules are client-go's, so that instances of other operators can share a lease with us:

- the holder renews every ``renew_every`` seconds, tries every ``retry_every`` when that fails, and
  gives up when it could not for ``renew_deadline``;
- another instance takes the lease when it has *watched* it unrenewed for ``duration`` on its own
  stopwatch; the times written in the lease are for people, because two machines' clocks need not
  agree;
- a lease that somebody deleted is made again in the name of its last holder, who may not know yet.

At rest this costs the server little: a renewal is one request, because whoever wrote the lease last
knows its revision; and who stands by follows the lease by a watch, so that it hears of a lease let
go at once, and looks by itself only when the holder has been silent for too long.

Being the leader is a belief that ages. Right before every write :meth:`Leadership.check` asks
whether the last renewal is young enough; a process that slept through its lease finds out there,
and does not act.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

from stateward.core.clock import Clock
from stateward.core.errors import NotLeader, PeerError
from stateward.core.moments import to_rfc3339_micro
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch, Patch, Selection, WatchEvent
from stateward.kube.codec import Body, Json, plain
from stateward.kube.errors import Conflict, Gone, NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import LEASES, Resource
from stateward.runtime.holder import MOMENT, Holder

T = TypeVar("T", bound=Object)

#: The revision at which a watch tells first of what is there.
_ANEW = "0"


class LeaseClient(Protocol):
    """The four calls that an election needs."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the lease as it is now."""

    def watch(
        self, resource: Resource[T], selection: Selection, *, since: str
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what becomes of the lease."""

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
    def renew_every(self) -> float:
        """How often a holder renews: early enough to try again more than once."""
        return self.renew_deadline / 2

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
        self._unsure_since = -math.inf

    @property
    def held(self) -> bool:
        """True while the last renewal is young enough to act upon."""
        return self.left > 0

    @property
    def left(self) -> float:
        """How many seconds the last renewal can still be acted upon."""
        if self._renewed is None:
            return 0.0
        return max(0.0, self._renewed + self._terms.renew_deadline - self._clock.monotonic())

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

    def unsure(self) -> None:
        """Note that a write of ours may still be under way."""
        self._unsure_since = self._clock.monotonic()

    @property
    def may_be_let_go(self) -> bool:
        """True when we lead and nothing that we wrote can still be carried out."""
        return self.held and self._clock.monotonic() - self._unsure_since > self._terms.margin

    def renewed(self, at: float) -> None:
        """Note a renewal, by the moment at which it was *asked for*."""
        self._renewed = at

    def lost(self) -> None:
        """Note that we do not lead."""
        self._renewed = None


class Candidate(Protocol):
    """One who may come to lead: for a lease, or without one."""

    leadership: Leadership

    async def acquire(self) -> None:
        """Return when we lead."""

    async def keep(self) -> None:
        """Return when we do not lead any more."""

    async def release(self) -> None:
        """Lead no more."""


class Alone:
    """A candidate without a lease: it always leads, and must be the only instance."""

    def __init__(self, clock: Clock, meter: LeaderMeter, terms: Terms | None = None) -> None:
        self.leadership = Leadership(clock, terms or Terms())
        self._meter = meter

    async def acquire(self) -> None:
        """Lead from now on."""
        self.leadership.renewed(math.inf)
        self._meter.leads(leads=True)

    async def keep(self) -> None:
        """Lead for ever."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """Lead no more."""
        self.leadership.lost()
        self._meter.leads(leads=False)


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
        self._it = Selection(key.namespace, fields=f"metadata.name={key.name}")
        self._identity = identity
        self._clock = ports.clock
        self._chance = ports.chance
        self._meter = meter
        self._log = structlog.get_logger("election").bind(lease=str(key), identity=identity)
        self._holder = Holder(identity, ports.clock, self.terms.duration, self._log)
        #: The revision of a lease that another held when we looked last; empty: another look.
        self._held_at = ""
        #: The lease as we wrote it last, if nothing came between.
        self._ours: Lease | None = None
        #: Since when a lease that we made out of nothing may be believed in.
        self._believed_from = 0.0
        #: Whether we asked for one to be made, and do not know since when it is there.
        self._made_unheard = False
        self._trouble = ""

    async def acquire(self) -> None:
        """Return when we lead; until then stand by."""
        # Whoever slept after asking may have won a lease that is too old by now.
        while not (await self._try(self.terms.margin) and self.leadership.held):
            if not (self._held_at and await self._watch_holder()):
                await self._clock.sleep(self._jittered(self.terms.retry_every))
        self._meter.leads(leads=True)
        self._log.info("this instance leads now")

    async def keep(self) -> None:
        """Renew for as long as possible; return when leadership is lost, and never take it back."""
        pause = self._until_renewal()
        while self.leadership.held:
            # A little longer than there is left, so that what is left then is nothing.
            await self._clock.sleep(min(pause, self.leadership.left + MOMENT))
            if self.leadership.held:
                renewed = await self._try(min(self.terms.margin, self.leadership.left))
                retry = self._jittered(self.terms.retry_every)
                pause = self._until_renewal() if renewed else retry
        self.leadership.lost()
        self._meter.leads(leads=False)
        self._log.warning("leadership is lost")

    async def release(self) -> None:
        """Let the lease go, so that a successor need not wait for it to run out.

        Unless a write of ours may still be under way: then it must run out.
        """
        self._meter.leads(leads=False)
        may_be_let_go = self.leadership.may_be_let_go
        self.leadership.lost()
        if not may_be_let_go:
            return
        try:
            async with asyncio.timeout(self.terms.margin):
                lease = await self._client.get(LEASES, self._key)
                if lease.spec.holder_identity == self._identity:
                    await self._write(lease, {"holderIdentity": "", "leaseDurationSeconds": 1})
        except (PeerError, TimeoutError) as error:
            self._log.info("the lease could not be released; it runs out", error=str(error))

    async def _try(self, within: float) -> bool:
        """Take or renew the lease if it is ours to take; return whether we lead."""
        asked = self._clock.monotonic()
        self._held_at = ""
        try:
            async with asyncio.timeout(within):
                won = await self._take_or_renew()
        except (PeerError, TimeoutError) as error:
            self._complain(str(error) or "no answer came in time")
            return False
        self._trouble = ""
        if won:
            self.leadership.renewed(asked)
        else:
            self.leadership.lost()
        return won

    def _complain(self, trouble: str) -> None:
        """Say why the lease cannot be had: once, and not every two seconds."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._log.warning("the lease could not be written", error=trouble)

    async def _take_or_renew(self) -> bool:
        ours, self._ours = self._ours, None  # whatever goes wrong, we look again
        if ours is not None and self.leadership.held:
            with suppress(Conflict, NotFound):
                self._ours = await self._write(ours, self._renewal())
                return True
        try:
            lease = await self._client.get(LEASES, self._key)
        except NotFound:
            return await self._make()
        self._note_made()
        if lease.spec.holder_identity == self._identity and self.leadership.held:
            self._ours = await self._write(lease, self._renewal())
            return True
        if not self._is_free(lease):
            return False
        if self._clock.monotonic() < self._believed_from:
            await self._write(lease, self._renewal())
            return False
        self._ours = await self._write(lease, self._claim(lease))
        return True

    def _is_free(self, lease: Lease) -> bool:
        """Tell whether nobody holds the lease, or its holder has been silent before our eyes."""
        self._holder.note(lease)
        if self._holder.others is None:
            return True
        self._held_at = lease.metadata.resource_version
        return self._holder.silence_left < 0

    async def _watch_holder(self) -> bool:
        """Return True when the lease was let go or its holder fell silent; False: nobody knows."""
        try:
            return await self._heard_since(self._held_at)
        except TimeoutError:
            return True
        except PeerError as error:
            self._log.info("the lease cannot be watched", error=str(error))
            return False

    async def _heard_since(self, revision: str) -> bool:
        try:
            async with aclosing(self._client.watch(LEASES, self._it, since=revision)) as events:
                return await self._holder.heard_end(events)
        except Gone:
            if revision == _ANEW:
                raise
            # It was written so long ago that no watch can begin there.
            return await self._heard_since(_ANEW)

    async def _make(self) -> bool:
        """Create the lease; return whether we lead.

        Somebody may have deleted it, and its holder still believes in it. If we saw whose it was,
        that one may renew it; if not, we wait as long as any belief lasts. So does a first start.
        """
        held = self.leadership.held
        others = None if held else self._holder.others
        spec = self._claim(None) if others is None else plain(others)
        metadata = {"namespace": self._key.namespace, "name": self._key.name}
        self._made_unheard = not held  # it may be carried out, and its answer lost
        await self._client.create(LEASES, {"metadata": metadata, "spec": spec})
        self._note_made()
        return held

    def _note_made(self) -> None:
        """Believe in a lease that we made out of nothing only after we have known it for long."""
        if self._made_unheard:
            self._made_unheard = False
            self._believed_from = self._clock.monotonic() + self.terms.duration

    def _claim(self, lease: Lease | None) -> Json:
        renewal = self._renewal()
        return {
            **renewal,
            "holderIdentity": self._identity,
            "acquireTime": renewal["renewTime"],
            "leaseTransitions": _changes_of_hands(lease, self._identity),
        }

    def _renewal(self) -> Json:
        return {
            "renewTime": to_rfc3339_micro(self._clock.now()),
            # Rounded up: others must wait longer than we believe. Each time: it may be changed.
            "leaseDurationSeconds": math.ceil(self.terms.duration),
        }

    async def _write(self, lease: Lease, spec: Json) -> Lease:
        """Write only if nobody wrote since we read; return the lease as it is then."""
        metadata = {"resourceVersion": lease.metadata.resource_version}
        return await self._client.patch(
            LEASES, self._key, MergePatch({"metadata": metadata, "spec": spec})
        )

    def _until_renewal(self) -> float:
        """Return when a renewal is due: a slow answer was old when it came, and leaves less."""
        age = self.terms.renew_deadline - self.leadership.left
        return max(0.0, self._jittered(self.terms.renew_every) - age)

    def _jittered(self, seconds: float) -> float:
        return self._chance.jittered(seconds, 0.2)


def candidate(
    client: LeaseClient,
    lease: ObjectKey | None,
    identity: str,
    *,
    ports: Ports,
    meter: LeaderMeter,
    terms: Terms | None = None,
) -> Candidate:
    """Return a candidate for the lease, or one that is alone when there is none to stand for."""
    if lease is None:
        return Alone(ports.clock, meter, terms)
    return Elector(client, lease, identity, ports=ports, meter=meter, terms=terms)


def _changes_of_hands(lease: Lease | None, taker: str) -> int:
    """Return how often a lease will have changed hands when somebody takes it."""
    if lease is None or (lease.spec.acquire_time is None and not lease.spec.holder_identity):
        return 0
    changes = lease.spec.lease_transitions or 0
    return changes if lease.spec.holder_identity == taker else changes + 1
