"""Ask etcd for a change only while we are sure to lead: etcd itself does not know who may ask.

Every call is checked by itself, since one move may make several. A call whose outcome is not known
is noted, so that the lease is not let go while it may still arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from stateward.core.errors import OutcomeUnknown
from stateward.etcd.members.errors import EtcdRefused
from stateward.kube.errors import did_nothing
from stateward.runtime.election import Leadership

R = TypeVar("R")
Arguments = TypeVarTuple("Arguments")


class Fence:
    """Stands between a verb and etcd."""

    def __init__(self, leadership: Leadership) -> None:
        self._leadership = leadership

    def check(self) -> None:
        """Raise NotLeader unless we are sure to lead."""
        self._leadership.check()

    async def change(self, ask: Callable[[*Arguments], Awaitable[R]], *arguments: *Arguments) -> R:
        """Ask for a change, and give up on it before anybody else can lead."""
        return await self._noted(ask, arguments, self._leadership.margin)

    async def tend(self, ask: Callable[[*Arguments], Awaitable[R]], *arguments: *Arguments) -> R:
        """Ask for upkeep, which takes its time: giving up on it would not end it.

        Nobody begins another meanwhile: the member that is busy answers nobody.
        """
        return await self._noted(ask, arguments, None)

    async def _noted(
        self,
        ask: Callable[[*Arguments], Awaitable[R]],
        arguments: tuple[*Arguments],
        within: float | None,
    ) -> R:
        self._leadership.check()
        try:
            async with asyncio.timeout(within):
                return await ask(*arguments)
        except BaseException as error:
            if not isinstance(error, EtcdRefused) and not did_nothing(error):
                self._leadership.unsure()
            if not isinstance(error, TimeoutError):
                raise
            raise OutcomeUnknown(
                f"etcd gave no answer within the {within:g} s that our lease allows",
                hint="read the member list; do not repeat it blindly",
            ) from error
