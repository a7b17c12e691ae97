"""ExcludeInstances: data leaves groups that shall go, as soon as others can take it."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.cluster.hands.asking import allowed
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told as said_of
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import exclusions
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.status import exclusions as told

_AGAIN: Final = 10.0
_SOON: Final = 1.0


class ExcludeInstances:
    """Tells the database; it does not wait until nothing is left, which may take hours."""

    name = "ExcludeInstances"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Exclude as many of each class as may be."""
        view, admin = seen.view, seen.admin
        if admin is None or not any(it.marked and not it.skipped for it in view.groups):
            return DONE
        listed = told.excluded(view.database)
        if isinstance(listed, Unknown):
            return Retry(
                _AGAIN, "ExclusionsUnknown", f"who is excluded is unknown: {listed.reason}"
            )
        plan = exclusions.plan(view, listed.value)
        seen.book.refuse(
            self.name, [Refusal("room_for_data", f"{it.group}: {it.why}") for it in plan.held]
        )
        if not plan.exclude:
            return _waiting(plan)
        held = await allowed(self._tools, seen, self.name, acts.EXCLUDE, "excluding")
        if held is not None:
            return held
        by_locality = bool(view.spec.automation_options.use_localities_for_exclusion)
        targets = [
            target
            for it in plan.exclude
            for target in exclusions.exclusions_of(it, by_locality=by_locality)
        ]
        try:
            await self._tools.fence.change(admin.exclude, targets)
        except PeerError as error:
            return trouble(f"data is to leave {names_of(plan.exclude)}", error)
        words = f"data leaves {names_of(plan.exclude)}"
        return done("Excluded", words, _SOON, excluded=[str(it) for it in targets])


def _waiting(plan: exclusions.ExclusionPlan) -> Outcome:
    if not plan.held:
        return DONE
    return Retry(_AGAIN, "ExclusionHeld", said_of(plan.held))
