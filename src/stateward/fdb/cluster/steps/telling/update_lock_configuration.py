"""UpdateLockConfiguration: who must not act on the database is on record in it."""

from __future__ import annotations

from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.api import questions
from stateward.fdb.cluster.seen import Seen


class UpdateLockConfiguration:
    """Has the deny list of the database be what the spec says."""

    name = "UpdateLockConfiguration"

    async def run(self, seen: Seen) -> Outcome:
        """Say that a deny list cannot be kept as long as no locks are taken."""
        spec = seen.view.spec
        if not spec.lock_options.deny_list or not questions.uses_locks(spec):
            return DONE
        return Blocked(
            "LocksMissing",
            "spec.lockOptions.denyList lies in the database, and this release takes no locks yet",
            "remove spec.lockOptions.denyList",
        )
