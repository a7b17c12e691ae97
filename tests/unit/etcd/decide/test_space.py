"""Space as pictures: full databases, volumes that shall grow or were left, and what is held back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fakes.etcd_views import NOW, picture
from stateward.core import moments
from stateward.etcd.decide import chart
from stateward.etcd.model.members import AlarmKind
from unit.etcd.decide.test_chart import words

#: Three members, and space was reclaimed a moment ago.
TRIED = msgspec.structs.replace(
    picture("L f f").cluster.status, last_defragmentation=moments.to_rfc3339(NOW - 1)
)

#: The same, and the last of them is broken for long.
TRIED_AND_BROKEN = msgspec.structs.replace(
    TRIED, members=picture("L f d!", away={2: 61}).cluster.status.members
)
FULL = {"db_size": 2 << 30, "db_size_in_use": 2 << 30}

#: Members that do not say how large their databases may grow, under a version that may not follow.
OF_3_5 = {"version": "3.5.21", "db_size_quota": 0}
HELD = {"alarms": {1: AlarmKind.NO_SPACE}, "status": TRIED, "image_version": "3.7.0"}

ROWS: list[tuple[str, str, dict[str, Any], str]] = [
    ("9b full, and room by now", "3: L f f", {"alarms": {1: AlarmKind.NO_SPACE}}, "Disarm"),
    (
        "9b full of history",
        "3: L f f",
        {
            "alarms": {1: AlarmKind.NO_SPACE},
            "said": {"db_size": 2 << 30, "db_size_in_use": 2 << 30},
        },
        "Compact",
    ),
    (
        "9b full of holes",
        "3: L f f",
        {"alarms": {1: AlarmKind.NO_SPACE}, "said": {"db_size": 2 << 30}, "status": TRIED},
        "Defragment shop-1",
    ),
    (
        "9b full of data, and nothing helped",
        "3: L f f",
        {
            "alarms": {1: AlarmKind.NO_SPACE},
            "said": {"db_size": 2 << 30, "db_size_in_use": 2 << 30},
            "status": TRIED,
        },
        "Refuse NoSpace",
    ),
    (
        "9b full of data, and other flags are on their way",
        "3: L f f'",
        {
            "alarms": {1: AlarmKind.NO_SPACE},
            "said": {"db_size": 2 << 30, "db_size_in_use": 2 << 30},
            "status": TRIED,
        },
        "DeletePod shop-2",
    ),
    (
        "9b nobody gives space back while another is not well",
        "3: L d f",
        {"alarms": {2: AlarmKind.NO_SPACE}, "said": {"db_size": 2 << 30}, "status": TRIED},
        "Await MembersUnhealthy",
    ),
    (
        "9b one that is silent may be the one that is full",
        "3: L d f",
        {"alarms": {1: AlarmKind.NO_SPACE}},
        "Await MembersUnhealthy",
    ),
    (
        "9b older flags than those wanted say nothing of a quota: they are replaced",
        "3: L' f' f'",
        {
            "alarms": {1: AlarmKind.NO_SPACE},
            "said": {"db_size_quota": 0, "db_size_in_use": 25_000_000},
            "status": TRIED,
        },
        "DeletePod shop-2",
    ),
    (
        "9b a larger quota that a refused version keeps out of the template gives no room",
        "3: L f f",
        HELD | {"said": OF_3_5 | FULL, "workload": {"quota": 2 << 30, "differs": True}},
        "Refuse UpgradeRefused",
    ),
    (
        "9b and room by the quota in force is room",
        "3: L f f",
        HELD | {"said": OF_3_5, "workload": {"quota": 2 << 30, "differs": True}},
        "Disarm",
    ),
    (
        "9b a full database keeps nobody from being replaced",
        "3: L f d!&",
        {"alarms": {1: AlarmKind.NO_SPACE}, "said": FULL, "status": TRIED_AND_BROKEN},
        "RemoveMember shop-2",
    ),
    (
        "9b nothing is compacted beside a corrupt member: that one goes first",
        "3: L f f&",
        {
            "alarms": {1: AlarmKind.NO_SPACE, 2: AlarmKind.CORRUPT},
            "said": FULL,
            "away": {2: 61},
        },
        "RemoveMember shop-2",
    ),
    ("9a the alarm of one who is gone", "3: L f f", {"alarms": {7: AlarmKind.CORRUPT}}, "Disarm"),
]


@pytest.mark.parametrize(
    ("text", "options", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_the_one_right_move(text: str, options: dict[str, Any], expected: str) -> None:
    assert words(chart.next_move(picture(text, **options))) == expected


@pytest.mark.parametrize(
    ("alarms", "expected"),
    [
        ({}, "Await PodsStarting"),
        ({0: AlarmKind.NO_SPACE, 1: AlarmKind.NO_SPACE}, "DeletePod shop-1"),
    ],
)
def test_a_full_member_that_is_not_ready_does_not_hold_up_those_who_get_more_room(
    alarms: dict[int, AlarmKind], expected: str
) -> None:
    view = picture("3: L' f' f^", alarms=alarms, said=FULL, status=TRIED)
    assert words(chart.next_move(view)) == expected


LARGER = 8 << 30


def test_volumes_grow_last_since_their_class_may_not_allow_it() -> None:
    """20 hides nothing: a refusal by Kubernetes comes again in every pass."""
    wanting = picture("3: L f f", spec={"security": {"enableAuth": True}})
    assert words(chart.next_move(replace(wanting, wanted_bytes=LARGER))) == "Await RecordingLogins"
    at_rest = replace(picture("3: L f f"), wanted_bytes=LARGER)
    assert words(chart.next_move(at_rest)) == "GrowClaim data-shop-0"


def test_a_full_database_gets_the_larger_volume_that_it_was_promised() -> None:
    """9b gives way to 20: until its volume is larger, nobody gets a larger quota."""
    full = {"alarms": {1: AlarmKind.NO_SPACE}, "said": FULL, "status": TRIED}
    promised = replace(picture("3: L f f", **full), wanted_bytes=LARGER)
    assert words(chart.next_move(promised)) == "GrowClaim data-shop-0"


@pytest.mark.parametrize(
    ("text", "strange", "expected"),
    [
        ("3: c c c", {0, 1, 2}, "WriteConfig existing 0 1 2"),
        ("3: c c c", {1, 2}, "WriteConfig existing 0 1 2"),
        ("3: c", {0}, "WriteConfig existing 0"),
        ("3: . c", {1}, "Refuse VolumeTaken"),
        ("3: c . c", {0, 2}, "Refuse VolumeTaken"),
        ("3: c . c", set(), "WriteConfig existing 0 2"),
    ],
)
def test_18_a_cluster_goes_on_from_kept_volumes_only_if_none_is_missing(
    text: str, strange: set[int], expected: str
) -> None:
    view = picture(text, workload=False, latched=False, config=None)
    kept = tuple(
        replace(it, claim=replace(it.claim, cluster_uid="", owner_uid=""))
        if it.claim and it.ordinal in strange
        else it
        for it in view.replicas
    )
    assert words(chart.next_move(replace(view, replicas=kept))) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("3: c c c", {"workload": False, "latched": False, "config": None}, "Refuse VolumeTaken"),
        ("3: c", {"workload": False, "latched": False, "config": None}, "Refuse VolumeTaken"),
        ("2: L u-", {"replicas": 1}, "Refuse VolumeTaken"),
        ("2: L u", {}, "Await LearnerJoining"),
    ],
    ids=["begins", "begins with one", "gets a pod", "has its pod already"],
)
def test_nobody_starts_on_a_claim_of_which_nothing_says_whose_it_is(
    text: str, options: dict[str, Any], expected: str
) -> None:
    view = picture(text, **options)
    *others, last = view.replicas
    found = last.claim or view.replicas[0].claim
    assert found is not None
    bare = replace(found, name="x", cluster_uid="", owner_uid="", labelled=False)
    strange = replace(view, replicas=(*others, replace(last, claim=bare)))
    assert words(chart.next_move(strange)) == expected


@pytest.mark.parametrize(("text", "config"), [("3: L f f", ""), ("3: L f u!", "existing 0 1 2")])
def test_8a_a_claim_whose_labels_were_taken_off_gets_them_again(text: str, config: str) -> None:
    """Before 6b and 13a: nobody watches such a claim, so nobody would ever delete it."""
    view = picture(text, config=config)
    *others, last = view.replicas
    assert last.claim is not None
    bare = replace(last, claim=replace(last.claim, labelled=False))
    found = chart.next_move(replace(view, replicas=(*others, bare)))
    assert words(found) == "OwnClaim data-shop-2"


@pytest.mark.parametrize(
    ("text", "options", "blockers"),
    [
        ("1: L'", {"storage": "emptyDir"}, [("Roll", "OnlyCopy")]),
        (
            "3: L f d!",
            {"alarms": {1: AlarmKind.NO_SPACE}, "said": FULL, "status": TRIED_AND_BROKEN},
            [("MakeRoom", "NoSpace")],
        ),
        ("3: L f f", {}, []),
    ],
)
def test_what_is_held_back_is_told_while_other_rows_go_on(
    text: str, options: dict[str, Any], blockers: list[tuple[str, str]]
) -> None:
    refusals = chart.judge(picture(text, **options)).refusals
    assert [(it.step, it.guard) for it in refusals] == blockers
