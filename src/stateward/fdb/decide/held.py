"""What is not done now, and why: told to users, so that nobody has to guess."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """A process group that has to wait, or that others wait for; an empty name: all of them."""

    group: str
    why: str
