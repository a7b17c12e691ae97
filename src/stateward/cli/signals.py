"""Ctrl-C and a polite kill, as an event that everything can wait for."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def end_as_by_ctrl_c() -> None:
    """Have a polite kill end what this process does as Ctrl-C does: what was found is told.

    One kill is enough: `timeout` sends it to us and then to our group, and the second must not take
    away what the first one wanted told. Who has no patience has Ctrl-C.
    """
    polite = (signal.SIGTERM, signal.SIGHUP)

    def end(number: int, frame: FrameType | None) -> None:
        for it in polite:
            signal.signal(it, signal.SIG_IGN)
        signal.default_int_handler(number, frame)

    for it in polite:
        signal.signal(it, end)


def stop_event() -> asyncio.Event:
    """Return an event that is set when the user, or the system, asks this process to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop


def stop_event_once() -> asyncio.Event:
    """Return an event for the first signal; a second one ends this process at once.

    Even one whose event loop is stuck: the system itself does it.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def first() -> None:
        stop.set()
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in numbers:
        loop.add_signal_handler(number, first)
    return stop


async def unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Return what the work returns; when asked to stop before, give it up and return None."""
    asked, working = asyncio.create_task(stop.wait()), asyncio.create_task(work)
    try:
        await asyncio.wait((asked, working), return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait((working,))
    return None if working.cancelled() else working.result()
