"""Conditions in a status of plain values: set what is said, keep the rest, move times rarely.

Kubernetes' own kinds have conditions with more times than one, so the typed ones do not fit.
"""

from __future__ import annotations

from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json


def find(status: Json, kind: str) -> Json:
    """Return the condition of a type, or an empty one."""
    return next((it for it in status.get("conditions") or () if it.get("type") == kind), {})


def is_true(status: Json, kind: str) -> bool:
    """Tell whether a condition is said to hold."""
    return bool(find(status, kind).get("status") == "True")


def condition(kind: str, holds: str, reason: str, message: str) -> Json:
    """Return what is to be said; ``holds`` is True, False or Unknown."""
    return {"type": kind, "status": holds, "reason": reason, "message": message}


def with_condition(old: list[Json], said: Json, now: float) -> list[Json]:
    """Return conditions with one set in its place; its time moves only when its status does."""
    past = next((it for it in old if it.get("type") == said["type"]), None)
    same = past is not None and past.get("status") == said["status"]
    since = past.get("lastTransitionTime") if past is not None and same else None
    fresh = {**(past or {}), **said, "lastTransitionTime": since or to_rfc3339(now)}
    if past is None:
        return [*old, fresh]
    return [fresh if it is past else it for it in old]


def merged(
    old: list[Json], said: Json, now: float, *, seen_field: str = "", again: bool = False
) -> list[Json]:
    """Return the conditions with one said; the same words again change nothing.

    ``seen_field`` names a second time that moves with every change of words, and with ``again``
    even without one.
    """
    past = next((it for it in old if it.get("type") == said["type"]), None)
    same_words = past is not None and all(past.get(name) == it for name, it in said.items())
    if same_words and not again:
        return old
    seen = {seen_field: to_rfc3339(now)} if seen_field else {}
    return with_condition(old, {**said, **seen}, now)


def without(old: list[Json], kind: str) -> list[Json]:
    """Return the conditions without those of a type."""
    return [it for it in old if it.get("type") != kind]
