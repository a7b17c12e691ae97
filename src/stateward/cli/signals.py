"""Ctrl-C and a polite kill, as an event that everything can wait for."""

from __future__ import annotations

import asyncio
import signal


def stop_event() -> asyncio.Event:
    """Return an event that is set when the user, or the system, asks this process to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop
