"""What holds something back: guards that refused, and steps that wait for something. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stateward.core import moments
from stateward.core.outcome import Blocked, Done, Outcome, Stop
from stateward.fdb.guards.guard import Refusal
from stateward.kube.conditions import shortened
from stateward.kube.crd.blockers import Blocker

#: How the reason of a step ends that guards hold back: they say why, each for itself.
_BY_GUARDS: Final = "Held"


def blockers(
    former: Sequence[Blocker],
    said: Sequence[tuple[str, Outcome]],
    refused: Sequence[tuple[str, Refusal]],
    now: float,
) -> tuple[Blocker, ...]:
    """Return everything that is held back, each once, and since when it has been.

    A pass that ended because something was done waits for nothing; one that ended to wait for
    something has that among what was refused.
    """
    since = {(it.step, it.guard): it.since for it in former}
    first: dict[tuple[str, str], Refusal] = {}
    for step, it in (*_waiting(said, refused), *refused):
        first.setdefault((step, it.guard), it)
    return tuple(
        Blocker(
            step=step,
            guard=guard,
            message=shortened(it.message),
            hint=it.hint,
            since=since.get((step, guard)) or moments.to_rfc3339(now),
        )
        for (step, guard), it in first.items()
    )


def _waiting(
    said: Sequence[tuple[str, Outcome]], refused: Sequence[tuple[str, Refusal]]
) -> Iterator[tuple[str, Refusal]]:
    """Yield what steps wait for; what was said of one already, maybe with a hint, is not twice."""
    told, words = {step for step, _ in refused}, {(step, it.guard) for step, it in refused}
    for step, outcome in said:
        if isinstance(outcome, Done | Stop):
            continue
        by_guards = step in told and outcome.reason.endswith(_BY_GUARDS)
        if by_guards or (step, outcome.reason) in words:
            continue
        hint = outcome.hint if isinstance(outcome, Blocked) else ""
        yield step, Refusal(outcome.reason, outcome.message, hint)
