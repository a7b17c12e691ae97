"""The notation of pictures says what it shows; other tests lean on it."""

from __future__ import annotations

import pytest
from hypothesis import given

from fakes.etcd_views import NEW, NOW, OLD, UID, drawings, member_id, picture
from stateward.etcd.model.members import AlarmKind


@pytest.mark.parametrize(
    ("text", "wanted", "healthy", "voters", "learners", "quorum"),
    [
        ("L f f", 3, "012", "012", "", True),
        ("5: L f d", 5, "01", "012", "", True),
        ("3: L f f l", 3, "0123", "012", "3", True),
        ("4: L f f u", 4, "012", "012", "3", True),
        ("3: L d d", 3, "", "", "", False),
        ("3: f f f", 3, "", "", "", False),
        ("3: L f n", 3, "01", "012", "", True),
        ("3: L f a", 3, "01", "012", "", True),
        ("3: L! f f", 3, "", "", "", False),
        ("1: L x c .", 1, "0", "0", "", True),
    ],
)
def test_letters(text, wanted, healthy, voters, learners, quorum):
    view = picture(text)

    assert view.wanted == wanted
    assert ordinals(it for it in view.replicas if view.is_healthy(it)) == healthy
    assert ordinals(view.voters) == voters
    assert ordinals(view.learners) == learners
    assert view.has_quorum is quorum


def ordinals(replicas) -> str:
    return "".join(str(it.ordinal) for it in replicas)


def test_a_leader_is_named_by_all_who_follow():
    view = picture("f L f")

    assert view.leader is not None
    assert view.leader.name == "shop-1"
    assert {it.said.leader for it in view.reached if it.said} == {member_id(1)}


def test_marks_are_about_pods_and_claims():
    view = picture("L' f* d! d? d- f~ f% f$")

    assert [it.pod.revision if it.pod else "" for it in view.replicas[:2]] == [OLD, NEW]
    assert [bool(it.pod and it.pod.deleting) for it in view.replicas[:3]] == [False, True, False]
    assert view.replicas[2].pod
    assert view.replicas[2].pod.trouble == "CrashLoopBackOff"
    assert view.replicas[3].pod
    assert (view.replicas[3].pod.trouble, view.replicas[3].pod.address) == ("Unschedulable", "")
    assert view.replicas[4].pod is None
    assert view.replicas[4].claim is not None
    assert view.replicas[5].claim is None
    assert [bool(it.claim and it.claim.deleting) for it in view.replicas[6:]] == [True, False]
    assert view.replicas[7].claim
    assert view.replicas[7].claim.phase == "Lost"


def test_nothing_means_nothing():
    view = picture("3: . . .")

    assert (view.workload, view.config, view.cluster.status.cluster_id) == (None, None, "")
    assert [(it.pod, it.claim) for it in view.replicas] == [(None, None)] * 3


def test_the_workload_reaches_to_the_last_pod_or_member():
    assert picture("3: L f f u-").workload.ordinals == range(4)
    assert picture("3: L f f c").workload.ordinals == range(3)
    assert picture("3: L f f", replicas=5).workload.ordinals == range(5)
    assert len(picture("3: L f f", replicas=5).replicas) == 5
    assert picture("3: . . L", start=2).workload.ordinals == range(2, 3)
    assert picture("3: L f f", workload=False).workload is None
    assert picture("3: L f f", workload={"differs": True}).workload.differs


def test_the_configuration_lists_the_members_unless_told_otherwise():
    def names(view):
        return [name for name, _ in view.config.initial_cluster]

    assert names(picture("3: L f f u")) == ["started-0", "started-1", "started-2", "shop-3"]
    assert picture("3: L f f").config.existing
    assert not picture("3: x x x").config.existing
    assert names(picture("3: L f f", config="new 0")) == ["shop-0"]
    assert picture("3: c . .", config="force 0").config.force_new_cluster
    assert picture("3: L f f", config=None).config is None


def test_what_was_known_before():
    status = picture("3: L f u").cluster.status

    assert [(it.name, it.learner) for it in status.last_known_members] == [
        ("shop-0", False),
        ("shop-1", False),
        ("shop-2", True),
    ]
    assert picture("3: L f f", latched=False).cluster.status.cluster_id == ""
    assert [
        it.name
        for it in picture("3: c", latched=True, last_known=[0]).cluster.status.last_known_members
    ] == ["shop-0"]
    assert (
        picture("3: L f d", away={2: 70}).cluster.status.members[0].unhealthy_since
        == "2023-11-14T22:12:10Z"
    )


def test_the_rest():
    view = picture(
        "1: L",
        alarms={0: AlarmKind.NO_SPACE},
        foreign=1,
        spec={"paused": True},
        storage="emptyDir",
        deleting=True,
    )

    assert view.alarms.value[0].member_id == member_id(0)
    assert [it.ordinal for it in view.roster] == [0, None]
    assert view.cluster.spec.paused
    assert view.replicas[0].claim is None
    assert view.cluster.spec.storage.empty_dir == {}
    assert view.cluster.metadata.deleting
    assert (view.now, view.cluster.metadata.uid) == (NOW, UID)


def test_a_letter_that_is_none_is_refused():
    with pytest.raises(AssertionError, match="'q' is no letter"):
        picture("L q")


@given(drawings())
def test_every_drawing_can_be_drawn(text):
    view = picture(text)

    assert [it.ordinal for it in view.replicas] == sorted({it.ordinal for it in view.replicas})
    assert len(view.replicas) >= view.wanted
    assert view.has_quorum == (view.leader is not None)
