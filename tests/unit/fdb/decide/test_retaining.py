"""What of a backup may be deleted: whatever could be restored of the days that are kept still can."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.facts import Known, Unknown
from stateward.core.outcome import Blocked, Done, Retry
from stateward.emulate.fdb.backups import containers
from stateward.emulate.fdb.backups.containers import Contents
from stateward.emulate.fdb.backups.containers import Taken as Whole
from stateward.fdb.decide.backups import retaining
from stateward.fdb.decide.backups.retaining import Cut
from stateward.fdb.decide.backups.views import BackupView, ClusterIs, Expire
from stateward.fdb.status.backups.backup import BackupStage, BackupState, Point
from stateward.fdb.status.backups.container import Container, Taken

URL = "file:///b/backup-1"
SECRET = "blobstore://key:secret@store:443/n?bucket=b"
NOW = 100_000.0
STATE = BackupState("t", BackupStage.DIFFERENTIAL, False, "u", URL, Point(9, 9.0))


def known(state: BackupState) -> Known[BackupState]:
    return Known(state, NOW, "test")


@pytest.mark.parametrize(
    ("over", "found", "reason"),
    [
        ({}, Expire, ""),
        ({"tried_at": NOW - 3600}, Expire, ""),
        ({"tried_at": NOW - 3599}, Done, ""),
        ({"tried_at": NOW + 9000}, Done, ""),  # a clock was set back
        ({"tried_at": NOW + 9e6}, Expire, ""),  # one was wrong
        ({"tried_at": NOW - 60, "not_expired": "silence"}, Retry, "BackupNotExpired"),
        ({"days": None}, Done, ""),
        ({"holder": "older"}, Done, ""),
        ({"is_unmanaged": True}, Done, ""),
        ({"is_deleting": True}, Done, ""),
        ({"live": Unknown("silence")}, Done, ""),
        ({"live": known(BackupState("t", BackupStage.RUNNING, False, "u", URL))}, Done, ""),
        ({"live": known(replace(STATE, stage=BackupStage.COMPLETED))}, Done, ""),
        ({"former_uid": "u"}, Done, ""),  # that one was somebody else's
        ({"sharers": ("other",)}, Blocked, "BackupShared"),
        ({"readers": ("again",)}, Retry, "BackupBeingRestored"),
        ({"readers": ("again", "nightly-drill")}, Done, ""),  # its own drill is nobody's concern
        ({"readers": ("again",), "tried_at": NOW - 60}, Done, ""),
        ({"unseen": "no rights"}, Retry, "BackupUnknown"),
    ],
)
def test_when_it_is_looked_for(over: dict[str, Any], found: type, reason: str) -> None:
    given: dict[str, Any] = {
        "name": "nightly", "uid": "1", "generation": 1, "tag": "t", "wish": "Running",
        "is_one_time": False, "is_unmanaged": False, "policy": "noop", "url": URL, "period": 9,
        "cluster": ClusterIs.THERE, "live": known(STATE), "days": 7, "former_uid": "",
    }  # fmt: skip
    said = retaining.retaining(BackupView(**{**given, **over}), NOW)
    assert isinstance(said, found)
    assert getattr(said, "reason", "") == reason


def test_where_it_is_looked_is_named_without_what_is_secret() -> None:
    view = BackupView(
        name="nightly", uid="1", generation=1, tag="t", wish="Running", is_one_time=False,
        is_unmanaged=False, policy="noop", url="", period=9, cluster=ClusterIs.THERE,
        live=known(replace(STATE, url=SECRET)), days=7, former_uid="",
    )  # fmt: skip
    assert retaining.retaining(view, NOW) == Expire("blobstore://key@store:443/n?bucket=b", 7)


def container(*taken: Taken, first: int | None = 5) -> Container:
    return Container(URL, first=first, last=100 if first is not None else None, taken=taken)


@pytest.mark.parametrize(
    ("found", "cut"),
    [
        (container(), None),
        (container(Taken(1, 5, 6.9, True)), None),
        (container(Taken(1, 5, 7.0, True)), Cut(1, 5)),
        (container(Taken(1, 5, 9.0, True), Taken(6, 9, 8.0, True)), Cut(6, 9)),
        (container(Taken(1, 5, 9.0, True), Taken(6, 9, 6.0, True)), Cut(1, 5)),
        (container(Taken(1, 5, 9.0, True), Taken(6, 9, 8.0, False)), Cut(1, 5)),
        (container(Taken(3, 5, 9.0, True), Taken(2, 9, 6.0, True)), Cut(2, 5)),
        (container(Taken(1, 5, 9.0, True), first=None), None),
    ],
)
def test_what_may_go(found: Container, cut: Cut | None) -> None:
    assert retaining.cut(found, 7) == cut


SPANS = st.tuples(st.integers(1, 60), st.integers(1, 20))


@given(st.lists(SPANS, max_size=6), st.lists(SPANS, min_size=1, max_size=12), st.integers(1, 40))
def test_what_could_be_restored_of_the_days_that_are_kept_still_can(
    snapshots: list[tuple[int, int]], logs: list[tuple[int, int]], days: int
) -> None:
    there = Contents(
        sorted(Whole(begin, begin + long, 1) for begin, long in snapshots),
        sorted({(begin, begin + long) for begin, long in logs}),
    )
    reach = there.restorable
    if reach is None:
        return
    end = there.log_end
    taken = tuple(
        Taken(it.begin, it.end, end - it.end, there.reach(it) is not None) for it in there.snapshots
    )
    found = retaining.cut(Container(URL, first=reach[0], last=reach[1], taken=taken), days)
    if found is None:
        return
    left = containers.expired(there, found.before)
    assert left.restorable is not None
    assert left.restorable[0] <= found.restorable_after, "the program itself would say no"
    for version in range(end - days, end + 1):
        assert (left.best(version) is None) <= (there.best(version) is None), version
