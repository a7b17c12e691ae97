"""Every call that we make: its two addresses, its messages, how long it may take, and what a lost
answer means.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from stateward.etcd.members import messages
from stateward.etcd.members.messages import Shape

#: Seconds by which a server may give up early.
_ROUNDED: Final = 0.01


class Pace(Enum):
    """Which deadline a call has; the values are the names of Deadlines."""

    READ = "reads"
    CHANGE = "changes"
    UPKEEP = "upkeep"
    STREAM = "chunk"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds after which we no longer wait."""

    #: To connect, within each of the others.
    connect: float = 2.0
    reads: float = 2.0
    #: Changes of members, alarms and access.
    changes: float = 5.0
    #: Defragmentation and compaction.
    upkeep: float = 60.0
    #: Each piece of a snapshot.
    chunk: float = 10.0
    keys: float = 2.0

    def of(self, call: Call) -> float:
        """Return the seconds for a call, or for each piece of its answer."""
        seconds: float = getattr(self, call.pace.value)
        return seconds


@dataclass(frozen=True, slots=True)
class Call:
    """One thing that etcd can be asked."""

    #: Below ``/v3/`` of the gateway.
    path: str
    #: Below ``/etcdserverpb.`` of gRPC.
    method: str
    request: Shape
    answer: Shape
    pace: Pace
    #: True when a lost answer leaves open whether something was changed.
    writes: bool = False

    def __str__(self) -> str:
        return self.method.partition("/")[2]

    @property
    def limited(self) -> bool:
        """True when etcd itself is told to give up a little before we do."""
        return self.pace in {Pace.READ, Pace.CHANGE, Pace.KEYS}


def server_patience(seconds: float) -> float:
    """Return how long etcd may try when we wait so long.

    It then says "deadline exceeded" while we still listen. So a member that has no quorum can be
    told from one that hangs.

    >>> server_patience(2.0), server_patience(5.0)
    (1.5, 4.5)
    """
    return seconds - min(0.5, seconds / 4)


def may_have_given_up(now: float, until: float) -> bool:
    """Tell whether a server that was to try until then may have given up by now.

    What it is told is cut to whole units, and it counts by a clock of its own.
    """
    return now >= until - _ROUNDED


def _read(path: str, method: str, request: Shape, answer: Shape) -> Call:
    return Call(path, method, request, answer, Pace.READ)


def _change(path: str, method: str, request: Shape, answer: Shape = messages.ACKNOWLEDGED) -> Call:
    return Call(path, method, request, answer, Pace.CHANGE, writes=True)


def _upkeep(path: str, method: str, request: Shape) -> Call:
    return Call(path, method, request, messages.ACKNOWLEDGED, Pace.UPKEEP, writes=True)


STATUS: Final = _read("maintenance/status", "Maintenance/Status", messages.NOTHING, messages.STATUS)
LIST: Final = _read("cluster/member/list", "Cluster/MemberList", messages.LIST, messages.LISTED)
ALARMS: Final = _read("maintenance/alarm", "Maintenance/Alarm", messages.ALARM_ACT, messages.ALARMS)
AUTH_STATUS: Final = _read("auth/status", "Auth/AuthStatus", messages.NOTHING, messages.AUTH_STATUS)

ADD: Final = _change("cluster/member/add", "Cluster/MemberAdd", messages.ADD, messages.ADDED)
PROMOTE: Final = _change("cluster/member/promote", "Cluster/MemberPromote", messages.BY_ID)
REMOVE: Final = _change("cluster/member/remove", "Cluster/MemberRemove", messages.BY_ID)
MOVE: Final = _change(
    "maintenance/transfer-leadership", "Maintenance/MoveLeader", messages.TRANSFER
)
SET_ALARM: Final = _change("maintenance/alarm", "Maintenance/Alarm", messages.ALARM_ACT)

COMPACT: Final = _upkeep("kv/compaction", "KV/Compact", messages.COMPACT)
DEFRAGMENT: Final = _upkeep("maintenance/defragment", "Maintenance/Defragment", messages.NOTHING)
SNAPSHOT: Final = Call(
    "maintenance/snapshot",
    "Maintenance/Snapshot",
    messages.NOTHING,
    messages.SNAPSHOT,
    Pace.STREAM,
)

ROLE_ADD: Final = _change("auth/role/add", "Auth/RoleAdd", messages.ROLE_ADD)
USER_ADD: Final = _change("auth/user/add", "Auth/UserAdd", messages.USER_ADD)
USER_GRANT: Final = _change("auth/user/grant", "Auth/UserGrantRole", messages.USER_GRANT)
AUTH_ENABLE: Final = _change("auth/enable", "Auth/AuthEnable", messages.NOTHING)
AUTH_DISABLE: Final = _change("auth/disable", "Auth/AuthDisable", messages.NOTHING)

PUT: Final = Call("kv/put", "KV/Put", messages.PUT, messages.ACKNOWLEDGED, Pace.KEYS, writes=True)
RANGE: Final = Call("kv/range", "KV/Range", messages.RANGE, messages.RANGED, Pace.KEYS)

ALL: Final = (
    STATUS, LIST, ALARMS, AUTH_STATUS, ADD, PROMOTE, REMOVE, MOVE, SET_ALARM, COMPACT, DEFRAGMENT,
    SNAPSHOT, ROLE_ADD, USER_ADD, USER_GRANT, AUTH_ENABLE, AUTH_DISABLE, PUT, RANGE,
)  # fmt: skip
