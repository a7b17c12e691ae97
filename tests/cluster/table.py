"""The table of a run: seconds a story, the longest time without a write, and what others take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Row:
    """What one story came to."""

    story: str
    seconds: float
    #: The longest time in which no write went through; None: nobody wrote.
    gap: float | None = None
    acknowledged: int = 0
    lost: int = 0


#: Seconds of the two best other operators, on a real cluster of one node.
OTHERS: Final = {
    "create 3": "12.0, 19.1",
    "1 to 3": "11.4, 19.1",
    "3 to 5": "10.5, 12.1",
    "5 to 3": "1.1, 3.4",
    "deleted pod": "2.0, 6.0",
    "lost disk": "never, 184",
    "option rolled": "never, never",
    "version rolled": "never, never",
}
ROWS: Final[list[Row]] = []


def lines() -> list[str]:
    """Return the table, or nothing when no story was told."""
    if not ROWS:
        return []
    head = f"{'story':<34}{'seconds':>9}{'gap':>7}{'writes':>8}{'lost':>6}  others"
    return ["", head, *(_line(it) for it in ROWS)]


def _line(row: Row) -> str:
    wrote = "" if row.gap is None else f"{row.gap:>7.1f}{row.acknowledged:>8}{row.lost:>6}"
    others = OTHERS.get(row.story, "")
    return f"{row.story:<34}{row.seconds:>9.1f}{wrote:<21}  {others}".rstrip()
