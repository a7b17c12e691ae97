"""CheckMaintenanceMode: what was told of a zone for its pods is taken back when they are back."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.maintaining import maintain
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import maintenance, pod_updates
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import refusals
from stateward.fdb.views import ClusterView


class CheckMaintenanceMode:
    """Ends or renews our maintenance of a zone, and says what others are at work in.

    It does so whatever the spec says by now: what was begun is ended.
    """

    name = "CheckMaintenanceMode"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Do the next thing, if there is one."""
        if seen.admin is None or not seen.view.configured:
            return DONE
        move = maintenance.check(seen.view, wants=_wanted(seen.view))
        return DONE if move is None else await maintain(self._tools, seen, self.name, move)


def _wanted(view: ClusterView) -> str:
    """Return the zone whose pods go right now, if they go under maintenance."""
    noted = maintenance.noted_of(view.status.maintenance_mode_info)
    options = view.spec.automation_options.maintenance_mode_options
    if noted is None or not options.use_maintenance_mode_checker:
        return ""
    plan = pod_updates.plan(view)
    return plan.zone if plan.obsolete and not refusals(acts.UPDATE_PODS, view) else ""
