"""Whether what a database calls restorable lies where its backup is now. Pure.

A backup that is told to go elsewhere leaves behind what it wrote, and its database goes on to say
that it can be restored: from both places together. From the new one alone it can be once a snapshot
is whole that began after that. The one that went on meanwhile lies in both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stateward.fdb.api.backups import urls
from stateward.fdb.status.backups.backup import BackupState


@dataclass(frozen=True, slots=True)
class Moved:
    """A backup has no whole snapshot where it is now."""

    #: At which version the snapshot began that went on when it was moved; 0: nobody knows.
    during: int
    #: At which the first one did that lies in the new place alone; None: none has begun.
    began: int | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """What was told of it last: which backup, where it lay, and which snapshot went on."""

    uid: str
    url: str
    snapshot_began: int
    moved: Moved | None = None


def moved(before: Before, state: BackupState) -> Moved | None:
    """Return what is so by now; None: what the database calls restorable is."""
    if before.uid != state.uid or not state.uid:
        return None
    found = before.moved
    if before.url and state.url and not urls.is_same(before.url, state.url):
        found = Moved(before.snapshot_began)
    running = state.running
    if found is None or running is None:
        return found
    begin, end = running.snapshot_begin, running.snapshot_end
    if found.began is None and begin is not None and begin > found.during:
        found = replace(found, began=begin)
    if found.began is None or end is None or end.version <= found.began:
        return found
    # A snapshot is of use once what changed while it was taken is written, too.
    point = state.restorable
    return None if point is not None and point.version >= end.version else found
