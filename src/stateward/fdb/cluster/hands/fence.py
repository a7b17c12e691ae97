"""Acts on a database need us to be sure to lead: the database itself does not know who may ask.

Every call is checked by itself. One whose outcome is not known is noted, so that the lease is not
let go while it may still arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeVar, TypeVarTuple

from stateward.core.clock import Clock
from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import is_undone
from stateward.fdb.admin.keys import Keys, KeyTransaction
from stateward.runtime.election import Leadership

R = TypeVar("R")
T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
#: Seconds for which we lead at most without a look at the lease: who needs none leads for ever.
_LONGEST: Final = 60.0


@contextmanager
def _sure(leadership: Leadership, how_long: str) -> Generator[None, None, None]:
    """Have somebody ask who leads; what may be done by then and is not known, nobody repeats."""
    leadership.check()
    try:
        yield
    except BaseException as error:
        if not is_undone(error):
            leadership.unsure()
        if not isinstance(error, TimeoutError):
            raise
        raise OutcomeUnknown(
            f"the database gave no answer {how_long}",
            hint="read its status; do not repeat it blindly",
        ) from error


class Fence:
    """Stands between a step and a database."""

    def __init__(self, leadership: Leadership, clock: Clock) -> None:
        self._leadership = leadership
        self._clock = clock

    def now(self) -> float:
        """Return what time it is when something is asked for: a pass may have begun long ago."""
        return self._clock.now()

    def keys(self, keys: Keys) -> Keys:
        """Return keys of which nothing is written unless we are sure to lead at that moment.

        A transaction reads before it writes, and we may have stood still in between.
        """
        return _Led(keys, self._leadership)

    async def change(self, ask: Callable[[*Arguments], Awaitable[R]], *arguments: *Arguments) -> R:
        """Ask for a change, and give up on it before anybody else can lead."""
        within = self._leadership.margin
        with _sure(self._leadership, f"within the {within:g} s that our lease allows"):
            async with asyncio.timeout(within):
                return await ask(*arguments)


class PatientFence:
    """Stands between a step and programs that take their time: they may while we go on leading."""

    def __init__(self, leadership: Leadership) -> None:
        self._leadership = leadership

    async def change(self, ask: Callable[[*Arguments], Awaitable[R]], *arguments: *Arguments) -> R:
        """Ask for a change, and give up on it before anybody else can lead."""
        with _sure(self._leadership, "for as long as our lease was renewed"):
            async with asyncio.timeout(self._within()) as limit:
                extending = asyncio.create_task(self._extend(limit))
                try:
                    return await ask(*arguments)
                finally:
                    extending.cancel()

    def _within(self) -> float:
        """Return for how long nobody else can lead."""
        return min(self._leadership.left, _LONGEST) + self._leadership.margin

    async def _extend(self, limit: asyncio.Timeout) -> None:
        """Give a call more time whenever the lease was renewed."""
        while not limit.expired():
            if self._leadership.held:
                limit.reschedule(asyncio.get_running_loop().time() + self._within())
            await asyncio.sleep(self._leadership.margin / 2)


class _Led(Keys):
    """Keys as only who leads writes them."""

    def __init__(self, keys: Keys, leadership: Leadership) -> None:
        self._keys = keys
        self._leadership = leadership

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do it all, or nothing; raise NotLeader before anything is written."""

        async def led(at: KeyTransaction) -> T:
            found = await work(at)
            self._leadership.check()
            return found

        return await self._keys.transact(led)
