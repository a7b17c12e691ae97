"""What a team tells about itself, derived from the view and from what the pass did. Pure."""

from __future__ import annotations

from stateward.core.outcome import Blocked, Done, Outcome
from stateward.example.api import TeamStatus
from stateward.example.view import View
from stateward.kube import conditions
from stateward.kube.meta import Condition


def status_of(view: View, outcome: Outcome, now: float) -> TeamStatus:
    """Return the status that the team should have."""
    generation = view.team.metadata.generation
    settled = isinstance(outcome, Done)
    reason, message = ("AsAsked", "every member says the motto")
    if not isinstance(outcome, Done):
        reason, message = outcome.reason, outcome.message
    said = (
        Condition(
            type="Ready",
            status="True" if settled else "False",
            reason=reason,
            message=message,
            observed_generation=generation,
        ),
        Condition(
            type="Progressing",
            status="False" if settled or isinstance(outcome, Blocked) else "True",
            reason=reason,
            message=message,
            observed_generation=generation,
        ),
    )
    staying = [member for member in view.members if not member.leaving]
    return TeamStatus(
        observed_generation=generation,
        members=len(view.members),
        up_to_date=sum(member.motto == view.team.spec.motto for member in staying),
        doing=message,
        conditions=conditions.merge(view.team.status.conditions, said, now),
    )
