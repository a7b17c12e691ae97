"""What etcd says of itself: members, their status, alarms."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of a member list. ``name`` may be empty until the member has started once."""

    id: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...] = ()
    learner: bool = False

    @property
    def started(self) -> bool:
        """True when it has run since it was added: only it can say where clients find it."""
        return bool(self.client_urls)


@dataclass(frozen=True, slots=True)
class Roster:
    """A member list, and whose it is."""

    cluster_id: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """What one member says of itself, without asking the others."""

    cluster_id: int
    member_id: int
    version: str
    #: The member that it takes for the leader; 0 when it knows of none.
    leader: int = 0
    learner: bool = False
    revision: int = 0
    raft_term: int = 0
    raft_index: int = 0
    raft_applied_index: int = 0
    db_size: int = 0
    db_size_in_use: int = 0
    #: How large the database may grow; 0 when the release does not say.
    db_size_quota: int = 0
    errors: tuple[str, ...] = ()


class AlarmKind(Enum):
    """Why etcd refuses writes."""

    NO_SPACE = 1
    CORRUPT = 2


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm that one member raised."""

    member_id: int
    kind: AlarmKind


def quorum(voters: int) -> int:
    """Return how many of so many voters must agree.

    >>> [quorum(n) for n in (1, 2, 3, 4, 5)]
    [1, 2, 2, 3, 3]
    """
    return voters // 2 + 1
