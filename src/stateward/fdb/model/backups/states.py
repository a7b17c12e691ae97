"""How a backup is, and a restore, by what the database keeps of each tag: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: By what name a database calls a backup that does something.
_RUNNING: Final = frozenset({"Submitted", "Running", "RunningDifferentially"})
#: A restore that does something, or will as soon as there is somebody to do it.
_ACTIVE: Final = frozenset({"queued", "starting", "running"})
_OVER: Final = frozenset({"completed", "aborted"})


@dataclass(frozen=True, slots=True)
class Point:
    """A version of a database, and when it was that, if somebody can tell."""

    version: int
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupState:
    """What is known of the backup of one tag; without a name there never was one."""

    tag: str
    #: Nobody does any work: neither for this tag nor for any other, nor for restores.
    agents_paused: bool = False
    uid: str = ""
    #: As the database calls it: Submitted, Running, RunningDifferentially, Completed, ...
    name: str = ""
    restorable: bool = False
    url: str = ""
    #: The newest point that can be restored.
    latest: Point | None = None
    #: When the last whole snapshot ended.
    snapshot_end: Point | None = None
    #: None: nobody says, as before its first work.
    snapshot_seconds: int | None = None
    #: It ends with its snapshot; None: nobody says.
    stops_after_snapshot: bool | None = None
    errors: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether it does something, or will."""
        return self.name in _RUNNING

    @property
    def is_aborting(self) -> bool:
        """Whether it is about to have ended at once."""
        return self.name == "Aborting"

    @property
    def is_completed(self) -> bool:
        """Whether it ended with all that it was to do."""
        return self.name == "Completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreState:
    """What is known of the restore of one tag; without a UID there never was one."""

    tag: str
    uid: str = ""
    #: As the database calls it: uninitialized, queued, starting, running, completed, aborted.
    name: str = ""
    blocks_done: int = 0
    blocks: int = 0
    bytes_written: int = 0
    #: How many versions what was read is ahead of what was applied.
    lag_versions: int = 0
    #: The version that all is restored to.
    version: int | None = None
    url: str = ""
    last_error: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the database ever heard of it."""
        return bool(self.uid)

    @property
    def is_active(self) -> bool:
        """Whether it goes on, or will."""
        return self.name in _ACTIVE

    @property
    def is_over(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.name in _OVER
