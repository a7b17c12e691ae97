"""The network cable of one operator instance, which can be pulled."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from stateward.core.errors import PeerUnreachable
from stateward.kube.client import WatchEvent
from stateward.kube.interception import Call
from stateward.kube.meta import Object

R = TypeVar("R")
T = TypeVar("T", bound=Object)


class Cable:
    """An interceptor that lets everything through, until it is pulled."""

    def __init__(self) -> None:
        self._pulled = False

    def pull(self) -> None:
        """Let nothing through any more."""
        self._pulled = True

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        """Perform the call while the cable is in."""
        if self._pulled:
            raise PeerUnreachable(f"{call}: the cable is pulled")
        return await perform()

    async def around_watch(
        self, call: Call, events: AsyncGenerator[WatchEvent[T], None]
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Deliver events while the cable is in."""
        async with aclosing(events) as stream:
            async for event in stream:
                if self._pulled:
                    raise PeerUnreachable(f"{call}: the cable is pulled")
                yield event
