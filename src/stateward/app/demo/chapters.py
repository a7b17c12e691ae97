"""What a story is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from stateward.app.demo.picture import Holds

#: Does something, and returns what must become true of it.
Act: TypeAlias = Callable[[], Awaitable[Holds]]


@dataclass(frozen=True, slots=True)
class Chapter:
    """One thing that is done, and what must become true of it."""

    #: In reports; it does not change.
    name: str
    #: For people.
    title: str
    #: What is waited for, after "waited for".
    wanted: str
    act: Act
    #: Seconds from its act in which members may be killed; none: they are left alone.
    span: float = 0.0
