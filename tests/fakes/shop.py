"""A controller at work on config maps, whose passes do what the test says."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

from fakes.bench import Bench, key
from fakes.tally import Tally
from stateward.core.outcome import DONE, Outcome
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, SECRETS
from stateward.runtime import triggers
from stateward.runtime.backoff import Backoff
from stateward.runtime.controller import Controller, Habits, Source
from stateward.runtime.queue import WorkQueue
from stateward.runtime.tracking import Tracking

#: What one pass does; it gets the key's name.
Act = Callable[[str], Awaitable[Outcome]]


def say(outcome: Outcome) -> Act:
    async def saying(_name: str) -> Outcome:
        return outcome

    return saying


def fail(error: BaseException) -> Act:
    async def failing(_name: str) -> Outcome:
        raise error

    return failing


def work(seconds: float) -> Act:
    async def working(_name: str) -> Outcome:
        await asyncio.sleep(seconds)
        return DONE

    return working


class Shop(Bench):
    """Config maps wake themselves, secrets wake the config map that owns them.

    ``acts["a"]`` is what passes over ``a`` do, one after the other, the last one again and again.
    """

    def __init__(self, *, workers: int = 4, pass_deadline: float = 300.0, **options: Any) -> None:
        super().__init__(**options)
        self.acts: dict[str, list[Act]] = {}
        self.passes: list[tuple[float, str]] = []
        self.busy: Counter[str] = Counter()
        self.busiest = 0
        self.maps = self.informer(CONFIG_MAPS)
        self.secrets = self.informer(SECRETS)
        self.acting = InterceptedClient(self.client, Tracking([self.maps, self.secrets]))
        self.queue: WorkQueue[ObjectKey] = WorkQueue(
            self.ports, Tally(), Backoff(first=0.5, limit=60, jitter=0)
        )
        self.results = Tally()
        self.controller = Controller(
            "shop",
            self,
            queue=self.queue,
            sources=(
                Source(self.maps, triggers.itself),
                Source(self.secrets, triggers.owner(CONFIG_MAPS)),
            ),
            client=self.client,
            ports=self.ports,
            meter=self.results,
            habits=Habits(workers, pass_deadline=pass_deadline),
        )

    def parts(self) -> tuple[Any, ...]:
        """Return what has to run."""
        return self.maps.run(), self.secrets.run(), self.controller.run()

    async def reconcile(self, where: ObjectKey) -> Outcome:
        name = where.name
        self.passes.append((self.loop.time(), name))
        self.busy[name] += 1
        self.busiest = max(self.busiest, self.busy.total())
        assert self.busy[name] == 1, f"two passes over {name} at a time"
        acts = self.acts.get(name) or [say(DONE)]
        act = acts.pop(0) if len(acts) > 1 else acts[0]
        try:
            return await act(name)
        finally:
            self.busy[name] -= 1

    def times(self, name: str) -> list[float]:
        """Return when the passes over a key began."""
        return [when for when, passed in self.passes if passed == name]

    def pauses(self, name: str) -> list[float]:
        """Return the seconds between the passes over a key."""
        return [round(later - earlier, 3) for earlier, later in pairwise(self.times(name))]


__all__ = ["Shop", "fail", "key", "say", "work"]
