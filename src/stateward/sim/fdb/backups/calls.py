"""Runs of fdbbackup and fdbrestore, as calls on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

#: What only asks.
_QUESTIONS: Final = frozenset({"status", "describe", "list", "tags", "query", "dump"})


@dataclass(frozen=True, slots=True)
class BackupCall:
    """One run of fdbbackup or fdbrestore."""

    program: str
    words: tuple[str, ...]

    @property
    def verb(self) -> str:
        """What it is to do."""
        return self.words[0]

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.verb not in _QUESTIONS and not self.is_rehearsed

    @property
    def is_rehearsed(self) -> bool:
        """Whether it only tells what it would do."""
        return "-n" in self.words

    @property
    def line(self) -> str:
        """What was typed."""
        return f"{self.program} {' '.join(self.words)}"

    def said(self, option: str) -> str:
        """Return the value of an option; empty: it has none.

        >>> BackupCall("fdbbackup", ("status", "-t", "default")).said("-t")
        'default'
        """
        found = (value for name, value in pairwise(self.words) if name == option)
        return next(found, "")

    def __str__(self) -> str:
        return self.line
