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
    ├── NoSpace          the database is full
    ├── NameTaken        a user or role of that name is there already
    └── AlreadyCompacted that history was forgotten before
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
    hint = "look again in a moment: etcd wants its members connected for 5 s"


class TooManyLearners(EtcdRefused):
    """One learner at a time."""

    reason = "TooManyLearners"
    hint = "promote or remove the learner that is there"


class LearnerBehind(EtcdRefused):
    """The learner is not in sync with the leader yet."""

    reason = "LearnerBehind"
    hint = "wait until it has caught up"


class AlreadyVoter(EtcdRefused):
    """The member was promoted before."""

    reason = "AlreadyVoter"


class MemberUnknown(EtcdRefused):
    """There is no such member, or none any more."""

    reason = "MemberUnknown"
    hint = "read the member list again"


class MemberExists(EtcdRefused):
    """A member with that peer URL is there already."""

    reason = "MemberExists"
    hint = "read the member list: it was added before"


class QuorumAtRisk(EtcdRefused):
    """The change would leave fewer started members than a quorum."""

    reason = "QuorumAtRisk"
    hint = "bring the members that are down back first"


class LearnerCannot(EtcdRefused):
    """Learners do not answer this: ask a voter."""

    reason = "LearnerCannot"
    hint = "ask a voter"


class NotTheLeader(EtcdRefused):
    """Leadership moved meanwhile, or the one to take it cannot."""

    reason = "NotTheLeader"
    hint = "read again who leads"


class NoQuorum(EtcdRefused):
    """There is no leader, or no majority answered in time."""

    reason = "NoQuorum"
    hint = "bring a majority of the members back"


class LoginNeeded(EtcdRefused):
    """Etcd wants to know who we are, and does not believe us or was not told."""

    reason = "LoginNeeded"
    hint = "show a client certificate whose common name is a user of etcd"


class NoSpace(EtcdRefused):
    """The database is full."""

    reason = "NoSpace"
    hint = "compact, defragment every member, then disarm the alarm"


class NameTaken(EtcdRefused):
    """A user or a role of that name is there already."""

    reason = "NameTaken"


class AlreadyCompacted(EtcdRefused):
    """The history before that revision was forgotten before."""

    reason = "AlreadyCompacted"
