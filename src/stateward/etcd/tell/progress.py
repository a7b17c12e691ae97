"""What holds work back, and how far long work is."""

from __future__ import annotations

from collections.abc import Sequence

from stateward.core import moments
from stateward.core.outcome import Blocked, Outcome
from stateward.etcd.api.status import Progress
from stateward.etcd.decide.refusals import Refusal
from stateward.etcd.model.view import View
from stateward.etcd.tell.reasons import Reason
from stateward.etcd.tell.situation import Situation, outdated
from stateward.kube.crd.blockers import Blocker


def blockers(
    view: View, said: Sequence[tuple[str, Outcome]], refusals: Sequence[Refusal]
) -> tuple[Blocker, ...]:
    """Return everything that is held back, each once, and since when it has been."""
    told = {(it.guard, it.message) for it in refusals}
    held = [
        Refusal(step, outcome.reason, outcome.message, outcome.hint)
        for step, outcome in said
        if isinstance(outcome, Blocked) and (outcome.reason, outcome.message) not in told
    ]
    since = {(it.step, it.guard): it.since for it in view.cluster.status.blockers}
    first = {(it.step, it.guard): it for it in reversed([*held, *refusals])}
    return tuple(
        Blocker(
            step=it.step,
            guard=it.guard,
            message=it.message,
            hint=it.hint,
            since=since.get((it.step, it.guard)) or moments.to_rfc3339(view.now),
        )
        for it in reversed(first.values())
    )


def progress_of(view: View, situation: Situation) -> Progress | None:
    """Return how far the work is that a situation asks for; None when it is not made of parts."""
    match situation.reason:
        case Reason.FIRST_QUORUM_PENDING:
            return Progress(step="Bootstrapping", done=len(view.reached), of=view.wanted)
        case Reason.SCALING:
            return _scaling(view)
        case Reason.REPLACING:
            return Progress(step="Replacing", done=len(view.voters), of=view.wanted)
        case Reason.ROLLING | Reason.UPGRADING:
            pods = sum(it.pod is not None and it.listed is not None for it in view.replicas)
            return Progress(step=situation.reason.value, done=pods - len(outdated(view)), of=pods)
        case _:
            return None


def _scaling(view: View) -> Progress:
    """Grow towards what is wanted; shrink from what there was when it began."""
    left = len(view.roster) - view.wanted
    if len(view.voters) < view.wanted:
        return Progress(step="Growing", done=len(view.voters), of=view.wanted)
    former = view.cluster.status.progress
    began = former.of if former is not None and former.step == "Shrinking" else left
    whole = max(began, left)
    return Progress(step="Shrinking", done=whole - left, of=whole)
