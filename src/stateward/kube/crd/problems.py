"""What is wrong with a schema, where, and the error that says all of it at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stateward.core.errors import HouseError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that must be otherwise; ``spec.members[].name`` is in every item of a list."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class SchemaInvalid(HouseError):
    """A type cannot become a schema that the API server takes; ``problems`` says why and where."""

    reason = "SchemaInvalid"

    def __init__(self, problems: Iterable[Problem], *, hint: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)), hint=hint)
