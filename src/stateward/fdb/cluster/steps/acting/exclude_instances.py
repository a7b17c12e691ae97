"""ExcludeInstances: data leaves groups that shall go, as soon as others can take it."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.admin.keys import excluded_key
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands import locked, together
from stateward.fdb.cluster.hands.asking import allowed, failed
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told as said_of
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import exclusions
from stateward.fdb.decide.exclusions import ExclusionPlan
from stateward.fdb.decide.operators import acting
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.intents import Intent, Intents
from stateward.fdb.model.listing import some_of
from stateward.fdb.status import exclusions as told

_AGAIN: Final = 10.0
_SOON: Final = 1.0
_SHOWN: Final = 5


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
        plan = exclusions.plan(view, listed.value, together.leaving_elsewhere(seen))
        seen.book.refuse(
            self.name, [Refusal("room_for_data", f"{it.group}: {it.why}") for it in plan.held]
        )
        if questions.acts_together(view.spec):
            return await self._with_others(seen, plan)
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
            await locked.exclude(self._tools.fence, seen, admin, targets)
        except PeerError as error:
            what = f"data is to leave {names_of(plan.exclude)}"
            return await failed(self._tools, seen, what, error)
        words = f"data leaves {names_of(plan.exclude)}"
        return done("Excluded", words, _SOON, excluded=[str(it) for it in targets])

    async def _with_others(self, seen: Seen, plan: ExclusionPlan) -> Outcome:
        """Exclude those of all operators with one command, once all of them are ready."""
        names = [str(it.id) for it in plan.exclude]
        trouble_found = await together.ready(self._tools, seen, Intent.EXCLUSION, names)
        if trouble_found is not None or not names:
            return trouble_found or _waiting(plan)
        found = together.judged(self._tools, seen, Intent.EXCLUSION)
        waiting = together.waiting(seen, Intent.EXCLUSION, found, names, "excluding")
        if waiting is not None:
            return waiting
        entries = acting.excluded(seen.view, seen.book.intents or Intents(), found.together)
        held = await allowed(self._tools, seen, self.name, acts.EXCLUDE, "excluding")
        if held is not None:
            return held
        targets = [target for some in entries.values() for target in some]
        shown = some_of([it.group for it in entries], _SHOWN)
        writes = {excluded_key(it): b"" for it in targets}
        try:
            await together.act(self._tools, seen, Intent.EXCLUSION, entries, writes)
        except PeerError as error:
            return await failed(self._tools, seen, f"data is to leave {shown}", error)
        words = f"data leaves {shown}, for all operators at once"
        return done("Excluded", words, _SOON, excluded=[str(it) for it in targets])


def _waiting(plan: ExclusionPlan) -> Outcome:
    if not plan.held:
        return DONE
    return Retry(_AGAIN, "ExclusionHeld", said_of(plan.held))
