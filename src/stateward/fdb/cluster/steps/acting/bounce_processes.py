"""BounceProcesses: processes with other arguments than wanted are started anew, at once."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome, Retry, Stop
from stateward.fdb.cluster.hands.asking import allowed
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import bounces
from stateward.fdb.guards import acts

_AGAIN: Final = 15.0
_SOON: Final = 1.0


class BounceProcesses:
    """Kills them all in one command, so that the database recovers once."""

    name = "BounceProcesses"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Kill those that must be started anew, once all of them are ready for it."""
        view, admin = seen.view, seen.admin
        if not view.configured or admin is None:
            return DONE
        plan = bounces.plan(view)
        if plan.waiting:
            words = "; ".join(f"{it.group}: {it.why}" for it in plan.waiting[:3])
            return Retry(_AGAIN, "BounceWaits", words)
        if not plan.kill:
            return DONE
        held = await allowed(self._tools, seen, self.name, acts.BOUNCE, "starting processes anew")
        if held is not None:
            return held
        try:
            await self._tools.fence.change(admin.kill, plan.kill)
        except PeerError as error:
            return trouble(f"{names_of(plan.groups)} are to be started anew", error)
        return Stop(
            _SOON, "ProcessesBounced", f"processes are started anew: {names_of(plan.groups)}"
        )
