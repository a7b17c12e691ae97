"""Of which database a backup is: by the name of its cluster there may be another one by now. Pure.

What is written into a container of another database makes both worthless: versions of one mean
nothing in the other. So where the backup lay stays on record, and nothing is ever begun there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.core.outcome import Blocked
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.backup import FoundationDBBackupStatus
from stateward.fdb.decide.backups.views import BackupView
from stateward.fdb.model.listing import some_of
from stateward.fdb.status.backups.container import Container

#: How many places are on record: the latest.
_KEPT: Final = 50
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Belongs:
    """What is to be on record of the database that there is now."""

    cluster_uid: str
    #: What backup the tag had that is nobody's concern.
    former_uid: str
    former_urls: tuple[str, ...]
    #: Whether all that was told of the backup was of another database.
    is_new: bool = False


def belonging(view: BackupView, status: FoundationDBBackupStatus) -> Belongs | None:
    """Return what must be on record before anything is done; None: it is."""
    if is_another(view):
        was = view.seen_url or view.url
        last = status.schedule.last_url if status.schedule is not None else ""
        every = kept((*view.former_urls, *view.used_urls, *filter(None, [last])), was)
        return Belongs(view.cluster_uid, _former(view), every, is_new=True)
    if view.former_uid is None:
        told = "" if status.backup_details is not None else _former(view)
        return Belongs(view.cluster_uid, told, view.former_urls)
    if view.home_uid != view.cluster_uid:
        return Belongs(view.cluster_uid, view.former_uid, view.former_urls)
    return None


def is_another(view: BackupView) -> bool:
    """Tell whether the database is another one than that of which the object tells.

    No database forgets what a tag had. A cluster may be another one of the same database, though,
    and who begins a backup by hand has the tag have another.
    """
    state = view.state
    if state is None or (view.seen_uid and state.uid == view.seen_uid):
        return False
    moved = bool(view.home_uid) and view.home_uid != view.cluster_uid
    if not state.uid:
        return moved or bool(view.seen_uid)
    return moved and bool(view.seen_uid)


def stranger(view: BackupView, url: str) -> Blocked | None:
    """Return why nothing is to be written to a place; of folders each start makes its own."""
    if urls.is_file(url):
        return None
    if any(urls.touch(url, it) for it in view.former_urls):
        whose = "the database that the cluster had before it was made anew"
        return refused(url, whose, "; or, where that backup is deleted, make this object anew")
    if view.strangers:
        return refused(url, f"another database, of {some_of(view.strangers, _SHOWN)}")
    return None


def must_look(view: BackupView, url: str) -> bool:
    """Tell whether nobody knows that what may be in a store is of this database."""
    state = view.state
    was = state.url if state is not None else ""
    if urls.is_file(url) or view.mates:
        return False
    return not any(urls.is_same(it, url) for it in (was, *view.used_urls) if it)


def kept(some: tuple[str, ...], more: str) -> tuple[str, ...]:
    """Return places with one more, each once, the latest of many; and no secret with them."""
    return tuple(dict.fromkeys([*map(urls.bare, some), urls.bare(more)]))[-_KEPT:]


def has_data(found: Container) -> bool:
    """Tell whether there is a backup."""
    return found.exists and found.snapshots > 0


def refused(url: str, whose: str, other: str = "") -> Blocked:
    """Return that a backup of another database is in a place."""
    return Blocked(
        "PlaceOfAnother",
        f"it must lie elsewhere than {urls.shown(url)}: there is the backup of {whose}, and two in"
        " one place can neither be restored",
        f"give it another blobStoreConfiguration.backupName or bucket{other}",
    )


def _former(view: BackupView) -> str:
    """Return what the tag has that is over: what goes on is taken over."""
    state = view.state
    return "" if state is None or state.stage.is_active else state.uid
