"""What is known of a backup, or of a restore, in one pass: frozen values, judged by others."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.api.backups import urls
from stateward.fdb.decide.backups.moving import Moved
from stateward.fdb.status.backups.backup import BackupState, Point
from stateward.fdb.status.backups.restore import RestoreState

#: What nobody needs to know yet.
UNASKED: Final = Unknown("nobody asked")


class ClusterIs(Enum):
    """Whether there is the FoundationDBCluster that an object names."""

    THERE = auto()
    #: Nobody has it any more: asked past the cache.
    GONE = auto()
    #: There it is, and its database was never made, or nobody knows how it is found.
    UNMADE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupView:
    """One backup: what is asked for, what the database says, and who else has a say."""

    name: str
    uid: str
    generation: int
    tag: str
    #: Running, Stopped or Paused.
    wish: str
    is_one_time: bool
    #: Whether there are to be agents only, and the backup is somebody else's.
    is_unmanaged: bool
    #: noop, stop or cleanup.
    policy: str
    #: Where it shall lie: the container, or the folder beneath which starting makes one.
    url: str
    #: In how many seconds all is to be written once.
    period: int
    cluster: ClusterIs
    live: Fact[BackupState]
    #: What agents could not do since it could last be restored; asked where they write nothing.
    complaints: tuple[str, ...] = ()
    cluster_name: str = ""
    #: What backup the tag had when the object came; None: nobody has looked yet.
    former_uid: str | None = None
    #: Which very cluster there is, and of which the object was when it was last looked at.
    cluster_uid: str = ""
    home_uid: str = ""
    #: Which backup was seen last, and where it was last seen to lie.
    seen_uid: str = ""
    seen_url: str = ""
    #: Where in blob stores it lay so far, and where while its cluster had other databases.
    used_urls: tuple[str, ...] = ()
    former_urls: tuple[str, ...] = ()
    #: Where it shall lie, once it was seen there: who has it elsewhere after that is somebody else.
    place: str = ""
    #: It went there, and no snapshot is whole there yet.
    moved: Moved | None = None
    #: An older object that has the tag; empty: it is ours.
    holder: str = ""
    #: Other objects of the database that ask for a pause, and that ask for none.
    pausers: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    #: Other objects whose backup lies at the same place.
    sharers: tuple[str, ...] = ()
    #: Other objects whose backup is in the store where this one shall lie: of this database, and
    #: of others.
    mates: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    #: Restores that are begun and not over, and read what lies there.
    readers: tuple[str, ...] = ()
    #: Why nobody knows all of those; empty: they are known.
    unseen: str = ""
    #: Where its files were deleted; empty: nowhere.
    emptied: str = ""
    now: float = 0.0
    #: Whether one is begun at certain moments; then up to when all of them are dealt with, for
    #: which one was last begun, and which one came since.
    is_scheduled: bool = False
    since: float | None = None
    last_due: float | None = None
    due: float | None = None
    next_due: float | None = None
    #: For how many days it is kept; None: for ever.
    days: int | None = None
    #: When somebody last looked for what is older, and why that was not deleted.
    tried_at: float | None = None
    not_expired: str = ""
    is_deleting: bool = False
    #: Its drill goes on, so that it is held until all of that is gone.
    is_drilled: bool = False

    @property
    def state(self) -> BackupState | None:
        """What the database says; None: nobody knows."""
        return self.live.value if isinstance(self.live, Known) else None

    @property
    def restorable(self) -> Point | None:
        """Until when it can be restored from where it lies; None: it cannot be, or nobody knows."""
        state = self.state
        return state.restorable if state is not None and self.moved is None else None

    @property
    def may_act(self) -> bool:
        """Whether the backup is ours to begin, change and end, and is known."""
        is_others = self.is_unmanaged or self.holder or self.is_moved
        return not is_others and self.state is not None

    @property
    def is_elsewhere(self) -> bool:
        """Whether what the tag has lies where somebody else wants it, who moved or began it."""
        state = self.state
        if state is None or not state.url or not self.place:
            return False
        return urls.is_as_asked(self.place, self.url) and not urls.is_at(state.url, self.url)

    @property
    def is_moved(self) -> bool:
        """Whether it goes on there: moved back, it would be moved again, for ever."""
        return self.is_elsewhere and self.state is not None and self.state.stage.is_active

    @property
    def is_ours(self) -> bool:
        """Whether what the tag has is what came of this object."""
        state = self.state
        if state is None or not state.uid or self.former_uid is None:
            return False
        return state.uid != self.former_uid

    @property
    def is_done(self) -> bool:
        """Whether it was to be made once, and is."""
        state = self.state
        if state is None or state.stage.is_active or not self.is_one_time:
            return False
        return self.is_ours and state.restorable is not None

    @property
    def ends(self) -> bool:
        """Whether it goes on only until its snapshot is whole."""
        state = self.state
        return state is not None and state.running is not None and state.running.stops


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the object itself says of its restore: it outlives operators, and databases."""

    #: The cluster into which it was to be begun; empty: it never was.
    cluster_uid: str = ""
    begun_at: float | None = None
    #: The restore, as the database once called it.
    uid: str = ""
    state: str = ""
    #: Another operator began it, under a tag of its own.
    is_foreign: bool = False
    #: Since when keys are to be taken away before it is begun; None: nobody said so.
    clearing_at: float | None = None
    #: To which version it can be restored over what is taken away.
    clearing_version: int | None = None

    @property
    def is_begun(self) -> bool:
        """Whether it was ever to be begun by us."""
        return bool(self.cluster_uid)

    @property
    def is_over(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state in ("completed", "aborted")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreView:
    """One restore: what is asked for, what is on record, and what the database says."""

    name: str
    generation: int = 1
    tag: str
    url: str
    #: Why nobody can tell what to restore; empty: the URL can.
    url_unknown: str = ""
    cluster: ClusterIs
    cluster_name: str = ""
    cluster_uid: str = ""
    #: Which cluster it goes into where the object asks for another by now; empty: for the same.
    was_into: str = ""
    #: The only cluster that it may go into; empty: any of that name.
    bound_uid: str = ""
    live: Fact[RestoreState]
    record: Record = Record()
    #: Whether what is there may be taken away.
    clears: bool = False
    #: Whether that was done, by the word of the database.
    cleared: Fact[bool] = UNASKED
    #: For whom files are being deleted where the backup lies; empty: for nobody.
    emptied: str = ""
    #: Other objects whose restore into the same database goes on.
    others: tuple[str, ...] = ()
    #: Whether there is anybody to do the work: agents of a FoundationDBBackup of the cluster.
    has_agents: bool = True
    #: No agent of the cluster does any work; None: nobody asked.
    is_paused: bool | None = None
    now: float = 0.0
    is_deleting: bool = False
    #: When it was to be deleted; None: nobody can tell.
    deleted_at: float | None = None

    @property
    def state(self) -> RestoreState | None:
        """What the database says; None: nobody knows."""
        return self.live.value if isinstance(self.live, Known) else None


# ------------------------------------------------------------------ what is to be done
@dataclass(frozen=True, slots=True)
class Start:
    """Begin a backup."""

    url: str


@dataclass(frozen=True, slots=True)
class Discontinue:
    """Let a backup end with its snapshot."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Let no agent of the cluster do anything."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Let all of them go on."""


@dataclass(frozen=True, slots=True)
class Modify:
    """Change a backup that goes on, and no other: what is None stays."""

    uid: str
    url: str | None = None
    period: int | None = None


@dataclass(frozen=True, slots=True)
class Abort:
    """End a backup, or a restore, at once."""


@dataclass(frozen=True, slots=True)
class DeleteData:
    """Delete all files of a backup."""

    url: str


@dataclass(frozen=True, slots=True)
class Arm:
    """Put on record from when on moments count."""


@dataclass(frozen=True, slots=True)
class Due:
    """Put on record that one is to be begun for a moment, and what the tag had before."""

    moment: float
    former_uid: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave a moment out: the backup of before goes on."""

    moment: float


@dataclass(frozen=True, slots=True)
class Expire:
    """Delete what is older than so many days."""

    url: str
    days: int


@dataclass(frozen=True, slots=True)
class LetGo:
    """Nothing is left to be done: the object may go."""

    why: str


@dataclass(frozen=True, slots=True)
class Note:
    """Put on record that a restore is to be begun, and where."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin a restore."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Take away the keys that are where a restore writes."""


Leaving: TypeAlias = Abort | Resume | DeleteData | LetGo
