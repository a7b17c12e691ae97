"""More of the chart as pictures: who is given time, whose volume is gone, and what is held back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fakes.etcd_views import picture, told
from stateward.core import moments
from stateward.etcd.decide import chart
from stateward.kube.meta import Condition
from unit.etcd.decide.test_chart import AWAIT_MEMBERS, words

#: Three members that the wanted version may not follow.
HELD: dict[str, Any] = {"versions": {0: "3.4.1", 1: "3.4.1", 2: "3.4.1"}}

REFUSED = "Refuse UpgradeRefused"

ROWS: list[tuple[str, str, dict[str, Any], str]] = [
    # ------------------------------------------------------------ a fair chance, and lost volumes
    ("9 it could start only now: patience", "3: L f d!+", {"away": {2: 999}}, AWAIT_MEMBERS),
    (
        "9 and five seconds are too few to start, however short the grace is",
        "3: L f d!+",
        {"away": {2: 999}, "spec": {"unhealthyMemberGracePeriod": "1s"}},
        AWAIT_MEMBERS,
    ),
    (
        "9 who had the time to start has the short grace",
        "3: L f d!&",
        {"away": {2: 2}, "spec": {"unhealthyMemberGracePeriod": "1s"}},
        "RemoveMember shop-2",
    ),
    ("9 it answers, only now, not yet well", "3: L f n+", {"away": {2: 999}}, AWAIT_MEMBERS),
    ("6c so could a learner", "3: L f b!+", {"away": {2: 999}}, "Await LearnerJoining"),
    (
        "13 no hurry for one that just got its chance",
        "2: L d+ f",
        {"away": {1: 999}},
        AWAIT_MEMBERS,
    ),
    ("9 its volume is lost", "3: L f d?$&", {"away": {2: 61}}, "RemoveMember shop-2"),
    ("9 its volume is lost: patience", "3: L f d?$", {"away": {2: 59}}, AWAIT_MEMBERS),
    ("9 its volume was lost only now", "3: L f d?$+", {"away": {2: 999}}, AWAIT_MEMBERS),
    ("9 it serves on a lost volume", "3: L f f$", {"away": {2: 999}}, "Rest"),
    (
        "6b a learner gets another volume",
        "3: L u?$ f",
        {"away": {1: 31}},
        "DeleteClaim data-shop-1",
    ),
    ("3 two majorities", "3: L f f", {"other_lists": ["c1 with members a2"]}, "Refuse SplitBrain"),
    # ------------------------------------------------------------ a version that may not follow
    ("19 held: no new workload", "3: L f f", HELD | {"workload": False}, REFUSED),
    ("19 held: not around pods", "3: L f f", HELD | {"workload": {"outgrown": True}}, REFUSED),
    ("19 held: nobody is restarted", "3: L f f'", HELD, REFUSED),
    ("9c held: not even the broken", "3: L f d!'", HELD, AWAIT_MEMBERS),
]


@pytest.mark.parametrize(
    ("text", "options", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_the_one_right_move(text: str, options: dict[str, Any], expected: str) -> None:
    assert words(chart.next_move(picture(text, **options))) == expected


@pytest.mark.parametrize("text", ["3: L f f'", "3: L f f"])
def test_what_is_held_back_is_told(text: str) -> None:
    assert [it.guard for it in chart.judge(picture(text, **HELD)).refusals] == ["UpgradeRefused"]


@pytest.mark.parametrize(
    ("not_ready", "away", "after", "expected"),
    [
        (90.0, 61.0, 0.0, "RemoveMember shop-2"),
        (600.0, 199.0, 0.0, "Await LearnerJoining"),
        (600.0, 201.0, 0.0, "RemoveMember shop-2"),
        (86_400.0, 599.0, 0.0, "Await LearnerJoining"),
        (86_400.0, 599.0, 5.0, "RemoveMember shop-2"),
    ],
)
def test_6c_who_joined_in_vain_gets_more_time_each_time(
    not_ready: float, away: float, after: float, expected: str
) -> None:
    view = picture("3: L f b!&", away={2: away})
    since = moments.to_rfc3339(view.now - not_ready)
    ready = Condition(type="Ready", status="False", reason="Scaling", last_transition_time=since)
    status = msgspec.structs.replace(view.cluster.status, conditions=(ready,))
    assert words(chart.next_move(told(view, status, after))) == expected
