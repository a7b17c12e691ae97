"""Facts about the world: known, with their age and source, or honestly unknown.

"Nothing observed" is not "nothing exists". A question that could not be answered gives ``Unknown``
with the reason, and code that wants a value has to say what it does about that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """A value that somebody told us, when, and who."""

    value: T
    at: float
    source: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """We do not know, and this is why. Never to be read as "no" or "none"."""

    reason: str


Fact: TypeAlias = Known[T] | Unknown
