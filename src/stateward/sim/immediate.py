"""Work that is carried out on behalf of nobody: by who receives a call, not by who sent it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextvars import Context
from typing import Any, TypeVar

from stateward.core.errors import HouseError

R = TypeVar("R")


def at_once(work: Awaitable[R]) -> R:
    """Carry out what never waits for anything but its turn."""
    steps = work.__await__()
    try:
        while next(steps) is None:  # it offers its turn to others; here it has it
            pass
    except StopIteration as ended:
        result: R = ended.value
        return result
    raise HouseError("a call of the embedded server must not wait")


def drive(work: Awaitable[Any], done: Callable[[Any, BaseException | None], None]) -> None:
    """Carry out work that may wait, and say how it ended; mostly it does not wait at all."""
    _advance(work.__await__(), done)


def _advance(
    steps: Generator[Any, None, Any], done: Callable[[Any, BaseException | None], None]
) -> None:
    try:
        while (waits_for := next(steps)) is None:
            pass
    except StopIteration as ended:
        done(ended.value, None)
        return
    except Exception as error:  # noqa: BLE001 - whoever asked gets it
        done(None, error)
        return
    waits_for._asyncio_future_blocking = False  # noqa: SLF001 - as a task does
    future: asyncio.Future[Any] = waits_for
    future.add_done_callback(lambda _: _advance(steps, done), context=Context())
