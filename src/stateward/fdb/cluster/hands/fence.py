"""Acts on a database need us to be sure to lead: the database itself does not know who may ask.

Every call is checked by itself. One whose outcome is not known is noted, so that the lease is not
let go while it may still arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent
from stateward.runtime.election import Leadership

R = TypeVar("R")
Arguments = TypeVarTuple("Arguments")


class Fence:
    """Stands between a step and a database."""

    def __init__(self, leadership: Leadership) -> None:
        self._leadership = leadership

    async def change(self, ask: Callable[[*Arguments], Awaitable[R]], *arguments: *Arguments) -> R:
        """Ask for a change, and give up on it before anybody else can lead."""
        self._leadership.check()
        within = self._leadership.margin
        try:
            async with asyncio.timeout(within):
                return await ask(*arguments)
        except BaseException as error:
            if not isinstance(error, DatabaseRefused | DatabaseSilent):
                self._leadership.unsure()
            if not isinstance(error, TimeoutError):
                raise
            raise OutcomeUnknown(
                f"the database gave no answer within the {within:g} s that our lease allows",
                hint="read its status; do not repeat it blindly",
            ) from error
