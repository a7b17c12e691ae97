"""Claims that somebody deleted under running pods (``%``): nobody stops them, or takes the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.etcd_views import AGE, NOW, picture
from stateward.core import moments
from stateward.etcd.api.status import EtcdClusterStatus, KnownMember
from stateward.etcd.decide import chart
from stateward.etcd.tell.members import reports
from stateward.kube.meta import Condition
from unit.etcd.decide.test_chart import AWAIT_MEMBERS, words

REFUSED = "Refuse VolumeLeaving"

ROWS: list[tuple[str, str, dict[str, Any], str]] = [
    ("8c it is told, and nothing is done", "3: L f f%", {}, REFUSED),
    ("8c growing goes on", "3: L%", {"config": "existing 0 1"}, "AddLearner shop-1"),
    ("13 the copies of others are not taken", "1: L% f f", {}, REFUSED),
    ("13 nor down to two of which one would stay", "2: L% f f", {}, REFUSED),
    ("13 the doomed one may go itself", "2: L f f%", {}, "RemoveMember shop-2"),
    ("13 where enough others stay", "3: L% f f f", {}, "RemoveMember shop-3"),
    ("14 the last one does not sleep on it", "0: L%", {}, REFUSED),
    ("14 nor do others go before", "0: L% f f", {}, REFUSED),
    ("19 the only copy is not restarted", "1: L'%", {}, REFUSED),
    ("19 one of two joins anew", "2: L f'%", {}, "RemoveMember shop-1"),
    ("19 one of three joins anew", "3: L f' f'%", {}, "RemoveMember shop-2"),
    ("19 not if the others go too", "3: L% f f'%", {}, REFUSED),
    ("9c a broken one is not restarted either", "3: L% f% d!'%", {}, AWAIT_MEMBERS),
]


@pytest.mark.parametrize(
    ("text", "options", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_the_one_right_move(text: str, options: dict[str, Any], expected: str) -> None:
    assert words(chart.next_move(picture(text, **options))) == expected


def test_8c_a_learner_that_gets_another_volume_is_nothing_to_tell() -> None:
    assert chart.judge(picture("3: L f u!%")).refusals == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("3: L f u%", "DeletePod shop-2", id="it has not started"),
        pytest.param("3: L f l%", "RemoveMember shop-2", id="it started just then"),
        pytest.param("3: L f b!%", "RemoveMember shop-2", id="it started and crashed"),
        pytest.param("3: L f l", "Promote shop-2", id="its volume stays"),
    ],
)
def test_6b_a_learner_gets_no_vote_on_a_volume_that_goes(text: str, expected: str) -> None:
    """We delete the volume of one that crashed, and its next start may be just then, and well."""
    assert words(chart.next_move(picture(text))) == expected


def test_it_is_held_back_once_and_says_how_to_mend_it() -> None:
    one, three = chart.judge(picture("1: L%")), chart.judge(picture("3: L f f%"))
    assert [it.guard for it in one.refusals] == ["VolumeLeaving"]
    assert one.refusals[0].hint.startswith("scale to 3")
    assert three.refusals[0].hint.endswith("kubectl delete pod shop-2")


# -------------------------------------------------------------------------- all are silent


def silent_for(seconds: float, **more: Any) -> str:
    """Judge three silent members whose quorum is known to be lost for so long."""
    lost = Condition(
        type="Quorate", status="False", last_transition_time=moments.to_rfc3339(NOW - seconds)
    )
    known = tuple(KnownMember(name=f"shop-{it}", id=f"a{it}") for it in range(3))
    status = EtcdClusterStatus(cluster_id="c1", last_known_members=known, conditions=(lost,))
    return words(chart.next_move(picture("3: d! d! d!", status=status, **more)))


@pytest.mark.parametrize(
    ("seconds", "expected"), [(5, "Await Unreachable"), (61, "Refuse QuorumLost")]
)
def test_4_a_long_silence_of_all_is_a_lost_quorum(seconds: float, expected: str) -> None:
    assert silent_for(seconds) == expected


def test_14_a_member_that_falls_asleep_is_not_called_back() -> None:
    falls = picture("0: n*", replicas=0, last_known=[0], quorum=False)
    assert words(chart.next_move(falls)) == "Await PodsLeaving"


# -------------------------------------------------------------------------- who is not wiped


@pytest.mark.parametrize(
    ("away", "expected"), [(AGE + 60, "Refuse RolloutStuck"), (AGE - 60, "RemoveMember shop-2")]
)
def test_19_who_was_never_well_with_the_new_template_is_not_wiped(
    away: float, expected: str
) -> None:
    """It runs, and cannot join the others: a wrong authority, for one. Its volume is as it was."""
    view = picture("3: L' f' d&", away={2: away})
    assert words(chart.next_move(view)) == expected
    starting = picture("3: L' f' d+", away={2: away})
    assert words(chart.next_move(starting)) == AWAIT_MEMBERS, "it has only begun to run"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("3: L f d'", "DeletePod shop-2", id="the change was taken back"),
        pytest.param("3: L' f' d'", "DeletePod shop-2", id="it hangs on the old one"),
        pytest.param("3: L f d&", "RemoveMember shop-2", id="nothing is new"),
    ],
)
def test_9c_a_restart_that_is_due_anyway_comes_before_another_volume(
    text: str, expected: str
) -> None:
    assert words(chart.next_move(picture(text, away={2: AGE - 60}))) == expected
    assert words(chart.next_move(picture(text, away={2: 5}))) == AWAIT_MEMBERS


def test_9_a_clock_that_was_set_back_costs_no_hours() -> None:
    """What the status calls unhealthy since a moment to come is unhealthy since now."""
    view = replace(picture("3: L f d!", away={2: 100}), now=NOW - 3600)
    assert words(chart.next_move(view)) == AWAIT_MEMBERS
    assert reports(view)[2].unhealthy_since == moments.to_rfc3339(NOW - 3600)


def test_6b_a_learner_that_waits_for_a_node_keeps_its_new_volume() -> None:
    assert words(chart.next_move(picture("3: L u? f", away={1: 999}))) == "Await LearnerJoining"


@pytest.mark.parametrize(
    ("created", "phase", "expected"),
    [
        pytest.param(599.0, "Bound", AWAIT_MEMBERS, id="it may yet"),
        pytest.param(601.0, "Bound", "RemoveMember shop-2", id="for too long"),
        pytest.param(599.0, "Lost", "RemoveMember shop-2", id="its volume is lost"),
    ],
)
def test_9_a_pod_of_which_its_node_said_nothing_keeps_its_volume(
    created: float, phase: str, expected: str
) -> None:
    view = picture("3: L f d&", away={2: 999})
    last = view.replicas[2]
    assert last.pod is not None
    assert last.claim is not None
    pod = replace(last.pod, running=False, created=view.now - created)
    made = replace(last, pod=pod, claim=replace(last.claim, phase=phase))
    view = replace(view, replicas=(*view.replicas[:2], made))
    assert words(chart.next_move(view)) == expected
