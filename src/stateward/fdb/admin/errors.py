"""What can go wrong between us and a database.

PeerError
├── NothingDone       whatever was asked for, nothing of it was done, nor will be
│   ├── DatabaseSilent    it was asked and did not answer in time; what was asked changes nothing
│   ├── DatabaseRefused   it answered "no"; ``refusal`` says which "no" it was
│   ├── Conflicted        (keys.py) another changed what was read
│   ├── LockLost          (keyed/locking.py) the lock under which it was to be done is not ours
│   └── Disagreed         (hands/together.py) operators do not agree on it any more
├── ProgramUnusable   a program or library of FoundationDB is missing, does not fit, talks garbage;
│   │                 nothing was asked for that changes anything
│   └── PrintsTooMuch (to who runs programs) it was started, and ended when it printed without end
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
    #: All was as asked for before; after an answer that was lost, this is how to know.
    UNCHANGED = "NothingToChange"
    #: Of backups and restores.
    BACKUP_RUNNING = "BackupRunning"
    BACKUP_NOT_RUNNING = "BackupNotRunning"
    BACKUP_ANOTHER = "BackupReplaced"
    BACKUP_MISSING = "BackupMissing"
    DESTINATION_INVALID = "DestinationInvalid"
    NOT_RESTORABLE = "VersionNotRestorable"
    NOT_EMPTY = "DatabaseNotEmpty"
    RESTORE_RUNNING = "RestoreRunning"
    EXPIRY_UNSAFE = "ExpiryUnsafe"
    OTHER = "DatabaseRefused"


#: What may be granted later, with nothing done by anybody.
_LATER = {Refusal.TOO_FEW, Refusal.NOT_REPLICATED, Refusal.NOT_YET, Refusal.UNREACHABLE}


class NothingDone(PeerError):
    """What was asked for was surely not done: who asks again need not look first."""


class DatabaseSilent(NothingDone):
    """It did not answer in time, and was asked for nothing that changes anything."""

    reason = "DatabaseSilent"
    hint = "see whether its coordinators run and can be reached"


class DatabaseRefused(NothingDone):
    """It answered "no", and nothing was done."""

    reason = "DatabaseRefused"

    def __init__(self, refusal: Refusal, message: str, *, later: bool = False) -> None:
        super().__init__(message)
        self.refusal = refusal
        self._later = later

    @property
    def may_be_granted_later(self) -> bool:
        """Whether the same may be granted later, with nothing done by anybody."""
        return self._later or self.refusal in _LATER


class ProgramUnusable(PeerError):
    """A program or library of FoundationDB cannot do its work; the sentence says which, and why."""

    reason = "ProgramUnusable"


class PrintsTooMuch(ProgramUnusable):
    """A program was started and printed without end: whatever it was to do may be done."""


def is_undone(error: BaseException) -> bool:
    """Tell whether what was asked for was surely not done, nor will be."""
    if isinstance(error, ProgramUnusable):
        return not isinstance(error, PrintsTooMuch)
    return isinstance(error, NothingDone)
