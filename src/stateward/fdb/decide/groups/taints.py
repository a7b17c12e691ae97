"""Whose node has a taint for which groups are replaced, and since when.

A taint counts from the moment that its node tells, or else from when it was first seen on record.
Of nodes that nobody could look at, the last word counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.fdb.api.automation import TaintOption
from stateward.fdb.api.group import GroupConditionType as Kind

_ALL: Final = "*"
TAINTED: Final[tuple[Kind, ...]] = (Kind.NODE_TAINT_DETECTED, Kind.NODE_TAINT_REPLACING)


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A taint of a node, since when; None: the node does not say."""

    key: str
    since: float | None = None


#: By the name of a node; who has none need not be there.
Taints: TypeAlias = Mapping[str, tuple[NodeTaint, ...]]


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of the node of a group, and which taints matter there."""

    #: None: nobody knows.
    taints: tuple[NodeTaint, ...] | None = ()
    #: None: nobody knows what the cluster asks for.
    options: tuple[TaintOption, ...] | None = ()
    #: Whether groups are replaced at all: where they are not, a taint is told and no more.
    replaces: bool = False


def mattering(taints: Sequence[NodeTaint], options: Sequence[TaintOption]) -> list[str]:
    """Return the keys of taints for which groups are replaced, each once."""
    return sorted({it.key for it in taints if _patience(it.key, options) is not None})


def tainted(ground: Ground, before: Mapping[Kind, float], now: float) -> dict[Kind, float]:
    """Return which of the two conditions are true of a group, since when."""
    options, taints = ground.options, ground.taints
    if options is not None and not options:
        return {}
    if options is None or taints is None:
        return {it: before[it] for it in TAINTED if it in before}
    detected = before.get(Kind.NODE_TAINT_DETECTED, now)
    left = dict(_left(taints, options, detected, now))
    if not left:
        return {}
    told = [it.since for it in taints if it in left and it.since is not None]
    found = {Kind.NODE_TAINT_DETECTED: min([detected, *told])}
    if ground.replaces and min(left.values()) <= 0:
        found[Kind.NODE_TAINT_REPLACING] = before.get(Kind.NODE_TAINT_REPLACING, now)
    return found


def ripens_in(ground: Ground, detected: float, now: float) -> float | None:
    """Return in how many seconds a taint has lasted for long enough; None: none will have.

    ``detected``: since when one is on record.
    """
    if not ground.replaces or not ground.options or not ground.taints:
        return None
    left = (it for _, it in _left(ground.taints, ground.options, detected, now))
    return min((it for it in left if it > 0), default=None)


def _left(
    taints: Sequence[NodeTaint], options: Sequence[TaintOption], detected: float, now: float
) -> Iterator[tuple[NodeTaint, float]]:
    """Yield each taint that matters, and for how many seconds it has yet to last."""
    for it in taints:
        patience = _patience(it.key, options)
        if patience is not None:
            since = min(now, detected if it.since is None else it.since)
            yield it, patience - (now - since)


def _patience(key: str, options: Sequence[TaintOption]) -> float | None:
    """Return how long a taint must be there; None: it does not matter.

    What is said of its very key counts before what is said of all.
    """
    said = {it.key: float(it.duration_in_seconds) for it in options}
    return said.get(key, said.get(_ALL))
