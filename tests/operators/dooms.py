"""An operator that dies at its n-th call.

A call is every write to Kubernetes that carries state (so neither leases, which tick by the clock,
nor events) and every change that a database is asked for. The operator dies right before the call
is sent, or right after it was carried out and before it heard the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeVar

from stateward.core.errors import PeerError, PeerUnreachable
from stateward.kube.client import Client
from stateward.kube.interception import Call, InterceptedClient, PassThrough

R = TypeVar("R")

#: What ticks by the clock or only tells: nothing that is decided later depends on it.
UNCOUNTED: Final = frozenset({"leases", "events"})


class Side(Enum):
    """When the operator dies."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(slots=True)
class Doom:
    """Counts the calls of one operator, and is the end of it at one of them."""

    at: int
    side: Side = Side.AFTER
    calls: list[str] = field(default_factory=list)
    died: asyncio.Event = field(default_factory=asyncio.Event)

    async def count(self, name: str, perform: Callable[[], Awaitable[R]]) -> R:
        """Make one call that counts; the fatal one never comes back."""
        self.check()
        self.calls.append(name)
        if len(self.calls) != self.at:
            return await perform()
        if self.side is Side.AFTER:
            with suppress(PeerError):  # refused is an answer too, and nobody hears it
                await asyncio.shield(asyncio.ensure_future(perform()))
        self.died.set()
        return await asyncio.Future()

    def check(self) -> None:
        """Let the dead reach nobody."""
        if self.died.is_set():
            raise PeerUnreachable("the dead reach nobody")

    # ------------------------------------------------------------------ wires

    def wrap(self, client: Client) -> Client:
        """Return the client of an operator with this fate."""
        return InterceptedClient(client, _Wire(self))

    def door(self, inner: Any, changes: Collection[str], what: str) -> Any:
        """Return how an operator with this fate asks a database, which some calls change."""
        return _Door(inner, self, changes, what)


class _Wire(PassThrough):
    def __init__(self, doom: Doom) -> None:
        self._doom = doom

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        self._doom.check()
        if not call.writes or call.resource.plural in UNCOUNTED:
            return await perform()
        return await self._doom.count(str(call), perform)


class _Door:
    def __init__(self, inner: Any, doom: Doom, changes: Collection[str], what: str) -> None:
        self._inner = inner
        self._doom = doom
        self._changes = changes
        self._what = what

    def __getattr__(self, name: str) -> Any:
        self._doom.check()
        ask = getattr(self._inner, name)
        if name not in self._changes:
            return ask

        async def change(*args: Any, **named: Any) -> Any:
            return await self._doom.count(f"{self._what} {name}", lambda: ask(*args, **named))

        return change
