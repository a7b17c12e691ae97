"""What etcd refuses, by what it means to us.

PeerError
└── EtcdRefused          etcd answered "no", for a reason we do not know
    ├── EtcdPacing       too soon after the last change of members: look again in a moment
    ├── TooManyLearners  one learner at a time
    ├── LearnerBehind    the learner is not in sync yet
    ├── AlreadyVoter     it was promoted before
    ├── MemberUnknown    no such member (any more)
    ├── MemberExists     a member with that peer URL is there already
    ├── QuorumAtRisk     the change would leave too few started members
    ├── LearnerCannot    learners do not answer this
    ├── NotTheLeader     leadership moved meanwhile
    ├── NoQuorum         no leader, or no majority answered in time
    ├── LoginNeeded      who we are was not shown, or not believed
    └── NoSpace          the database is full
"""

from __future__ import annotations

from stateward.core.errors import PeerError


class EtcdRefused(PeerError):
    """Etcd answered "no"; ``code`` is gRPC's."""

    reason = "EtcdRefused"

    def __init__(self, message: str, *, hint: str = "", code: int = 2) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class EtcdPacing(EtcdRefused):
    """Too soon after the last change of members: etcd wants all of them connected for 5 s."""

    reason = "EtcdPacing"


class TooManyLearners(EtcdRefused):
    """One learner at a time."""

    reason = "TooManyLearners"


class LearnerBehind(EtcdRefused):
    """The learner is not in sync with the leader yet."""

    reason = "LearnerBehind"


class AlreadyVoter(EtcdRefused):
    """The member was promoted before."""

    reason = "AlreadyVoter"


class MemberUnknown(EtcdRefused):
    """There is no such member, or none any more."""

    reason = "MemberUnknown"


class MemberExists(EtcdRefused):
    """A member with that peer URL is there already."""

    reason = "MemberExists"


class QuorumAtRisk(EtcdRefused):
    """The change would leave fewer started members than a quorum."""

    reason = "QuorumAtRisk"


class LearnerCannot(EtcdRefused):
    """Learners do not answer this: ask a voter."""

    reason = "LearnerCannot"


class NotTheLeader(EtcdRefused):
    """Leadership moved meanwhile, or the one to take it cannot."""

    reason = "NotTheLeader"


class NoQuorum(EtcdRefused):
    """There is no leader, or no majority answered in time."""

    reason = "NoQuorum"


class LoginNeeded(EtcdRefused):
    """Etcd wants to know who we are, and does not believe us or was not told."""

    reason = "LoginNeeded"


class NoSpace(EtcdRefused):
    """The database is full."""

    reason = "NoSpace"
