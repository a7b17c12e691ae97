"""One line for every member, in words that a person on call understands."""

from __future__ import annotations

import pytest

from fakes.etcd_views import picture, told
from stateward.core.facts import Known
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.tell.members import db_size, index_lag, reports
from stateward.etcd.tell.status import status_of
from stateward.kube.codec import decode, decode_json, encode

SINCE, LATER = "2023-11-14T22:13:20Z", "2023-11-14T22:23:20Z"


@pytest.mark.parametrize(
    ("text", "options", "expected"),  # of the last ordinal
    [
        ("3: L f f", {}, "follower+"),
        ("3: f f L", {}, "leader+"),
        ("3: L f l", {}, "learner+"),
        ("3: L f u", {}, "joining- has not joined yet"),
        ("3: L f u-", {}, "joining- its pod is missing"),
        ("3: L f u?", {}, "joining- its pod finds no node"),
        ("3: L f d", {}, "unknown- does not answer"),
        ("3: L f d-", {}, "unknown- its pod is missing"),
        ("3: L f d?", {}, "unknown- its pod finds no node"),
        ("3: L f d!", {}, "unknown- its container crashes again and again (Error)"),
        ("3: L f d", {"trouble": {2: "ImagePullBackOff"}}, "unknown- its image cannot be pulled"),
        ("3: L f d", {"trouble": {2: "PodInitializing"}}, "unknown- its pod is held up: PodInitializing"),
        ("3: L f d*", {}, "unknown- its pod is being deleted"),
        ("3: L f d-%", {}, "unknown- its volume claim is being deleted"),
        ("3: L f d?$", {}, "unknown- its volume is lost"),
        ("3: L f d$", {}, "unknown- does not answer"),
        ("3: L f n", {}, "unknown- answers, but knows no leader"),
        ("3: L f a", {}, "unknown- answers as another member, e2"),
        ("3: L f w", {}, "unknown- answers as a member of another cluster, c2"),
        ("3: L f f*", {}, "follower+ its pod is being deleted"),
        ("3: L f f%", {}, "follower+ its volume claim is being deleted"),
        ("3: L f f", {"alarms": {2: AlarmKind.NO_SPACE}}, "follower+ its database is full"),
        ("3: L f f", {"alarms": {2: AlarmKind.CORRUPT}}, "unknown- its data differs from that of the others"),
        ("3: d d f", {}, "unknown- answers, but knows no leader"),
        ("3: x x x", {}, "joining- does not answer"),
        ("0: c", {"replicas": 0, "latched": True, "last_known": [0]}, "unknown- asleep"),
    ],
)  # fmt: skip
def test_a_line(text, options, expected):
    row = reports(picture(text, **options))[-1]

    assert f"{row.role}{'+' if row.healthy else '-'} {row.message}".strip() == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("3: L f d", {}, [(0, True, False), (1, True, False), (2, False, False)]),
        ("2: L f l", {}, [(0, True, False), (1, True, False), (2, True, True)]),
        ("1: L", {"foreign": 1}, [(-1, False, False), (0, True, False)]),
        ("0: c", {"replicas": 0, "latched": True, "last_known": [0]}, [(0, False, False)]),
    ],
)
def test_what_is_asked_of_every_member_is_written(text, options, expected):
    """`kubectl -o jsonpath` finds no number and no health that was left out for being 0 or false."""
    status = status_of(picture(text, **options), [], [])

    rows = decode_json(encode(status))["members"]
    assert [(it["ordinal"], it["healthy"], it["learner"]) for it in rows] == expected
    assert decode(encode(status), EtcdClusterStatus) == status


def test_a_status_of_before_is_read():
    found = decode('{"members": [{"name": "shop-0"}]}', EtcdClusterStatus).members[0]

    assert (found.name, found.ordinal, found.healthy) == ("shop-0", None, None)
    still = told(picture("3: L f d"), EtcdClusterStatus(members=(found,)))
    assert [it.name for it in reports(still)] == ["shop-0", "shop-1", "shop-2"]


def names(view) -> list[str]:
    return [it.name for it in reports(view)]


def test_who_gets_a_line():
    assert names(picture("3: L f f x c")) == ["shop-0", "shop-1", "shop-2"]
    assert names(picture("3: d d f x")) == ["shop-0", "shop-1", "shop-2"]
    assert names(picture("3: . . .", latched=True, last_known=[0, 4])) == ["shop-0", "shop-4"]
    assert names(picture("3: x x .")) == ["shop-0", "shop-1"]


def test_a_stranger_gets_a_line_that_cannot_be_taken_for_one_of_ours():
    stranger, *ours = reports(picture("1: L", foreign=1))

    assert (stranger.name, stranger.ordinal, stranger.message) == (
        "stranger-0 (f0)",
        -1,
        "is not a pod of this cluster",
    )
    assert [it.name for it in ours] == ["shop-0"]


def since(view) -> list[str | None]:
    return [it.unhealthy_since for it in reports(view)]


def test_since_when_a_member_is_unhealthy_is_kept_until_it_is_healthy():
    well = picture("3: L f f")
    ill = told(picture("3: L f d"), status_of(well, [], []))
    still = told(ill, status_of(ill, [], []), after=600)
    again = told(well, status_of(still, [], []), after=1200)
    anew = told(ill, status_of(again, [], []), after=600)

    assert since(well) == [None, None, None]
    assert since(ill) == since(still) == [None, None, SINCE]
    assert since(again) == [None, None, None]
    assert since(anew) == [None, None, LATER]


def test_without_a_quorum_all_clocks_stop():
    """Who is a moment slower when the quorum is back has not been broken all along."""
    lost = picture("3: L d d", away={2: 5000})
    back = told(picture("3: L f d"), status_of(lost, [], []), after=600)

    assert since(lost) == [None, None, None]
    assert since(back) == [None, None, LATER]


def test_a_member_of_the_same_name_and_another_id_starts_anew():
    view = picture("3: L f d", away={2: 5000})
    former = view.cluster.status
    other = told(view, former)
    assert since(view)[2] == "2023-11-14T20:50:00Z"

    row = former.members[0]
    changed = type(row)(name=row.name, id="beef", unhealthy_since=row.unhealthy_since)
    status = type(former)(cluster_id=former.cluster_id, members=(changed,))

    assert since(told(other, status))[2] == SINCE


def test_sleep_is_no_illness():
    view = picture("0: c", replicas=0, latched=True, last_known=[0], away={0: 9000})

    assert since(view) == [None]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, ""),
        (994, "990 B"),
        (999, "0.98 KiB"),
        (20_480, "20 KiB"),
        (1_022_000, "0.97 MiB"),
        (25_000_000, "24 MiB"),
        (25_100_000, "24 MiB"),
        (2 << 30, "2 GiB"),
        (123 << 30, "120 GiB"),
        (3 << 50, "3100 TiB"),
    ],
)
def test_a_size_has_two_digits(size, text):
    assert db_size(size) == text


def test_a_lag_is_told_by_its_order():
    assert [index_lag(n) for n in (-5, 0, 999, 1000, 9999, 10_000)] == [0, 0, 0, 1000, 1000, 10_000]
    assert [it.index_lag for it in reports(picture("4: L f f b", lags={1: 12, 2: 4321}))] == [
        0,
        0,
        1000,
        100_000,
    ]


def test_the_sizes_and_versions_come_from_the_members_themselves():
    view = picture("2: L f", versions={1: "3.5.30"})
    first, second = reports(view)

    assert isinstance(view.replicas[0].status, Known)
    assert (first.version, second.version) == ("3.6.16", "3.5.30")
    assert (first.id, first.db_size) == ("a0", "24 MiB")
