"""What a guard says when it holds something back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """One guard that did not allow one step, and what would satisfy it."""

    step: str
    guard: str
    message: str
    hint: str = ""
