"""Any meter: writes down what it is told, for tests that look and for tests that do not care."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Tally:
    """Answers every telling; ``told("depth")`` is the list of what was said about the depth."""

    def __init__(self) -> None:
        self._told: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **named: self._told.append((name, (*args, *named.values())))

    def told(self, name: str) -> list[Any]:
        """Return what was said under a name: the only argument, or all of them."""
        return [args[0] if len(args) == 1 else args for said, args in self._told if said == name]
