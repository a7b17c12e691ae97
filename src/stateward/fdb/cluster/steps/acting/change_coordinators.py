"""ChangeCoordinators: those who say where the database is are well, enough, and far apart."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands import locked, together
from stateward.fdb.cluster.hands.asking import allowed, failed
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import coordinating
from stateward.fdb.guards import acts
from stateward.fdb.model.intents import Intent

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
        told = seen.book.intents
        plan = coordinating.judge(view, together.going_elsewhere(seen, told))
        if plan.lost and told is None:  # this does not wait until a pass knows
            told = await together.looked_up(seen, admin)
            plan = coordinating.judge(view, together.going_elsewhere(seen, told))
        seen.book.coordinators = plan
        if not plan.wrong:
            return DONE
        why = "; ".join(plan.wrong)
        if plan.change is None:
            return Retry(_AGAIN, "CoordinatorsHeld", f"{why}; {plan.why_not}")
        if not plan.lost and (why_wait := self._yet_to_agree(seen)):
            return Retry(_AGAIN, "CoordinatorsHeld", f"{why}; {why_wait}")
        guards = acts.COORDINATORS_LOST if plan.lost else acts.COORDINATORS_UNDESIRED
        held = await allowed(self._tools, seen, self.name, guards, "changing coordinators")
        if held is not None:
            return held
        try:
            check = together.unless_more_go(seen, admin, told)
            found = await locked.change_coordinators(
                self._tools.fence, seen, admin, plan.change, check
            )
        except PeerError as error:
            return await failed(self._tools, seen, f"others are to coordinate: {why}", error)
        seen.book.connection = found
        words = f"others coordinate: {why}"
        before = str(view.connection)
        return done("CoordinatorsChanged", words, _SOON, before=before, now=str(found))

    def _yet_to_agree(self, seen: Seen) -> str:
        """Return why others may join us: who of all operators goes is known when data leaves."""
        if not questions.acts_together(seen.view.spec):
            return ""
        if seen.book.intents is None:
            return "nobody knows who of other operators is about to go"
        if not together.is_coming(self._tools, seen, Intent.EXCLUSION):
            return ""
        return "this waits until data leaves all that go, of all operators"
