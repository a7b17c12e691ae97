"""What etcd means when it says "no".

The only place where message text is matched: etcd's codes are too few to tell its refusals apart,
and it gives nothing else. The texts have been the same since 3.4.
"""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.etcd.members import calls, errors, failures
from stateward.etcd.members.calls import Call
from stateward.etcd.members.errors import EtcdRefused

#: The first that fits counts.
_MEANINGS: Final[tuple[tuple[str, type[EtcdRefused]], ...]] = (
    ("unhealthy cluster", errors.EtcdPacing),
    ("too many learner members", errors.TooManyLearners),
    ("can only promote a learner member which is in sync", errors.LearnerBehind),
    ("can only promote a learner member", errors.AlreadyVoter),
    ("member not found", errors.MemberUnknown),
    ("member ID already exist", errors.MemberExists),
    ("Peer URLs already exists", errors.MemberExists),
    ("not enough started members", errors.QuorumAtRisk),
    ("rpc not supported for learner", errors.LearnerCannot),
    ("not leader", errors.NotTheLeader),
    ("bad leader transferee", errors.NotTheLeader),
    ("no leader", errors.NoQuorum),
    ("user name is empty", errors.LoginNeeded),
    ("invalid auth token", errors.LoginNeeded),
    ("revision of auth store is old", errors.LoginNeeded),
    ("permission denied", errors.LoginNeeded),
    ("user not found", errors.LoginNeeded),
    ("user name not found", errors.LoginNeeded),
    ("CommonName of client sending a request against gateway", errors.LoginNeeded),
    ("database space exceeded", errors.NoSpace),
    ("user name already exists", errors.NameTaken),
    ("role name already exists", errors.NameTaken),
    ("required revision has been compacted", errors.AlreadyCompacted),
)

#: Etcd gave up waiting: what was proposed may still come true.
_UNDECIDED: Final = (
    "request timed out",
    "context deadline exceeded",
    "context canceled",
    "stream terminated by RST_STREAM",  # how newer servers end a call whose time is over
    "leader changed",
    "server stopped",
)

#: How etcd's own refusals begin; whatever else comes is from the layers around it.
_ITS_OWN: Final = ("etcdserver: ", "auth: ")
#: The gateway could not connect to its own member, so nobody was asked.
_NOT_DIALLED: Final = "connection error: desc"

_CANCELLED, _UNKNOWN, _DEADLINE_EXCEEDED, _INTERNAL, _UNAVAILABLE = 1, 2, 4, 13, 14
_BROKEN_OFF: Final = {_CANCELLED, _UNKNOWN, _DEADLINE_EXCEEDED, _INTERNAL, _UNAVAILABLE}


def meaning(code: int, message: str, call: Call, where: str) -> PeerError:
    """Return the error for a gRPC code and text.

    A refusal means that nothing was done; where that is not sure it is OutcomeUnknown.
    """
    if (kind := _kind(message, call)) is not None:
        return kind(_sentence(message, call, where), code=code)
    if any(text in message for text in _UNDECIDED):
        return _undecided(code, message, call, where)
    if _NOT_DIALLED in message:
        return failures.unreachable(call, where, f"its gateway says {_short(message)}")
    if message.startswith(_ITS_OWN) or code not in _BROKEN_OFF:
        return EtcdRefused(_sentence(message, call, where), code=code)
    if call.writes or code == _UNAVAILABLE:
        return failures.lost(call, where, f"it says {_short(message)}")
    return EtcdRefused(_sentence(message, call, where), code=code)


def gave_up(call: Call, where: str) -> PeerError:
    """Return the error for a call that etcd ended when its time was over."""
    return _undecided(_DEADLINE_EXCEEDED, "the deadline passed", call, where)


def _kind(message: str, call: Call) -> type[EtcdRefused] | None:
    kind = next((kind for text, kind in _MEANINGS if text in message), None)
    if kind is errors.MemberUnknown and call is calls.ADD:
        # Ids are made of the peer URL and the second. Removed and added again within one, it would
        # be the member that was removed, and those never come back.
        return errors.EtcdPacing
    return kind


def _undecided(code: int, message: str, call: Call, where: str) -> PeerError:
    if call.writes:
        return failures.lost(call, where, f"it says {_short(message)}")
    return errors.NoQuorum(_sentence(message, call, where), code=code)


def _sentence(message: str, call: Call, where: str) -> str:
    return f"{where} refuses {call}: {_short(message)}"


def _short(message: str) -> str:
    """Return one line of a text that somebody else wrote."""
    line = " ".join(message.split()) or "nothing more"
    return line if len(line) <= 300 else f"{line[:300]}..."
