"""A controller: workers that take keys from a queue and give each one a pass.

A pass belongs to one key. Whatever goes wrong in it (an error, a bug, a peer that never answers)
delays that key and no other. A key whose own last write the caches do not show yet is not given a
pass; the informer wakes it when they do. A settled key is looked at again after a while, because
not every trouble sends an event; one whose object is gone is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import structlog

from stateward.core.errors import HouseError, StatewardError
from stateward.core.outcome import Done, Outcome, Retry, wake_after
from stateward.core.ports import Ports
from stateward.kube.client import Reader
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.runtime.cache import Delta
from stateward.runtime.informer import Informer
from stateward.runtime.own_writes import PASS, Note
from stateward.runtime.queue import QueueClosed, WorkQueue
from stateward.runtime.telling import logs
from stateward.runtime.triggers import Trigger, itself

#: Seconds after which a pass that waits for the cache to show our own write looks again.
UNSEEN_AGAIN = 1.0
#: Seconds after which a pass looks again that was not allowed to look.
BLIND_AGAIN = 5.0


class Reconciler(Protocol):
    """What a controller does for one key: look, judge, act a little, and say how it stands."""

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Bring one object closer to what it asks for."""


@runtime_checkable
class Witness(Protocol):
    """A reconciler that can say of an object that nobody may look at what belongs to it."""

    async def hindered(self, key: ObjectKey, why: ApiError) -> Outcome:
        """Tell so, and do nothing else."""


class ControllerMeter(Protocol):
    """What a controller tells about itself."""

    def active(self, workers: int) -> None:
        """So many passes run now."""

    def limit(self, workers: int) -> None:
        """So many passes may run at once."""

    def bug(self, error: Exception) -> None:
        """A pass failed for a reason that is nobody's fault but ours."""

    def finished(self, result: str, seconds: float) -> None:
        """A pass ended."""


@dataclass(frozen=True, slots=True)
class Source:
    """An informer, and whom its changes wake."""

    informer: Informer[Any]
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Habits:
    """How a controller works."""

    workers: int = 8
    #: Seconds after which a settled object is looked at again, moved by chance.
    probe_every: float = 60.0
    #: Seconds after which a pass that does not end is given up.
    pass_deadline: float = 300.0


class Controller:
    """One reconciler, its queue, its sources and its workers."""

    def __init__(
        self,
        name: str,
        reconciler: Reconciler,
        *,
        queue: WorkQueue[ObjectKey],
        sources: tuple[Source, ...],
        client: Reader,
        ports: Ports,
        meter: ControllerMeter,
        habits: Habits | None = None,
    ) -> None:
        self.name = name
        self._reconciler = reconciler
        self._queue = queue
        self._sources = sources
        self._client = client
        self._clock = ports.clock
        self._chance = ports.chance
        self._meter = meter
        self._habits = habits or Habits()
        self._passes = 0
        self._log = structlog.get_logger("controller").bind(controller=name)
        for source in sources:
            source.informer.listen(self._waker(source.trigger))

    @property
    def idle(self) -> bool:
        """True when no key is in line or in work."""
        return not len(self._queue) and not self._queue.in_work

    async def run(self) -> None:
        """Work until the queue is closed (gently) or the task is cancelled (at once)."""
        self._meter.limit(self._habits.workers)
        for source in self._sources:
            # Whoever may not be looked at is told of in the status of who may.
            must_be_there = source.trigger is itself
            informer = source.informer
            await (informer.synced if must_be_there else informer.answered).wait()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._habits.workers):
                group.create_task(self._work())

    def close(self) -> None:
        """Take no more keys; passes that run may end."""
        self._queue.close()

    def _waker(self, trigger: Trigger) -> Callable[[Delta[Object]], None]:
        def wake(delta: Delta[Object]) -> None:
            # Both versions are asked: an object that changed hands concerns its old owner too.
            for item in (delta.before, delta.now):
                if item is not None:
                    for key in trigger(item):
                        self._queue.add(key)

        return wake

    async def _work(self) -> None:
        while True:
            try:
                key = await self._queue.take()
            except QueueClosed:
                return
            try:
                await self._pass(key)
            finally:
                self._queue.done(key)

    async def _pass(self, key: ObjectKey) -> None:
        self._passes += 1
        started = self._clock.monotonic()
        self._meter.active(self._queue.in_work)
        PASS.set((self.name, key))
        with logs.bind_pass(self.name, key, f"{self.name}-{self._passes}"):
            result = await self._attempt(key)
        self._meter.finished(result, self._clock.monotonic() - started)
        self._meter.active(self._queue.in_work - 1)

    async def _attempt(self, key: ObjectKey) -> str:
        """Run one pass and decide when the next one is due; return the result for the metrics."""
        try:
            async with asyncio.timeout(self._habits.pass_deadline):
                outcome = await self._reconcile(key)
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            return self._failed(key, HouseError("something that the pass waited for was cancelled"))
        except Exception as error:  # noqa: BLE001 - one key's trouble must not become another's
            return self._failed(key, error)
        after = wake_after(outcome)
        if isinstance(outcome, Done) and self._is_gone(key):
            return "success"
        probe = self._chance.jittered(self._habits.probe_every, 0.2)
        self._queue.add_after(key, probe if after is None else min(after, probe))
        return "success" if after is None else "requeue_after"

    async def _reconcile(self, key: ObjectKey) -> Outcome:
        if (blind := self._blind()) is not None:
            if isinstance(blind.refused, ApiError) and isinstance(self._reconciler, Witness):
                return await self._reconciler.hindered(key, blind.refused)
            words = blind.problem or "not listed yet"
            return Retry(BLIND_AGAIN, "Unreadable", f"{blind.resource} must be readable: {words}")
        await self._look_up_doubts(key)
        for source, note in self._unseen(key):
            # A timer, because what we wrote may be no business of ours any more and wake nobody.
            return Retry(
                UNSEEN_AGAIN,
                "OwnWriteUnseen",
                f"the cache does not show our last write to {source.informer.resource}"
                f" {note.object.metadata.key} yet",
            )
        outcome = await self._reconciler.reconcile(key)
        self._queue.forget_failures(key)
        return outcome

    def _blind(self) -> Informer[Any] | None:
        """Return what we may not look at: without it nothing is judged."""
        for source in self._sources:
            if source.informer.needed and source.informer.unseen:
                return source.informer
        return None

    def _seen_sources(self) -> Iterator[Source]:
        """Yield where our writes come to be seen: nowhere else can they be waited for."""
        return (it for it in self._sources if it.informer.needed or not it.informer.unseen)

    async def _look_up_doubts(self, key: ObjectKey) -> None:
        """Ask the server about writes whose answer was lost: never repeat them blindly."""
        for source in self._seen_sources():
            writes = source.informer.own_writes
            for doubt in writes.doubtful():
                if not self._concerns(doubt, source, key):
                    continue
                where = doubt.object.metadata.key
                try:
                    found = await self._client.get(source.informer.resource, where)
                except NotFound:
                    writes.resolve(doubt, None)
                else:
                    writes.resolve(doubt, found)
            writes.settle(source.informer.revision)

    def _concerns(self, note: Note[Any], source: Source, key: ObjectKey) -> bool:
        """Tell whether a key must know: it wrote, or the object wakes it, or did before."""
        versions = (note.object,) if note.before is None else (note.object, note.before)
        return note.by == (self.name, key) or any(key in source.trigger(it) for it in versions)

    def _unseen(self, key: ObjectKey) -> Iterator[tuple[Source, Note[Any]]]:
        for source in self._seen_sources():
            for note in source.informer.own_writes.unseen():
                if self._concerns(note, source, key):
                    yield source, note

    def _is_gone(self, key: ObjectKey) -> bool:
        """Tell whether the object itself is watched here, and is not there."""
        caches = [source.informer.cache for source in self._sources if source.trigger is itself]
        return bool(caches) and not any(key in cache for cache in caches)

    def _failed(self, key: ObjectKey, error: Exception) -> str:
        at_least = error.retry_after or 0.0 if isinstance(error, ApiError) else 0.0
        delay = self._queue.add_failed(key, at_least=at_least)
        if isinstance(error, Conflict):
            self._log.info("somebody else wrote first", key=str(key), retry_in=delay)
            return "requeue"
        if isinstance(error, StatewardError | TimeoutError) and not isinstance(error, HouseError):
            self._log.warning("pass failed", key=str(key), error=str(error), retry_in=delay)
        else:
            self._meter.bug(error)
            self._log.error("pass failed by a bug", key=str(key), retry_in=delay, exc_info=error)
        return "error"


def _is_being_cancelled() -> bool:
    """Tell whether the current task was asked to end, rather than something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
