"""Keeps a label from taking ever more values, which would grow our memory and the scraper's."""

from __future__ import annotations

from typing import Final

#: What a label says when it has had too many different values already.
OTHER: Final = "other"


class Cap:
    """The values that labels have had so far."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: dict[str, set[str]] = {}

    def admit(self, scope: str, value: str) -> str:
        """Return the value, or :data:`OTHER` when its scope has had too many different ones."""
        seen = self._seen.setdefault(scope, set())
        if value in seen or len(seen) < self._limit:
            seen.add(value)
            return value
        return OTHER
