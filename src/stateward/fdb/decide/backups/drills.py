"""What is known of the drills of a backup in one pass, and what can be done about them. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stateward.core.facts import Fact
from stateward.fdb.api.backups.drill import DrillPhase
from stateward.fdb.decide.backups.views import UNASKED, Arm, Skip


class Piece(StrEnum):
    """What a drill makes, in the order in which it is made; all are called alike."""

    CLUSTER = "FoundationDBCluster"
    AGENTS = "FoundationDBBackup"
    RESTORE = "FoundationDBRestore"


@dataclass(frozen=True, slots=True)
class Found:
    """An object that has the name of a piece: asked past the cache."""

    uid: str
    #: Whether it was made by this very drill: by its owner, its label and, once on record, its UID.
    is_ours: bool
    is_going: bool = False
    #: Whether an earlier drill of this backup made it, of which nothing is on record any more.
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A drill that goes on, as it is on record."""

    phase: DrillPhase
    began: float
    #: To which version; None: the newest there is.
    version: int | None = None
    url: str = ""
    #: The pieces that were made and are on record.
    uids: Mapping[Piece, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """What would be restored now: where it lies, and the newest point of it."""

    url: str
    #: None: the newest there is.
    version: int | None = None
    #: When the database was that; None: nobody says.
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """How the restore of a drill is, by its own status."""

    state: str = ""
    version: int | None = None
    written: int = 0
    #: Why it cannot be begun as it is, since when; no word: it can.
    reason: str = ""
    trouble: str = ""
    since: float | None = None
    doing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillView:
    """The drills of one backup."""

    #: What all pieces of it are called.
    name: str
    is_asked: bool = True
    #: The backup's object goes.
    is_deleting: bool = False
    #: Whether its status tells anything of drills.
    is_told: bool = True
    now: float = 0.0
    timeout: float = 1.0
    #: Up to when moments are dealt with, and which one came since.
    since: float | None = None
    due: float | None = None
    #: When the next one comes.
    next_due: float | None = None
    run: Run | None = None
    #: What can be restored; None: nothing.
    source: Source | None = None
    #: Why none can be begun; empty: nothing stands against it.
    hindrance: str = ""
    found: Mapping[Piece, Found] = field(default_factory=dict)
    #: Why nobody knows what of it is there; empty: that is known.
    unseen: str = ""
    #: How many process groups of its cluster are still there, once the cluster is gone.
    groups_left: int = 0
    #: Whether the throw-away database takes transactions, and what its cluster does.
    is_available: bool = False
    doing: str = ""
    restored: Restored = Restored()


@dataclass(frozen=True, slots=True)
class Counted:
    """How many of the first keys are there, in the throw-away cluster and in that of the backup."""

    there: Fact[int] = UNASKED
    before: Fact[int] = UNASKED


# ------------------------------------------------------------------ what is to be done
@dataclass(frozen=True, slots=True)
class Open:
    """Put on record that one is to be begun for a moment, and what it restores."""

    moment: float
    source: Source


@dataclass(frozen=True, slots=True)
class Make:
    """Make a piece."""

    piece: Piece


@dataclass(frozen=True, slots=True)
class Keep:
    """Put on record which very object a piece is, and what comes next."""

    piece: Piece
    uid: str
    then: DrillPhase


@dataclass(frozen=True, slots=True)
class Move:
    """Put on record what comes next."""

    then: DrillPhase


@dataclass(frozen=True, slots=True)
class Verify:
    """Look whether keys are there."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Put on record what it has shown, and that it ends."""

    reason: str
    #: Why the backup could not be restored; empty: it could.
    trouble: str = ""
    keys: int | None = None

    @property
    def is_proof(self) -> bool:
        """Whether the backup was restored."""
        return not self.trouble


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete pieces, by their UIDs."""

    pieces: Mapping[Piece, str]


@dataclass(frozen=True, slots=True)
class Close:
    """Put on record that none goes on any more."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Take all that is told of drills away."""


Act = Arm | Skip | Open | Make | Keep | Move | Verify | Verdict | Drop | Close | Forget
