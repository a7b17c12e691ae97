"""Taking turns with other operators of the same database, before an act that concerns all of it."""

from __future__ import annotations

from typing import Protocol

from stateward.fdb.api import questions
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.views import ClusterView


class Turn(Protocol):
    """Who says whether it is our turn."""

    async def take(self, view: ClusterView, purpose: str) -> Refusal | None:
        """Take the turn for an act; return why it is not ours."""


class Alone(Turn):
    """No locks: for databases that have one operator only. Of others nothing may be changed."""

    async def take(self, view: ClusterView, purpose: str) -> Refusal | None:
        """Return a refusal where there may be other operators."""
        if not questions.uses_locks(view.spec):
            return None
        return Refusal(
            "turn_is_ours",
            f"{purpose} needs the lock of the database, since other operators may act on it too,"
            " and this release takes no locks yet",
            "set spec.lockOptions.disableLocks to true if this is its only operator",
        )
