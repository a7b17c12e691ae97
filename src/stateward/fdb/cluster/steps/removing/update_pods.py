"""UpdatePods: pods that are not as wanted are made anew, those of one zone at a time."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.cluster.hands.asking import allowed_alone, held
from stateward.fdb.cluster.hands.editing import edit, obsolete
from stateward.fdb.cluster.hands.maintaining import maintain
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import pod_updates
from stateward.fdb.decide.groups.maintenance import before_taking
from stateward.fdb.decide.layouts import single
from stateward.fdb.decide.layouts.lasting import coordinators_are_found_again
from stateward.fdb.guards import acts

_AGAIN: Final = 15.0
_PURPOSE: Final = "making pods anew"


class UpdatePods:
    """Tells the groups of a zone that their pods shall go; they make others."""

    name = "UpdatePods"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Write which pods shall go, by their UIDs."""
        view = seen.view
        plan = pod_updates.plan(view)
        if not plan.obsolete:
            if not plan.held:
                return DONE
            return Retry(_AGAIN, "PodUpdateHeld", told(plan.held))
        last = single.no_last_copy_goes(view, plan.obsolete)
        if (no := last or coordinators_are_found_again(view, plan.obsolete)) is not None:
            return held(seen, self.name, (no,), _PURPOSE)
        if view.configured:
            why = await allowed_alone(self._tools, seen, self.name, acts.UPDATE_PODS, _PURPOSE)
            if why is not None:
                return why
            if (first := before_taking(view, plan)) is not None:
                return await maintain(self._tools, seen, self.name, first)
        changes = {
            it.name: obsolete(it.pod.uid, view.now) for it in plan.obsolete if it.pod is not None
        }
        found = await edit(self._tools.client, seen.groups, changes)
        where = f" in zone {plan.zone}" if plan.zone else ""
        words = f"pods of {names_of(plan.obsolete)}{where} go{single.cost(view, plan.obsolete)}"
        return found or done("PodsUpdated", words)
