"""ChangeCoordinators: those who say where the database is are well, enough, and far apart."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.cluster.hands.asking import allowed
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import coordinating
from stateward.fdb.guards import acts

_AGAIN: Final = 10.0
_SOON: Final = 1.0


class ChangeCoordinators:
    """Has others coordinate where those who do cannot, or may not; as few as need be."""

    name = "ChangeCoordinators"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Change them, and note how the database is found from then on."""
        view, admin = seen.view, seen.admin
        if not view.configured or admin is None:
            return DONE
        plan = seen.book.coordinators = coordinating.judge(view)
        if not plan.wrong:
            return DONE
        why = "; ".join(plan.wrong)
        if plan.change is None:
            return Retry(_AGAIN, "CoordinatorsHeld", f"{why}; {plan.why_not}")
        guards = acts.COORDINATORS_LOST if plan.lost else acts.COORDINATORS_UNDESIRED
        held = await allowed(self._tools, seen, self.name, guards, "changing coordinators")
        if held is not None:
            return held
        try:
            found = await self._tools.fence.change(admin.change_coordinators, plan.change)
        except PeerError as error:
            return trouble(f"others are to coordinate: {why}", error)
        seen.book.connection = found
        words = f"others coordinate: {why}"
        before = str(view.connection)
        return done("CoordinatorsChanged", words, _SOON, before=before, now=str(found))
