"""Bugs about backups and restores: what is begun, ended, deleted and brought back too lightly."""

from __future__ import annotations

from dataclasses import replace

from stateward.core.outcome import Outcome
from stateward.fdb.backups.restores import steps
from stateward.fdb.backups.restores.seen import RestoreSeen
from stateward.fdb.decide.backups import backing, restoring
from stateward.fdb.decide.backups.views import (
    Abort,
    BackupView,
    Begin,
    Clear,
    DeleteData,
    Leaving,
    LetGo,
    Note,
    Pause,
    RestoreView,
    Resume,
    Start,
)
from stateward.fdb.model.backups import RestoreOrder
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M92",
    "a restore is begun before that is on record",
    "a rule of this house: intent before act",
    *("fdb-restore",),
)
def begun_before_noted(patch: Patch) -> None:
    """Begin at once."""
    inner = restoring._beginning  # noqa: SLF001 - the bug is in there

    def beginning(view: RestoreView) -> Note | Clear | Begin | Outcome:
        found = inner(view)
        return Begin() if isinstance(found, Note) else found

    patch.put(restoring, "_beginning", beginning)


@bug(
    "M93",
    "a backup is begun though one goes on under its tag, which cannot be restored yet",
    "FoundationDB/fdb-kubernetes-operator: a backup is already running on tag",
    *("fdb-backup",),
)
def begun_on_a_tag_that_runs(patch: Patch) -> None:
    """Ask whether it can be restored, and not whether it goes on."""
    inner = backing.starting

    def starting(view: BackupView) -> Start | Outcome:
        state = view.state
        is_new = state is not None and state.restorable is None and view.may_act
        return Start(view.url) if is_new and view.wish != "Stopped" else inner(view)

    patch.put(backing, "starting", starting)


@bug(
    "M94",
    "the files of a backup are deleted before it has ended",
    "the manual of FoundationDB: a backup must not run while it is deleted",
    *("fdb-backup-delete",),
)
def deleted_while_it_runs(patch: Patch) -> None:
    """Delete at once."""
    inner = backing.leaving

    def leaving(view: BackupView) -> Leaving | Outcome:
        found, state = inner(view), view.state
        hasty = isinstance(found, Abort) and view.policy == "cleanup"
        return DeleteData(state.url) if hasty and state is not None else found

    patch.put(backing, "leaving", leaving)


@bug(
    "M95",
    "an object whose backup is to end with it goes, and the backup goes on",
    "FoundationDB/fdb-kubernetes-operator: the deletion policy is not honoured",
    *("fdb-backup-delete",),
)
def goes_on_without_its_object(patch: Patch) -> None:
    """Let it go."""
    inner = backing.leaving

    def leaving(view: BackupView) -> Leaving | Outcome:
        found = inner(view)
        return LetGo("a bug") if isinstance(found, Abort) else found

    patch.put(backing, "leaving", leaving)


@bug(
    "M96",
    "whatever version is asked for, the newest one is restored",
    "FoundationDB/fdb-kubernetes-operator: backupVersion is not passed on",
    *("fdb-restore",),
)
def newest_is_restored(patch: Patch) -> None:
    """Leave the version out."""
    inner = steps._order  # noqa: SLF001 - the bug is in there

    def order(seen: RestoreSeen) -> RestoreOrder:
        return replace(inner(seen), version=None)

    patch.put(steps, "_order", order)


@bug(
    "M97",
    "who is stopped has all agents of the cluster paused",
    "the manual of FoundationDB: pause is for all tags",
    *("fdb-backup",),
)
def stopped_by_a_pause(patch: Patch) -> None:
    """Take one for the other."""
    inner = backing.pausing

    def pausing(view: BackupView) -> Pause | Resume | Outcome:
        state = view.state
        if view.wish == "Stopped" and state is not None and not state.paused:
            return Pause()
        return inner(view)

    patch.put(backing, "pausing", pausing)


@bug(
    "M98",
    "the object of a restore goes, and the database stays locked by it",
    "the manual of FoundationDB: a restore that is left holds the lock",
    *("fdb-restore-abort",),
)
def restore_is_left(patch: Patch) -> None:
    """Let it go."""
    inner = restoring.leaving

    def leaving(view: RestoreView) -> Abort | LetGo | Outcome:
        found = inner(view)
        return LetGo("a bug") if isinstance(found, Abort) else found

    patch.put(restoring, "leaving", leaving)


BUGS = (
    begun_before_noted,
    begun_on_a_tag_that_runs,
    deleted_while_it_runs,
    goes_on_without_its_object,
    newest_is_restored,
    stopped_by_a_pause,
    restore_is_left,
)
