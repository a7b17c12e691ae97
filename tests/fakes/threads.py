"""Something that needs an event loop, run in a thread: those who use it have loops of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")
Opened = Callable[[], AbstractAsyncContextManager[T]]


@contextmanager
def in_a_thread(opened: Opened[T]) -> Iterator[T]:
    """Run what is opened until the end of the block, in a thread of its own."""
    ready = threading.Event()
    found: list[T] = []
    failed: list[BaseException] = []
    loop = asyncio.new_event_loop()
    ending = asyncio.Event()

    async def hold() -> None:
        async with opened() as it:
            found.append(it)
            ready.set()
            await ending.wait()

    def work() -> None:
        try:
            loop.run_until_complete(hold())
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=work, name=str(opened))
    thread.start()
    try:
        ready.wait()
        if not found:
            raise failed[0]
        yield found[0]
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


class Lazily(Generic[T]):
    """Something in a thread that is opened when it is first asked for, and serves until it is closed."""

    def __init__(self, opened: Opened[T]) -> None:
        self._opened = opened
        self._stack = ExitStack()
        self._found: list[T] = []

    def __call__(self) -> T:
        if not self._found:
            self._found.append(self._stack.enter_context(in_a_thread(self._opened)))
        return self._found[0]

    def close(self) -> None:
        """End it, if it was ever asked for."""
        self._found.clear()
        self._stack.close()
