"""A wire that does to calls what the test says, and writes down when each was made.

Each entry of a plan befalls one call of that verb; when a plan is used up, calls pass. ``always``
befalls every call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from contextvars import Context
from typing import Any

from stateward.kube.client import WatchEvent
from stateward.kube.interception import Call

Perform = Callable[[], Awaitable[Any]]
Events = AsyncGenerator[WatchEvent[Any], None]
#: What befalls a call.
Fate = Callable[[Perform], Awaitable[Any]]
#: What befalls a watch.
WatchFate = Callable[[Events], Events]


async def passes(perform: Perform) -> Any:
    return await perform()


def refuse(error: Exception) -> Fate:
    """Nothing is done, and the caller hears this."""

    async def refused(perform: Perform) -> Any:
        raise error

    return refused


def lose_answer(error: BaseException) -> Fate:
    """It is done, and the caller hears this."""

    async def lost(perform: Perform) -> Any:
        await perform()
        raise error

    return lost


def take(before: float, after: float = 0.0) -> Fate:
    """It is done after a while, and the answer takes a while as well."""

    async def slow(perform: Perform) -> Any:
        await asyncio.sleep(before)
        result = await perform()
        await asyncio.sleep(after)
        return result

    return slow


def late(before: float, after: float = 0.0) -> Fate:
    """As :func:`take`, and it is done even if the caller gives up or sleeps meanwhile."""

    async def on_its_way(perform: Perform) -> Any:
        journey = asyncio.get_running_loop().create_task(
            take(before, after)(perform), context=Context()
        )
        journey.add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )  # not ours to mind
        return await asyncio.shield(journey)

    return on_its_way


async def hang(perform: Perform) -> Any:
    """Nothing is done, and nobody is told."""
    await asyncio.sleep(1e9)


def watch_ends(
    error: Exception | None = None, *, after: int = 0, first_wait: float = 0
) -> WatchFate:
    """The watch ends after so many events, properly or with an error."""

    async def ending(events: Events) -> Events:
        async with aclosing(events) as stream:
            await asyncio.sleep(first_wait)
            left = after
            while left > 0:
                yield await anext(stream)
                left -= 1
        if error is not None:
            raise error

    return ending


class RoughWire:
    """An interceptor for tests."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Call]] = []
        self.plans: dict[str, deque[Any]] = {}
        self.always: dict[str, Any] = {}
        #: What befalls a verb for one resource alone.
        self.only: dict[tuple[str, Any], Any] = {}

    def plan(self, verb: str, *fates: Any) -> None:
        """Say what befalls the next calls of a verb."""
        self.plans.setdefault(verb, deque()).extend(fates)

    def said(self, resource: object = None) -> list[str]:
        """Return the calls as text, of one resource or of all."""
        return [str(call) for _, call in self.calls if resource in {None, call.resource}]

    def times(self, verb: str) -> list[float]:
        """Return when the calls of a verb were made."""
        return [when for when, call in self.calls if call.verb == verb]

    async def around(self, call: Call, perform: Perform) -> Any:
        return await self._fate(call, passes)(perform)

    def around_watch(self, call: Call, events: Events) -> Events:
        return self._fate(call, lambda stream: stream)(events)

    def _fate(self, call: Call, otherwise: Any) -> Any:
        self.calls.append((asyncio.get_running_loop().time(), call))
        plan = self.plans.get(call.verb)
        if plan:
            return plan.popleft()
        return self.only.get((call.verb, call.resource)) or self.always.get(call.verb, otherwise)
