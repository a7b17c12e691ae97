"""What a server asks of a write beside the rules that hold everywhere.

A bare store takes any object. A full one reads objects by their schemas, fills in what their
writers left out and refuses what makes no sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, BadRequest, Cause
from stateward.local.kinds import Kind

#: Makes the refusal of what cannot be read, given the reason.
Refusal: TypeAlias = Callable[[str], ApiError]


class Strictness(Enum):
    """What becomes of fields that a schema does not know, beside being dropped."""

    IGNORE = "Ignore"  #: nothing
    WARN = "Warn"  #: the writer is told
    STRICT = "Strict"  #: the write is refused


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, for the record of field owners, and whether it is only a rehearsal."""

    manager: str = "unknown"
    dry_run: bool = False
    strictness: Strictness = Strictness.IGNORE
    #: The names that its text has twice, as they are told of.
    doubles: list[str] = field(default_factory=list)
    #: What the writer should be told, filled while the write is checked.
    warnings: list[str] = field(default_factory=list)


class Admission(Protocol):
    """The questions that a write is asked, in this order."""

    def read(
        self, kind: Kind, document: Json, author: Author, refusal: Refusal = BadRequest
    ) -> None:
        """Drop what is unknown and fill in defaults, in place; raise when it cannot be read."""

    def read_applied(self, kind: Kind, body: Json) -> None:
        """Raise when somebody applies what the schema does not name."""

    def fill(self, kind: Kind, document: Json) -> None:
        """Fill in defaults, in place."""

    def admit_new(self, kind: Kind, document: Json) -> None:
        """Add what the server itself decides of a new object; raise when it may not come in."""

    def admit_changed(self, kind: Kind, old: Json, new: Json) -> None:
        """Add what the server itself decides of a changed object."""

    def problems(
        self, kind: Kind, new: Json, old: Json | None, subresource: str
    ) -> Iterable[Cause]:
        """Say what makes no sense, of a new object or of a changed one."""

    def check_deletion(self, kind: Kind, document: Json) -> None:
        """Raise when an object may not be deleted."""


class Anything:
    """The admission of a bare store: whatever can be kept is taken as it is."""

    def read(
        self, kind: Kind, document: Json, author: Author, refusal: Refusal = BadRequest
    ) -> None:
        """Take it as it is."""

    def read_applied(self, kind: Kind, body: Json) -> None:
        """Take it as it is."""

    def fill(self, kind: Kind, document: Json) -> None:
        """Add nothing."""

    def admit_new(self, kind: Kind, document: Json) -> None:
        """Add nothing."""

    def admit_changed(self, kind: Kind, old: Json, new: Json) -> None:
        """Add nothing."""

    def problems(
        self,
        kind: Kind,  # noqa: ARG002 - see Admission, here and below
        new: Json,  # noqa: ARG002
        old: Json | None,  # noqa: ARG002
        subresource: str,  # noqa: ARG002
    ) -> Iterable[Cause]:
        """Find nothing."""
        return ()

    def check_deletion(self, kind: Kind, document: Json) -> None:
        """Let it go."""
