"""What can go wrong between us and a database.

PeerError
├── DatabaseSilent    it was asked and did not answer in time; what was asked changes nothing
├── DatabaseRefused   it answered "no", and has done nothing; ``refusal`` says which "no" it was
├── ProgramUnusable   a program of FoundationDB is missing, of another version, or talks garbage
└── OutcomeUnknown    (core) it was asked for a change, and nobody knows: read back, do not repeat
"""

from __future__ import annotations

from enum import StrEnum

from stateward.core.errors import PeerError


class Refusal(StrEnum):
    """Every "no" that we tell from the others."""

    EXISTS = "DatabaseExists"
    LOCKED = "DatabaseLocked"
    INVALID = "ConfigurationInvalid"
    TOO_FEW = "TooFewProcesses"
    NOT_REPLICATED = "RegionNotReplicated"
    UNSAFE = "ExclusionUnsafe"
    NO_ROOM = "ExclusionWithoutRoom"
    NOT_YET = "ImpactUnknown"
    UNREACHABLE = "CoordinatorUnreachable"
    NOT_RECOGNIZED = "ProcessNotRecognized"
    NO_TLS = "TlsNeeded"
    CLUSTER_FILE = "ClusterFileRefused"
    MISUNDERSTOOD = "CommandMisunderstood"
    OTHER = "DatabaseRefused"


#: What may be granted later, with nothing done by anybody.
_LATER = {Refusal.TOO_FEW, Refusal.NOT_REPLICATED, Refusal.NOT_YET, Refusal.UNREACHABLE}


class DatabaseSilent(PeerError):
    """It did not answer in time, and was asked for nothing that changes anything."""

    reason = "DatabaseSilent"
    hint = "see whether its coordinators run and can be reached"


class DatabaseRefused(PeerError):
    """It answered "no", and nothing was done."""

    reason = "DatabaseRefused"

    def __init__(self, refusal: Refusal, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal

    @property
    def may_be_granted_later(self) -> bool:
        """Whether the same may be granted later, with nothing done by anybody."""
        return self.refusal in _LATER


class ProgramUnusable(PeerError):
    """A program of FoundationDB cannot do its work; the sentence says which, and why."""

    reason = "ProgramUnusable"
