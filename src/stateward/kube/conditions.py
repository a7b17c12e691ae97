"""Merging conditions: ours are set, those of others stay, and times tell of transitions.

A status is written again and again with mostly the same words in it. If each write moved the times,
every write would be a change, every change would wake a watcher, and nobody could tell since when a
thing holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from stateward.core import moments
from stateward.kube.meta import Condition

#: Characters that a message may have.
LONGEST: Final = 32_768


def merge(old: Iterable[Condition], new: Iterable[Condition], now: float) -> tuple[Condition, ...]:
    """Return the old conditions with the new ones set, in their old places; added types come last.

    ``lastTransitionTime`` stays while the status stays, and is ``now`` when it differs or was
    missing; what the new condition says about it is ignored. Of two new ones of one type the later
    counts.
    """
    said = {condition.type: condition for condition in new}
    merged = [_timed(said.pop(past.type), past, now) if past.type in said else past for past in old]
    return (*merged, *(_timed(condition, None, now) for condition in said.values()))


def find(conditions: Iterable[Condition], type_: str) -> Condition | None:
    """Return the condition of a type, or None when nobody has said anything about it."""
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(conditions: Iterable[Condition], type_: str) -> bool:
    """Tell whether a condition is said to hold; not if it is unknown, and not if it is missing."""
    found = find(conditions, type_)
    return found is not None and found.status == "True"


def _timed(condition: Condition, past: Condition | None, now: float) -> Condition:
    since = past.last_transition_time if past and past.status == condition.status else ""
    return msgspec.structs.replace(
        condition,
        message=shortened(condition.message),
        last_transition_time=since or moments.to_rfc3339(now),
    )


def shortened(message: str) -> str:
    """Return a message that is no longer than Kubernetes takes it of a condition."""
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"
