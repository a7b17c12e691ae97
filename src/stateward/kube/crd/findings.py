"""One thing that is wrong with an object of ours: what an operator says before it acts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """What must be otherwise, where, and what to do about it."""

    field: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        """Return all of it as one line."""
        said = f"{self.field}: {self.message}"
        return f"{said} ({self.hint})" if self.hint else said
