"""What is to be done about a backup: each row is what is asked for, what there is, and what follows.

What there is, in a few letters: ``-`` never was, ``s`` submitted, ``r`` runs, ``d`` runs and can be
restored, ``c`` completed, ``a`` aborted, ``x`` is being aborted; ``e`` beside one: it ends with its
snapshot; ``P``: all agents are paused; ``?``: nobody knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateward.core.facts import Fact, Known, Unknown
from stateward.core.outcome import DONE, Blocked, Done, Retry, Wait
from stateward.fdb.decide.backups import backing, belonging, retaining
from stateward.fdb.decide.backups.views import (
    Abort,
    BackupView,
    ClusterIs,
    DeleteData,
    Discontinue,
    LetGo,
    Modify,
    Pause,
    Resume,
    Start,
)
from stateward.fdb.status.backups.backup import BackupStage, BackupState, Point, Running

_STAGES = {
    "-": BackupStage.NEVER,
    "s": BackupStage.SUBMITTED,
    "r": BackupStage.RUNNING,
    "d": BackupStage.DIFFERENTIAL,
    "c": BackupStage.COMPLETED,
    "a": BackupStage.ABORTED,
    "x": BackupStage.ABORTING,
}
URL, ELSEWHERE = "file:///b", "file:///elsewhere"


def live(picture: str, *, uid: str = "u1", url: str = f"{URL}/backup-1") -> Fact[BackupState]:
    if picture == "?":
        return Unknown("no answer")
    stage = _STAGES[picture[0]]
    point = Point(7, 7.0) if stage in (BackupStage.DIFFERENTIAL, BackupStage.COMPLETED) else None
    running = None
    if stage in (BackupStage.RUNNING, BackupStage.DIFFERENTIAL):
        running = Running("e" in picture, 20, 0, 0, Point(8, 8.0))
    known = stage is not BackupStage.NEVER
    state = BackupState(
        "t", stage, "P" in picture, uid if known else "", url if known else "", point, running
    )
    return Known(state, 0.0, "test")


def view(picture: str, **over: Any) -> BackupView:
    given: dict[str, Any] = {
        "name": "nightly",
        "uid": "0123456789",
        "generation": 3,
        "tag": "t",
        "wish": "Running",
        "is_one_time": False,
        "is_unmanaged": False,
        "policy": "stop",
        "url": URL,
        "period": 20,
        "cluster": ClusterIs.THERE,
        "live": live(picture),
        "former_uid": "",
    }
    return BackupView(**{**given, **over})


ONCE = {"is_one_time": True}


@pytest.mark.parametrize(
    ("picture", "over", "found"),
    [
        ("-", {}, Start),
        ("a", {}, Start),
        ("c", {}, Start),
        ("s", {}, Done),
        ("d", {}, Done),
        ("de", {}, Retry),  # it ends, and is begun anew then
        ("x", {}, Retry),
        ("?", {}, Done),  # UpdateBackupStatus tells
        ("-", {"wish": "Stopped"}, Done),
        ("-", {"wish": "Paused"}, Start),
        ("-", ONCE, Start),
        ("re", ONCE, Done),
        ("c", ONCE, Done),
        ("a", ONCE, Start),
        ("c", {**ONCE, "former_uid": "u1"}, Start),  # that one was somebody else's
        ("-", {"holder": "older"}, Done),
        ("-", {"is_unmanaged": True}, Done),
    ],
)
def test_starting(picture: str, over: dict[str, Any], found: type) -> None:
    assert isinstance(backing.starting(view(picture, **over)), found)


@pytest.mark.parametrize(
    ("picture", "found"),
    [("-", Done), ("d", Discontinue), ("s", Discontinue), ("de", Retry), ("c", Done), ("x", Retry)],
)
def test_stopping(picture: str, found: type) -> None:
    assert isinstance(backing.stopping(view(picture, wish="Stopped")), found)
    assert isinstance(backing.stopping(view(picture)), Done)


@pytest.mark.parametrize(
    ("picture", "wish", "found"),
    [
        ("d", "Running", Discontinue),  # it was continuous when it was begun
        ("d", "Paused", Done),
        ("de", "Running", Done),
        ("s", "Running", Done),
        ("s", "Stopped", Retry),
        ("de", "Stopped", Retry),
        ("c", "Running", Done),
    ],
)
def test_one_that_is_made_once_ends_by_itself(picture: str, wish: str, found: type) -> None:
    assert isinstance(backing.stopping(view(picture, wish=wish, **ONCE)), found)
    assert isinstance(backing.modifying(view(picture, wish=wish, url=ELSEWHERE, **ONCE)), Done)


BLOB = "blobstore://k@host:443/n?bucket=b"


@pytest.mark.parametrize(
    ("over", "there", "must"),
    [
        ({"url": BLOB}, "", True),
        ({"url": BLOB}, "blobstore://host/n?bucket=b", False),  # it was there before
        ({"url": BLOB}, "blobstore://host/m?bucket=b", True),
        ({"url": BLOB, "mates": ("other",)}, "", False),
        ({}, "", False),  # of folders it gets its own
    ],
)
def test_when_it_is_looked_whose_files_are_in_a_place(
    over: dict[str, Any], there: str, *, must: bool
) -> None:
    seen = view("c", **{**over, "live": live("c", url=there)})
    assert belonging.must_look(seen, seen.url) is must


def test_where_the_backup_of_another_database_is_none_is_begun() -> None:
    for over in (
        {"strangers": ("far/nightly",)},
        {"former_urls": ("blobstore://host/n/?bucket=b",)},
    ):
        for picture, ask in (("-", backing.starting), ("d", backing.modifying)):
            found = ask(view(picture, url=BLOB, **over))
            assert isinstance(found, Blocked)
            assert found.reason == "PlaceOfAnother"


def test_what_ends_with_its_snapshot_says_that_a_pause_keeps_it() -> None:
    found = backing.stopping(view("deP", wish="Stopped"))
    assert isinstance(found, Retry)
    assert "paused" in found.message


@pytest.mark.parametrize(
    ("picture", "over", "found"),
    [
        ("d", {"wish": "Paused"}, Pause),
        ("dP", {"wish": "Paused"}, Done),
        ("dP", {}, Resume),
        ("d", {}, Done),
        ("dP", {"pausers": ("other",)}, Wait),
        ("d", {"wish": "Paused", "runners": ("other",)}, Pause),
        ("dP", {"wish": "Stopped"}, Done),  # it asks for neither
        ("dP", {"holder": "older"}, Done),
    ],
)
def test_pausing(picture: str, over: dict[str, Any], found: type) -> None:
    assert isinstance(backing.pausing(view(picture, **over)), found)


@pytest.mark.parametrize(
    ("picture", "over", "found"),
    [
        ("d", {}, None),
        ("d", {"period": 30}, Modify("u1", None, 30)),
        ("s", {"period": 30}, None),  # it does not say what it has
        ("d", {"url": ELSEWHERE}, Modify("u1", f"{ELSEWHERE}/backup-nightly-01234567-3", None)),
        (
            "d",
            {"url": "blobstore://h:443/n?bucket=b"},
            Modify("u1", "blobstore://h:443/n?bucket=b"),
        ),
        ("de", {"period": 30}, None),
        ("d", {"period": 30, "wish": "Stopped"}, None),
        ("d", {"period": 30, **ONCE}, None),
        ("c", {"period": 30}, None),
    ],
)
def test_modifying(picture: str, over: dict[str, Any], found: Modify | None) -> None:
    said = backing.modifying(view(picture, **over))
    assert (said if isinstance(said, Modify) else None) == found


CLEANUP = {"policy": "cleanup"}
GONE = {"cluster": ClusterIs.GONE, "live": Unknown("none")}


@pytest.mark.parametrize(
    ("picture", "over", "found"),
    [
        ("d", {"policy": "noop"}, LetGo),
        ("d", {"is_unmanaged": True}, LetGo),
        ("d", {"holder": "older"}, LetGo),  # it is not ours to end
        ("d", {}, Abort),
        ("x", {}, Retry),
        ("a", {}, LetGo),
        ("?", {}, Retry),
        ("d", CLEANUP, Abort),
        ("a", CLEANUP, DeleteData),
        ("c", CLEANUP, DeleteData),
        ("c", {**CLEANUP, "former_uid": "u1"}, LetGo),  # files of before
        ("dP", {"wish": "Paused"}, Abort),
        ("aP", {"wish": "Paused"}, Resume),
        ("aP", {"wish": "Paused", "pausers": ("other",)}, LetGo),
        ("aP", {"wish": "Paused", "policy": "noop"}, LetGo),
        ("aP", {}, LetGo),  # somebody else had them pause
        ("aP", {**CLEANUP, "wish": "Paused"}, Resume),
        ("a", {**CLEANUP, "wish": "Paused"}, DeleteData),
        ("-", CLEANUP, LetGo),
        ("?", CLEANUP, Retry),
        ("a", {**CLEANUP, "sharers": ("other",)}, Blocked),
        ("d", {**CLEANUP, "readers": ("again",)}, Abort),
        ("a", {**CLEANUP, "readers": ("again",)}, Retry),
        ("a", {**CLEANUP, "unseen": "no rights"}, Retry),
        ("a", {**CLEANUP, "readers": ("again",), "emptied": f"{URL}/backup-1"}, LetGo),
        ("a", {**CLEANUP, "sharers": ("later",), "emptied": f"{URL}/backup-1"}, LetGo),
        ("a", {**CLEANUP, "sharers": ("later",), "emptied": f"{URL}/backup-2"}, Blocked),
        ("d", {**CLEANUP, "emptied": f"{URL}/backup-1"}, Abort),
        ("?", GONE, LetGo),
        ("?", {**GONE, **CLEANUP}, LetGo),
        ("?", {**GONE, **CLEANUP, "seen_url": URL, "seen_uid": "u1"}, DeleteData),
        ("?", {**GONE, **CLEANUP, "seen_url": URL}, LetGo),  # whose it was nobody knows
        ("?", {**GONE, **CLEANUP, "seen_url": URL, "seen_uid": "u1", "former_uid": "u1"}, LetGo),
        ("c", {**CLEANUP, "url": ELSEWHERE}, LetGo),  # spec never said that it lies there
        ("c", {**CLEANUP, "url": ELSEWHERE, "place": URL}, DeleteData),
        ("c", {**CLEANUP, "url": ELSEWHERE, "used_urls": (URL,)}, LetGo),  # that was any time
        ("?", {**GONE, "seen_url": URL}, LetGo),
        ("?", {"cluster": ClusterIs.UNMADE, "live": Unknown("none")}, LetGo),
    ],
)
def test_leaving(picture: str, over: dict[str, Any], found: type) -> None:
    assert isinstance(backing.leaving(view(picture, **over)), found)


def test_what_is_deleted_is_named_without_what_is_secret() -> None:
    begun = live("a", url="blobstore://key:secret@store:443/n?bucket=b")
    found = backing.leaving(
        view("a", **CLEANUP, live=begun, url="blobstore://key@store:443/n?bucket=b")
    )
    assert found == DeleteData("blobstore://key@store:443/n?bucket=b")


@pytest.mark.parametrize("picture", ["d", "r", "a", "c"])
@pytest.mark.parametrize("wish", ["Running", "Stopped", "Paused"])
def test_what_somebody_else_moved_is_let_alone_and_one_that_is_over_is_begun_here(
    picture: str, wish: str
) -> None:
    theirs = {"live": live(picture, url=f"{ELSEWHERE}/backup-1"), "place": URL, "wish": wish}
    it = view(picture, **theirs, period=30, days=7, tried_at=0.0)
    begins = wish != "Stopped" and picture in "ac"
    assert (backing.starting(it) == Start(URL)) is begins
    assert backing.modifying(it) is DONE
    assert backing.stopping(it) is DONE
    assert retaining.retaining(it, 9e9) is DONE
    assert isinstance(backing.leaving(replace(it, policy="cleanup", is_deleting=True)), LetGo)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (URL, ELSEWHERE),
        ("blobstore://old@store:443/n?bucket=b", "blobstore://new@store:443/n?bucket=b"),
    ],
)
def test_another_place_or_account_in_the_spec_is_not_somebody_elses(before: str, now: str) -> None:
    it = view("d", url=now, place=before, live=live("d", url=before))
    assert isinstance(backing.modifying(it), Modify)
    assert backing.known(it) is DONE


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"holder": "older"}, "TagTaken"),
        ({"cluster": ClusterIs.GONE}, "ClusterMissing"),
        ({"cluster": ClusterIs.UNMADE}, "DatabaseNotMade"),
        ({"live": Unknown("silence")}, "BackupUnknown"),
        ({"live": live("d", url=f"{ELSEWHERE}/backup-1"), "place": URL}, "MovedByOthers"),
    ],
)
def test_why_nothing_can_be_done(over: dict[str, Any], reason: str) -> None:
    found = backing.known(view("d", **over))
    assert not isinstance(found, Done)
    assert found.reason == reason
