"""Who holds a lease, as one candidate saw it: by its own stopwatch, and by what a watch tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from structlog.typing import FilteringBoundLogger

from stateward.core.clock import Clock
from stateward.kube.client import Change, Malformed, WatchEvent
from stateward.kube.objects.policies import Lease, LeaseSpec

#: Seconds: short against every term of a lease, long against the rounding of a clock.
MOMENT = 0.01


class Holder:
    """What one candidate has seen of who holds the lease, by its own stopwatch."""

    def __init__(
        self,
        identity: str,
        clock: Clock,
        patience: float,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        self._identity = identity
        #: Where it is told for whom we stand by: whoever does so for ever is silent otherwise.
        self._log = log
        self._clock = clock
        #: How long the holder may be silent: what the lease says, and this where it does not.
        self._usual = self._patience = patience
        #: The lease's revision, and since when we see that one.
        self._revision, self._since = "", 0.0
        #: What the lease said when we saw it last, if it was another's.
        self.others: LeaseSpec | None = None

    def note(self, lease: Lease) -> None:
        """Note whose the lease is, and since when we see this revision of it."""
        if lease.metadata.resource_version != self._revision:
            self._revision, self._since = lease.metadata.resource_version, self._clock.monotonic()
        holder = lease.spec.holder_identity
        before = self.others and self.others.holder_identity
        lasts = lease.spec.lease_duration_seconds or self._usual
        if self.others is not None and self.others.holder_identity == holder:
            # Whoever shortens another's lease does not shorten what its holder believes.
            lasts = max(lasts, self._patience)
        self._patience = lasts
        self.others = None if holder in {None, "", self._identity} else lease.spec
        if self._log is not None and self.others is not None and holder != before:
            self._log.info("this instance stands by: another one holds the lease", holder=holder)

    def lets_go(self, event: WatchEvent[Lease]) -> bool:
        """Note what a watch tells; return whether nobody else holds the lease any more."""
        if event.change is Change.BOOKMARK:
            return False
        if event.change is Change.DELETED or isinstance(event.object, Malformed):
            return True
        self.note(event.object)
        return self.others is None

    async def heard_end(self, events: AsyncGenerator[WatchEvent[Lease], None]) -> bool:
        """Listen until the lease is let go; False when the watch ends, TimeoutError in silence."""
        while True:
            async with asyncio.timeout(self.silence_left + MOMENT):
                event = await anext(events, None)
            if event is None:
                return False
            if self.lets_go(event):
                return True

    @property
    def silence_left(self) -> float:
        """How many seconds the holder may still be silent."""
        return self._since + self._patience - self._clock.monotonic()
