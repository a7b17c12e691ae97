"""The messages of etcd that we send and read, written down once for both ways of speaking.

A message is a dictionary by the names that etcd's JSON uses. What was read always has every field
of its shape: what was not sent is zero, empty or false, as both ways have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from stateward.core.errors import PeerConfused

Message: TypeAlias = dict[str, Any]
Shape: TypeAlias = "tuple[Field, ...]"


class Kind(Enum):
    """What the value of a field is."""

    UNSIGNED = auto()
    SIGNED = auto()
    BOOL = auto()
    #: One of a few words. Here and in protobuf it is a number; in JSON it is the word.
    WORD = auto()
    TEXT = auto()
    BYTES = auto()
    MESSAGE = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its number in protobuf and its name in JSON."""

    number: int
    name: str
    kind: Kind
    repeated: bool = False
    #: Of a message within this one.
    shape: Shape = ()
    words: tuple[str, ...] = ()


def blank(shape: Shape) -> Message:
    """Return a message in which nothing was said.

    >>> blank(MEMBER)["peerURLs"], blank(ALARM)["memberID"]
    ([], 0)
    """
    return {it.name: [] if it.repeated else _blank_value(it) for it in shape}


def check_count(field: Field, count: int) -> None:
    """Refuse a list that is longer than any of etcd's: of a few bytes come large objects."""
    if count > _LONGEST:
        raise PeerConfused(f"{field.name} must have at most {_LONGEST} entries")


def _blank_value(field: Field) -> Any:
    return blank(field.shape) if field.kind is Kind.MESSAGE else _BLANK[field.kind]


_LONGEST: Final = 10_000
_BLANK: Final[dict[Kind, Any]] = {
    Kind.UNSIGNED: 0,
    Kind.SIGNED: 0,
    Kind.BOOL: False,
    Kind.WORD: 0,
    Kind.TEXT: "",
    Kind.BYTES: b"",
}

NOTHING: Final[Shape] = ()

HEADER: Final[Shape] = (
    Field(1, "cluster_id", Kind.UNSIGNED),
    Field(2, "member_id", Kind.UNSIGNED),
    Field(3, "revision", Kind.SIGNED),
    Field(4, "raft_term", Kind.UNSIGNED),
)
_HEADER: Final = Field(1, "header", Kind.MESSAGE, shape=HEADER)
#: An answer of which only who gave it matters.
ACKNOWLEDGED: Final[Shape] = (_HEADER,)

# ------------------------------------------------------------------ members
MEMBER: Final[Shape] = (
    Field(1, "ID", Kind.UNSIGNED),
    Field(2, "name", Kind.TEXT),
    Field(3, "peerURLs", Kind.TEXT, repeated=True),
    Field(4, "clientURLs", Kind.TEXT, repeated=True),
    Field(5, "isLearner", Kind.BOOL),
)
LIST: Final[Shape] = (Field(1, "linearizable", Kind.BOOL),)
LISTED: Final[Shape] = (
    _HEADER,
    Field(2, "members", Kind.MESSAGE, repeated=True, shape=MEMBER),
)
ADD: Final[Shape] = (
    Field(1, "peerURLs", Kind.TEXT, repeated=True),
    Field(2, "isLearner", Kind.BOOL),
)
ADDED: Final[Shape] = (_HEADER, Field(2, "member", Kind.MESSAGE, shape=MEMBER))
BY_ID: Final[Shape] = (Field(1, "ID", Kind.UNSIGNED),)
TRANSFER: Final[Shape] = (Field(1, "targetID", Kind.UNSIGNED),)

# ------------------------------------------------------------------ maintenance
STATUS: Final[Shape] = (
    _HEADER,
    Field(2, "version", Kind.TEXT),
    Field(3, "dbSize", Kind.SIGNED),
    Field(4, "leader", Kind.UNSIGNED),
    Field(5, "raftIndex", Kind.UNSIGNED),
    Field(6, "raftTerm", Kind.UNSIGNED),
    Field(7, "raftAppliedIndex", Kind.UNSIGNED),
    Field(8, "errors", Kind.TEXT, repeated=True),
    Field(9, "dbSizeInUse", Kind.SIGNED),
    Field(10, "isLearner", Kind.BOOL),
    Field(12, "dbSizeQuota", Kind.SIGNED),
)
_ALARM_WORDS: Final = ("NONE", "NOSPACE", "CORRUPT")
ALARM: Final[Shape] = (
    Field(1, "memberID", Kind.UNSIGNED),
    Field(2, "alarm", Kind.WORD, words=_ALARM_WORDS),
)
#: What may be done about alarms.
GET, ACTIVATE, DEACTIVATE = range(3)
ALARM_ACT: Final[Shape] = (
    Field(1, "action", Kind.WORD, words=("GET", "ACTIVATE", "DEACTIVATE")),
    Field(2, "memberID", Kind.UNSIGNED),
    Field(3, "alarm", Kind.WORD, words=_ALARM_WORDS),
)
ALARMS: Final[Shape] = (_HEADER, Field(2, "alarms", Kind.MESSAGE, repeated=True, shape=ALARM))
SNAPSHOT: Final[Shape] = (
    Field(2, "remaining_bytes", Kind.UNSIGNED),
    Field(3, "blob", Kind.BYTES),
)

# ------------------------------------------------------------------ keys
PUT: Final[Shape] = (Field(1, "key", Kind.BYTES), Field(2, "value", Kind.BYTES))
RANGE: Final[Shape] = (
    Field(1, "key", Kind.BYTES),
    Field(2, "range_end", Kind.BYTES),
    Field(9, "count_only", Kind.BOOL),
)
KEY_VALUE: Final[Shape] = (Field(1, "key", Kind.BYTES), Field(5, "value", Kind.BYTES))
RANGED: Final[Shape] = (
    _HEADER,
    Field(2, "kvs", Kind.MESSAGE, repeated=True, shape=KEY_VALUE),
    Field(4, "count", Kind.SIGNED),
)
COMPACT: Final[Shape] = (Field(1, "revision", Kind.SIGNED), Field(2, "physical", Kind.BOOL))

# ------------------------------------------------------------------ who may do what
AUTH_STATUS: Final[Shape] = (_HEADER, Field(2, "enabled", Kind.BOOL))
USER_ADD: Final[Shape] = (
    Field(1, "name", Kind.TEXT),
    Field(3, "options", Kind.MESSAGE, shape=(Field(1, "no_password", Kind.BOOL),)),
)
ROLE_ADD: Final[Shape] = (Field(1, "name", Kind.TEXT),)
USER_GRANT: Final[Shape] = (Field(1, "user", Kind.TEXT), Field(2, "role", Kind.TEXT))
