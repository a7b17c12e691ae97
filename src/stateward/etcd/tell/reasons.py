"""The words that conditions give as their reason. Each has a page in docs/etcd/conditions."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a condition is what it is, in one word that does not change within a major version."""

    ALL_MEMBERS_HEALTHY = "AllMembersHealthy"
    ASLEEP = "Asleep"
    CORRUPT = "Corrupt"
    DATA_REWOUND = "DataRewound"
    DELETING = "Deleting"
    ENABLING_AUTH = "EnablingAuth"
    FALLING_ASLEEP = "FallingAsleep"
    FIRST_QUORUM_PENDING = "FirstQuorumPending"
    FOREIGN_MEMBER = "ForeignMember"
    MEMBERS_UNHEALTHY = "MembersUnhealthy"
    NO_SPACE = "NoSpace"
    NOT_OBSERVED = "NotObserved"
    NOT_PAUSED = "NotPaused"
    PAUSED = "Paused"
    QUORUM_AGREES = "QuorumAgrees"
    QUORUM_LOST = "QuorumLost"
    QUORUM_UNCONFIRMED = "QuorumUnconfirmed"
    REPLACING = "Replacing"
    ROLLING = "Rolling"
    SCALING = "Scaling"
    SPLIT_BRAIN = "SplitBrain"
    TENDING = "Tending"
    UNREACHABLE = "Unreachable"
    UPGRADING = "Upgrading"
    WAKING = "Waking"
