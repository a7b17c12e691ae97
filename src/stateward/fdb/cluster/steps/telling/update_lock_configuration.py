"""UpdateLockConfiguration: who must not act on the database is on record in it."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands import locked
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen

#: Clusters whose lists were written.
_REMEMBERED: Final = 1000


class UpdateLockConfiguration:
    """Has the deny list of the database be what the spec says, of whom it says something.

    Once for each spec: what another operator says after that is not taken back.
    """

    name = "UpdateLockConfiguration"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        #: By the uid of a cluster: the generation whose list is in the database.
        self._written: dict[str, int] = {}

    async def run(self, seen: Seen) -> Outcome:
        """Write who is denied, and take back who is allowed again."""
        view, admin, spec = seen.view, seen.admin, seen.view.spec
        uid = seen.cluster.metadata.uid
        said = {it.id: not it.allow for it in spec.lock_options.deny_list}
        if not said or not questions.uses_locks(spec) or not view.configured or admin is None:
            return DONE
        if self._written.get(uid) == view.generation:
            return DONE
        try:
            lock = locked.lock_of(view, self._tools.fence.keys(admin))
            is_new = await self._tools.fence.change(lock.deny, said)
        except PeerError as error:
            return trouble("the deny list is to be written", error)
        self._remember(uid, view.generation)
        if not is_new:
            return DONE
        denied = [name for name, it in said.items() if it]
        allowed = [name for name, it in said.items() if not it]
        words = (
            f"denied: {', '.join(denied) or 'nobody'}; allowed: {', '.join(allowed) or 'nobody'}"
        )
        return done("DenyListWritten", f"who may take the lock of the database is written: {words}")

    def _remember(self, uid: str, generation: int) -> None:
        while len(self._written) >= _REMEMBERED:
            del self._written[next(iter(self._written))]
        self._written[uid] = generation
