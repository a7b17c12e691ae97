"""Writing what is told: onto the very version that it speaks of, and not more often than needed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from stateward.core.clock import Clock
from stateward.core.outcome import Blocked, Done, Outcome, Retry, wake_after
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import plain
from stateward.kube.errors import NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.patch import merge_diff
from stateward.kube.resources import Resource
from stateward.runtime.telling.teller import Teller

#: Seconds until what a person must mend is looked at again: nothing else tells us when.
_BLOCKED_AGAIN: Final = 15.0
#: Seconds until it is looked at what has become of an act.
_SOON: Final = 0.5


@dataclass(frozen=True, slots=True)
class Voice:
    """By what is told, and when it is."""

    teller: Teller
    clock: Clock


class StatusWriter:
    """Writes the statuses of one kind; what can wait, at most once in so many seconds."""

    def __init__(self, client: Client, clock: Clock, resource: Resource[Any], every: float) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource
        self._every = every
        self._told_at: dict[ObjectKey, float] = {}

    def forget(self, key: ObjectKey) -> None:
        """Let go of what was kept for an object that is gone."""
        self._told_at.pop(key, None)

    def left(self, key: ObjectKey) -> float:
        """Return in how many seconds it is told again what can wait; 0: now."""
        before = self._told_at.get(key)
        if before is None:
            return 0.0
        return max(0.0, before + self._every - self._clock.monotonic())

    async def write(self, item: Object, old: msgspec.Struct, new: msgspec.Struct) -> None:
        """Write a status if it says something new."""
        if old == new:
            return
        metadata = item.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": merge_diff(plain(old), plain(new)),
        }
        self._told_at[metadata.key] = self._clock.monotonic()
        with suppress(NotFound):  # who is gone hears no more
            await self._client.patch(
                self._resource, metadata.key, MergePatch(body), subresource="status"
            )


def looked_at_again(outcome: Outcome) -> Outcome:
    """Look again at what is blocked, and soon after what was done: databases tell nobody."""
    if isinstance(outcome, Blocked):
        return Retry(_BLOCKED_AGAIN, outcome.reason, outcome.message)
    after = wake_after(outcome)
    if after == 0 and not isinstance(outcome, Done):
        return Retry(_SOON, outcome.reason, outcome.message)
    return outcome
