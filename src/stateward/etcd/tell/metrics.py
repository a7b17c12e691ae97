"""What Prometheus is told about clusters: who is there, who leads, how full, what was done.

Families are plain data, and readings too: who keeps the series is handed in. Each series is of one
cluster, by namespace and name, and goes when that goes: a dashboard shows no ghosts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from stateward.core import moments
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.model.members import MemberStatus
from stateward.etcd.model.view import View
from stateward.etcd.tell.members import reports
from stateward.kube.meta import ObjectKey

_MEMBER = ("member",)

#: Name -> what it says, and the labels that come after the cluster's namespace and name.
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "stateward_etcd_members": ("Members, by role.", ("role",)),
    "stateward_etcd_quorate": ("1 while a majority agrees.", ()),
    "stateward_etcd_has_leader": ("1 while a member is known to lead.", ()),
    "stateward_etcd_member_healthy": ("1 while a member answers and follows.", _MEMBER),
    "stateward_etcd_db_size_bytes": ("Size of a member's database file.", _MEMBER),
    "stateward_etcd_db_size_in_use_bytes": ("What of the file holds data.", _MEMBER),
    "stateward_etcd_db_quota_bytes": ("How large the file may grow, if it is said.", _MEMBER),
    "stateward_etcd_blocked_seconds": ("How long a guard has held work back.", ("guard",)),
}
COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "stateward_etcd_leader_changes_total": ("Times that another member was seen leading.", ()),
    "stateward_etcd_moves_total": ("Moves made, by name.", ("move",)),
}
ROLES = ("leader", "follower", "learner", "joining", "unknown")


@dataclass(frozen=True, slots=True)
class Reading:
    """One value of one gauge of one cluster."""

    family: str
    labels: tuple[str, ...]
    value: float


class Series(Protocol):
    """Keeps the series of clusters: gauges that are shown, counters that are raised."""

    def show(self, key: ObjectKey, readings: Iterable[Reading]) -> None:
        """Show these gauges of a cluster, and no others."""

    def count(self, key: ObjectKey, family: str, *labels: str, by: float = 1.0) -> None:
        """Raise a counter of a cluster."""

    def forget(self, key: ObjectKey) -> None:
        """Drop every series of a cluster."""


class EtcdMetrics:
    """What is told about all clusters, by what happens to them."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._leaders: dict[ObjectKey, int] = {}

    def saw(self, view: View) -> None:
        """Tell how a cluster was seen, with the status that it had then."""
        key = view.cluster.metadata.key
        self._series.show(key, readings(view))
        former, leader = self._leaders.get(key, 0), _leader_id(view)
        changed = leader != former and bool(leader and former)  # a gap between is no change
        self._series.count(key, "stateward_etcd_leader_changes_total", by=int(changed))
        if leader:
            self._leaders[key] = leader

    def moved(self, key: ObjectKey, move: str) -> None:
        """Count a move that was made for a cluster."""
        self._series.count(key, "stateward_etcd_moves_total", move)

    def forgot(self, key: ObjectKey) -> None:
        """Drop every series of a cluster that is gone."""
        self._series.forget(key)
        self._leaders.pop(key, None)


def readings(view: View) -> Iterator[Reading]:
    """Yield the gauges of a cluster as it is; of one that nobody looked at, only what is held."""
    for guard, since in _held(view.cluster.status).items():
        yield Reading("stateward_etcd_blocked_seconds", (guard,), max(0.0, view.now - since))
    if view.replicas:
        yield from _seen(view)


def _seen(view: View) -> Iterator[Reading]:
    members = reports(view)
    roles = Counter(row.role for row in members)
    for role in ROLES:
        yield Reading("stateward_etcd_members", (role,), roles[role])
    yield Reading("stateward_etcd_quorate", (), view.has_quorum)
    yield Reading("stateward_etcd_has_leader", (), _leader_id(view) != 0)
    for row in members:
        yield Reading("stateward_etcd_member_healthy", (row.name,), bool(row.healthy))
    for replica in view.reached:
        if replica.said is not None:
            yield from _sizes(replica.name, replica.said)


def _sizes(member: str, said: MemberStatus) -> Iterator[Reading]:
    yield Reading("stateward_etcd_db_size_bytes", (member,), said.db_size)
    yield Reading("stateward_etcd_db_size_in_use_bytes", (member,), said.db_size_in_use)
    if said.db_size_quota:
        yield Reading("stateward_etcd_db_quota_bytes", (member,), said.db_size_quota)


def _leader_id(view: View) -> int:
    leader = view.leader
    return leader.said.member_id if leader is not None and leader.said is not None else 0


def _held(status: EtcdClusterStatus) -> dict[str, float]:
    """Return since when each guard has held back whatever it held back first."""
    held: dict[str, float] = {}
    for it in status.blockers:
        if it.since is not None:
            began = moments.from_rfc3339(it.since)
            held[it.guard] = min(began, held.get(it.guard, began))
    return held
