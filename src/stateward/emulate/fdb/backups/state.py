"""What a database knows of its backups and restores, by their tags, and of those who do the work.

All but the agents is kept with the database: these come again to whoever controls it next.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from stateward.emulate.fdb.servers import VERSION

Span = tuple[bytes, bytes]

#: All keys of users; and those of the system that a restore brings back where it is told no ranges.
EVERYTHING: Final[Span] = (b"", b"\xff")
#: Seconds between two snapshots, unless somebody says so.
INTERVAL: Final = 864_000
#: Seconds for which an agent that was heard of counts as there; and after which work that it took
#: is given to another; and for which a status tells of one that left.
PRESENT, LEASE, REMEMBERED = 5.0, 10.0, 120.0


class Stage(StrEnum):
    """How far a backup is, in the words of the real one."""

    SUBMITTED = "Submitted"
    RUNNING = "Running"
    DIFFERENTIAL = "RunningDifferentially"
    COMPLETED = "Completed"
    ABORTED = "Aborted"

    @property
    def is_active(self) -> bool:
        """Whether anything is still to be done."""
        return self in (Stage.SUBMITTED, Stage.RUNNING, Stage.DIFFERENTIAL)


@dataclass(slots=True)
class RangeFile:
    """A file with all keys of a range as they were at one version."""

    path: str
    begin: bytes
    end: bytes
    version: int
    size: int


@dataclass(slots=True)
class Snapshot:
    """One pass over all keys, piece by piece, spread over an interval."""

    begin: int
    interval: int
    #: The container that it is written into: in another one it is begun anew.
    url: str
    pieces: list[Span]
    #: By number of the piece: the file that counts.
    files: dict[int, RangeFile] = field(default_factory=dict)
    dispatched: int = 0

    @property
    def end(self) -> int:
        """The version at which it is whole, once all files are there."""
        return max((it.version for it in self.files.values()), default=self.begin)


@dataclass(slots=True)
class Backup:
    """One backup; versions are -1 before there are any."""

    tag: str
    uid: str
    url: str
    submitted: int
    interval: int = INTERVAL
    #: Seconds over which the first snapshot is spread.
    first_interval: int = 0
    #: Whether it ends as soon as it can be restored.
    stops: bool = True
    ranges: list[Span] = field(default_factory=lambda: [EVERYTHING])
    stage: Stage = Stage.SUBMITTED
    begin: int = -1
    #: All mutations below this version are in files.
    logged: int = -1
    snapshot: Snapshot | None = None
    first_end: int = -1
    last_end: int = -1
    log_bytes: int = 0
    range_bytes: int = 0
    #: What went wrong, by its kind: how that was told last, and at which version.
    errors: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def restorable(self) -> int | None:
        """The latest version that it can be restored to; None: there is none yet."""
        if self.first_end < 0 or self.logged <= self.first_end:
            return None
        return max(self.logged - 1, self.first_end)


class Progress(StrEnum):
    """How far a restore is, in the words of the real one."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    COMPLETED = "completed"
    ABORTED = "aborted"

    @property
    def is_active(self) -> bool:
        """Whether anything is still to be done."""
        return self not in (Progress.COMPLETED, Progress.ABORTED)


@dataclass(slots=True)
class Block:
    """A file that is to be brought back: keys at a version, or mutations of several."""

    path: str
    version: int
    #: Of keys: from where to where they are.
    keys: Span | None = None
    #: Of mutations: below which version they are.
    until: int = 0


@dataclass(slots=True)
class Restore:
    """One restore."""

    tag: str
    uid: str
    url: str
    version: int
    #: Empty: all keys of users, and those of the system that the real one brings back.
    ranges: list[Span] = field(default_factory=list)
    add_prefix: bytes = b""
    remove_prefix: bytes = b""
    #: Whether keys of the system are none of its business, where no ranges are told.
    only_users: bool = False
    stage: Progress = Progress.QUEUED
    blocks: list[Block] = field(default_factory=list)
    #: Numbers of the blocks that are back, in their order.
    done: list[int] = field(default_factory=list)
    written: int = 0
    current: int = -1
    consistent: int = 0
    #: What went wrong last, and at which version of the database.
    error: tuple[str, int] | None = None

    @property
    def spans(self) -> list[Span]:
        """The keys that it brings back, as they are in the backup."""
        return self.ranges or [EVERYTHING]

    def moved(self, key: bytes) -> bytes:
        """Return what a key that begins with the prefix is called after it was brought back."""
        return self.add_prefix + key[len(self.remove_prefix) :]

    def target(self, span: Span) -> Span | None:
        """Return where keys of a range come to be; None: none of them begin with the prefix."""
        begin, end = max(span[0], self.remove_prefix), min(span[1], after(self.remove_prefix))
        if begin >= end:
            return None
        is_all = not end.startswith(self.remove_prefix)
        return self.moved(begin), after(self.add_prefix) if is_all else self.moved(end)


def after(prefix: bytes) -> bytes:
    """Return the first key behind all that begin with a prefix, of those that users may have.

    >>> after(b"a"), after(b"a\\xff"), after(b"")
    (b'b', b'b', b'\\xff')
    """
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else EVERYTHING[1]


@dataclass(slots=True)
class Backups:
    """All of a database, each by its tag."""

    backups: dict[str, Backup] = field(default_factory=dict)
    restores: dict[str, Restore] = field(default_factory=dict)
    paused: bool = False


@dataclass(slots=True)
class AgentSeen:
    """One who does the work, as far as it tells of itself."""

    name: str
    #: The release of its library, and from where it talks: it is a client as others are.
    version: str = str(VERSION)
    address: str = "127.0.0.1:1"
    log_group: str = "default"
    seen: float = 0.0


@dataclass(slots=True)
class Agents:
    """Who does the work, and which pieces are somebody's until when."""

    here: dict[str, AgentSeen] = field(default_factory=dict)
    #: Those who left, of whom a status tells for a while.
    gone: dict[str, AgentSeen] = field(default_factory=dict)
    claims: dict[str, float] = field(default_factory=dict)

    def present(self, now: float) -> list[AgentSeen]:
        """Return those who were heard of lately."""
        return [it for it in self.here.values() if now < it.seen + PRESENT]

    def remembered(self, now: float) -> list[AgentSeen]:
        """Return those of whom a status tells."""
        every = (self.gone | self.here).values()
        return [it for it in every if now < it.seen + REMEMBERED]
