"""What Prometheus is told about clusters: whose the lock of the database is, and what is held back.

Families are plain data, and readings too: who keeps the series is handed in. Each series is of one
cluster, by namespace and name, and goes when that goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stateward.core import moments
from stateward.fdb.model.locks import Found
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import ObjectKey

#: Name -> what it says, and the labels that come after the cluster's namespace and name.
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "stateward_fdb_lock_holder": ("1 for the operator that has the lock.", ("holder",)),
    "stateward_fdb_lock_ours": ("1 while the lock is this cluster's own.", ()),
    "stateward_fdb_lock_held_seconds": ("How long somebody has had the lock.", ()),
    "stateward_fdb_lock_seconds_left": ("How long nobody else takes the lock.", ()),
    "stateward_fdb_lock_denied": ("1 while this cluster must not take the lock.", ()),
    "stateward_fdb_blocked_seconds": ("How long something has held work back.", ("guard",)),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One value of one gauge of one cluster."""

    family: str
    labels: tuple[str, ...]
    value: float


class Series(Protocol):
    """Keeps the series of clusters."""

    def show(self, key: ObjectKey, readings: Iterable[Reading]) -> None:
        """Show these gauges of a cluster, and no others."""

    def forget(self, key: ObjectKey) -> None:
        """Drop every series of a cluster."""


def lock_readings(found: Found, owner: str, now: float) -> Iterator[Reading]:
    """Yield how the lock of a database stands, to the operator of that name.

    One that is over is nobody's: whoever comes takes it.
    """
    lock = found.lock if found.lock is not None and not found.lock.is_over(now) else None
    yield Reading("stateward_fdb_lock_denied", (), owner in found.denied)
    yield Reading("stateward_fdb_lock_ours", (), lock is not None and lock.owner == owner)
    if lock is not None:
        yield Reading("stateward_fdb_lock_holder", (lock.owner,), 1)
        yield Reading("stateward_fdb_lock_held_seconds", (), max(0.0, now - lock.start))
        yield Reading("stateward_fdb_lock_seconds_left", (), lock.end - now)


def blocked_readings(blockers: Sequence[Blocker], now: float) -> Iterator[Reading]:
    """Yield since when each guard, or step, has held back whatever it held back first."""
    held: dict[str, float] = {}
    for it in blockers:
        began = _moment(it.since or "", now)
        held[it.guard] = min(began, held.get(it.guard, began))
    for guard, since in held.items():
        yield Reading("stateward_fdb_blocked_seconds", (guard,), max(0.0, now - since))


def _moment(text: str, now: float) -> float:
    """Read a moment of a status, which anybody may have written; now, if it is none."""
    try:
        return moments.from_rfc3339(text)
    except ValueError:
        return now
