"""Write only while we are sure to lead, and give up on a write before anybody else can.

A lease does not exclude by itself: a process may sleep between the check and the write. So every
write is checked at the last moment and must end within the margin that a lease leaves between our
giving up and another's taking over; what is still under way then is of unknown outcome, and the
preconditions of the write guard the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from stateward.core.errors import OutcomeUnknown
from stateward.kube.errors import did_nothing
from stateward.kube.interception import Call, PassThrough
from stateward.runtime.election import Leadership

R = TypeVar("R")


class Fencing(PassThrough):
    """An interceptor that lets only a leader write."""

    def __init__(self, leadership: Leadership) -> None:
        self._leadership = leadership

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        """Perform a read; perform a write if we lead."""
        if not call.writes:
            return await perform()
        self._leadership.check()
        try:
            return await self._in_time(perform)
        except BaseException as error:
            if not did_nothing(error):
                self._leadership.unsure()  # so the lease is not let go while it may arrive
            if not isinstance(error, TimeoutError):
                raise
            raise OutcomeUnknown(
                f"{call}: no answer within the {self._leadership.margin:g} s that our lease allows"
            ) from error

    async def _in_time(self, perform: Callable[[], Awaitable[R]]) -> R:
        async with asyncio.timeout(self._leadership.margin):
            return await perform()
