"""Begin, end, pause, change a backup: for each the one thing to do now, or why nothing is. Pure.

Nothing is done about a backup that nobody knows, or that is another object's.
"""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.fdb.api.backups import urls
from stateward.fdb.decide.backups import belonging
from stateward.fdb.decide.backups.views import (
    Abort,
    BackupView,
    ClusterIs,
    DeleteData,
    Discontinue,
    Leaving,
    LetGo,
    Modify,
    Pause,
    Resume,
    Start,
)
from stateward.fdb.model.listing import some_of
from stateward.fdb.status.backups.backup import BackupStage, BackupState

#: Seconds until a database is asked again that did not answer; and a backup that is about to end.
_AGAIN: Final = 15.0
_ENDING: Final = 10.0
_SHOWN: Final = 3
#: There is somebody to be asked wherever something is known; this is for who cannot be sure.
UNREACHED: Final = Retry(_AGAIN, "BackupUnknown", "there is no database to ask")


def known(view: BackupView) -> Outcome:
    """Return why nothing can be done about the backup itself; Done: something can."""
    if view.is_unmanaged:
        return DONE
    if view.holder:
        return Blocked(
            "TagTaken",
            f"tag {view.tag} must be of one FoundationDBBackup of a cluster, and {view.holder},"
            " which is older, has it: this one does nothing",
            f"give this one another spec.tag in an object of its own, or delete {view.holder}",
        )
    if view.cluster is ClusterIs.GONE:
        return Wait("ClusterMissing", f"waiting for the FoundationDBCluster {view.cluster_name}")
    if view.cluster is ClusterIs.UNMADE:
        return Wait("DatabaseNotMade", "waiting until the cluster has a database")
    if isinstance(view.live, Unknown):
        return Retry(_AGAIN, "BackupUnknown", f"nobody knows how it is: {view.live.reason}")
    if view.is_moved:
        return _moved(view, view.live.value)
    return DONE


def _moved(view: BackupView, state: BackupState) -> Blocked:
    return Blocked(
        "MovedByOthers",
        f"what tag {view.tag} has must lie where spec says, and somebody else moved it to"
        f" {urls.shown(state.url)}: this one does nothing",
        "another operator may share the database: give one of the two another spec.tag, in an"
        f" object of its own; or end what goes on there (fdbbackup abort -t {view.tag}), and it is"
        " begun here",
    )


def starting(view: BackupView) -> Start | Outcome:
    """Return that it must be begun, which is so where it shall go on and does not."""
    state = view.state
    if state is None or not view.may_act or view.wish == "Stopped" or view.is_done:
        return DONE
    if view.is_scheduled and view.last_due is None:
        return DONE  # its first moment is yet to come
    if state.stage is BackupStage.ABORTING:
        return Retry(_ENDING, "BackupEnding", "the backup of before is about to end")
    if not state.stage.is_active:
        return belonging.stranger(view, view.url) or Start(view.url)
    if view.ends and not view.is_one_time:
        words = "the backup of before ends with its snapshot, and is begun anew then"
        return Retry(_ENDING, "BackupEnding", words + _stuck(view))
    return DONE


def stopping(view: BackupView) -> Discontinue | Outcome:
    """Return that it must end: the database lets its snapshot end before, so that it is whole."""
    state = view.state
    if state is None or not view.may_act or not _shall_end(view):
        return DONE
    if state.stage is BackupStage.ABORTING:
        return Retry(_ENDING, "BackupEnding", "it is about to end")
    if not state.stage.is_active:
        return DONE
    if view.ends or (view.is_one_time and state.running is None):
        return Retry(_ENDING, "BackupEnding", "it ends with its snapshot" + _stuck(view))
    return Discontinue()


def _shall_end(view: BackupView) -> bool:
    """Tell whether it is to end: one was continuous when it was begun, and shall be no more."""
    running = view.state.running if view.state is not None else None
    goes_on = running is not None and not running.stops
    return view.wish == "Stopped" or (view.is_one_time and view.wish == "Running" and goes_on)


def _stuck(view: BackupView) -> str:
    state = view.state
    is_paused = state is not None and state.paused
    return "; which does not come while all agents are paused" if is_paused else ""


def pausing(view: BackupView) -> Pause | Resume | Outcome:
    """Return that all agents must pause, or go on: of objects that disagree, who pauses has it.

    There is one switch for all tags, and for restores. A pause is always asked for by somebody; to
    run is what everybody asks for who says nothing.
    """
    state = view.state
    if state is None or not view.may_act:
        return DONE
    if view.wish == "Paused":
        return DONE if state.paused else Pause()
    if view.wish != "Running" or not state.paused or view.is_done:
        return DONE
    if view.pausers:
        who = some_of(view.pausers, _SHOWN)
        return Wait("PausedByOthers", f"all agents of the cluster are paused, which {who} asks for")
    return Resume()


def modifying(view: BackupView) -> Modify | Outcome:
    """Return what must change of a backup that goes on."""
    state = view.state
    if state is None or not view.may_act or view.is_one_time or view.wish == "Stopped":
        return DONE
    if not state.stage.is_active or view.ends:
        return DONE
    url = period = None
    if state.url and not urls.is_at(state.url, view.url):
        # Two changes to one folder would have two backups share it.
        own = f"{view.name}-{view.uid[:8]}-{view.generation}"
        url = urls.below(view.url, own) if urls.is_file(view.url) else view.url
        if taken := belonging.stranger(view, url):
            return taken
    running = state.running
    if running is not None and running.interval and running.interval != view.period:
        period = view.period
    return DONE if url is None and period is None else Modify(state.uid, url, period)


# ------------------------------------------------------------------ deletion
def leaving(view: BackupView) -> Leaving | Outcome:
    """Return what must be done before the object may go; for no cluster that is gone, though."""
    if view.is_unmanaged or view.policy == "noop":
        return LetGo("nothing is asked for")
    if view.holder or view.is_elsewhere:
        return LetGo(f"the backup is {view.holder or 'somebody else'}'s")
    if view.cluster is ClusterIs.GONE:
        is_ours = view.former_uid is not None and view.seen_uid not in ("", view.former_uid)
        return _files(view, view.seen_url if is_ours else "")
    if view.cluster is ClusterIs.UNMADE and not view.seen_url:
        return LetGo("there was never a backup")
    state = view.state
    if state is None:
        why = view.live.reason if isinstance(view.live, Unknown) else "it has no database"
        return Retry(_AGAIN, "BackupUnknown", f"nobody knows whether it still goes on: {why}")
    return _ending(view, state)


def _ending(view: BackupView, state: BackupState) -> Leaving | Outcome:
    """Return what is to be ended of a backup that the database knows."""
    if belonging.is_another(view):
        return LetGo("the database is another one, and so is its backup")
    if state.stage is BackupStage.ABORTING:
        return Retry(_ENDING, "BackupEnding", "it is about to end")
    if state.stage.is_active:
        return Abort()
    if view.wish == "Paused" and state.paused and not view.pausers:
        return Resume()  # nobody would be left who asks for it, and no restore would ever go on
    return _files(view, state.url if view.is_ours else "")


def _files(view: BackupView, url: str) -> Leaving | Outcome:
    """Return what becomes of the files of a backup that does not go on."""
    if view.policy != "cleanup" or not url:
        return LetGo("the backup does not go on")
    if not any(_lies(url, it) for it in (view.url, view.place) if it):
        return LetGo("it lies where spec never said: somebody else put it there")
    if view.emptied and urls.is_same(url, view.emptied):
        return LetGo("its files are deleted: what is there by now came after them")
    if view.sharers:
        who = some_of(view.sharers, _SHOWN)
        return Blocked(
            "BackupShared",
            f"its files must be its own to be deleted, and {who} has its backup there too",
            "set spec.deletionPolicy: stop, which keeps them; or delete the other one first",
        )
    if view.readers:
        who = some_of(view.readers, _SHOWN)
        words = f"its files are deleted when nobody restores from them any more: {who} does"
        return Retry(_AGAIN, "BackupBeingRestored", words)
    if view.unseen:
        words = f"nobody knows who else has, or reads, its files: {view.unseen}"
        return Retry(_AGAIN, "BackupUnknown", words)
    # It may have been begun by somebody who put a secret there, which no status shows.
    return DeleteData(urls.bare(url))


def _lies(url: str, place: str) -> bool:
    """Tell whether files are at a place that was asked for, by whatever account."""
    return urls.is_at(url, place) or urls.is_same(url, place)
