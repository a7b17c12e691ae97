"""What a guard is, and how all of some are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from stateward.fdb.views import ClusterView


@dataclass(frozen=True, slots=True)
class Refusal:
    """A guard that does not let something happen: its name, why, and what to do about it.

    ``after`` is in how many seconds it may well let it happen; None: nobody can tell. ``lasting``
    is the message without what moves on by itself; empty: nothing does.
    """

    guard: str
    message: str
    hint: str = ""
    after: float | None = None
    lasting: str = field(default="", compare=False)


#: Asked of a view; None: it lets it happen.
Guard: TypeAlias = Callable[[ClusterView], Refusal | None]


def refusals(guards: Iterable[Guard], view: ClusterView) -> tuple[Refusal, ...]:
    """Ask every guard, not only the first, so that all that holds something back is told."""
    return tuple(found for it in guards if (found := it(view)) is not None)
