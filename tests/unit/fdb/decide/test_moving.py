"""A backup that went elsewhere can be restored from there once a snapshot is whole that began there."""

from __future__ import annotations

from typing import Final

import pytest

from stateward.fdb.decide.backups.moving import Before, Moved, moved
from stateward.fdb.status.backups.backup import BackupStage, BackupState, Point, Running

OLD, NEW = "file:///b/backup-1", "file:///c/backup-1"
STORE: Final = "blobstore://k@host:443/n?bucket=b"


def state(url: str, began: int | None, ended: int | None = 9, uid: str = "u") -> BackupState:
    end = None if ended is None else Point(ended, 0.0)
    running = Running(False, 20, 0, 0, Point(99, 0.0), end, snapshot_begin=began)
    return BackupState("t", BackupStage.DIFFERENTIAL, False, uid, url, Point(98, 0.0), running)


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (Before("", "", 0), state(OLD, 10), None),
        (Before("u", OLD, 10), state(OLD, 10), None),
        (Before("u", STORE, 10), state(STORE.replace("k@", "other@"), 10), None),
        # As 7.3.79 was recorded: the snapshot that went on goes on, in both places.
        (Before("u", OLD, 10), state(NEW, 10), Moved(10)),
        (Before("u", NEW, 10, Moved(10)), state(NEW, 10), Moved(10)),
        (Before("u", NEW, 10, Moved(10)), state(NEW, 20, 19), Moved(10, 20)),
        (Before("u", NEW, 20, Moved(10, 20)), state(NEW, 20, 19), Moved(10, 20)),
        (Before("u", NEW, 20, Moved(10, 20)), state(NEW, 30, 29), None),
        (Before("u", NEW, 20, Moved(10, 20)), state(NEW, 100, 99), Moved(10, 20)),
        # As the stand-in has it: one is begun anew.
        (Before("u", OLD, 10), state(NEW, 15), Moved(10, 15)),
        (Before("u", NEW, 15, Moved(10, 15)), state(NEW, None, None), Moved(10, 15)),
        # Moved once more, or begun anew.
        (Before("u", NEW, 20, Moved(10, 20)), state(OLD, 20, 19), Moved(20)),
        (Before("u", NEW, 20, Moved(10, 20)), state(OLD, 5, uid="v"), None),
    ],
)
def test_what_is_whole_where_it_is_now(
    before: Before, now: BackupState, found: Moved | None
) -> None:
    assert moved(before, now) == found
