"""What a cluster says of itself, one picture a line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.etcd_views import VERSION, member_id, picture, told
from stateward.core.outcome import DONE, Blocked, Retry, Stop, Wait
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.tell.conditions import TYPES
from stateward.etcd.tell.status import status_of
from stateward.kube import conditions

SLEPT: dict[str, Any] = {"replicas": 0, "latched": True, "last_known": [0]}
SIGNS = {"True": "+", "False": "-", "Unknown": "?"}
WORK = ("MakeNextMove", Retry(1, "Working", "at work"))


def signs(status: EtcdClusterStatus) -> str:
    return "".join(SIGNS[it.status] for it in status.conditions if it.type != "Paused")


def reason(status: EtcdClusterStatus, type_: str) -> str:
    found = conditions.find(status.conditions, type_)
    assert found is not None
    return found.reason


@pytest.mark.parametrize(
    # Ready, Available, Quorate, Progressing, Degraded when the pass had nothing to do
    ("text", "options", "expected", "why"),
    [
        ("3: L f f", {}, "+++--", "AllMembersHealthy"),
        ("1: L", {}, "+++--", "AllMembersHealthy"),
        ("3: L f d", {}, "-++-+", "MembersUnhealthy"),
        ("3: L f a", {}, "-++-+", "MembersUnhealthy"),
        ("3: L f n", {}, "-++-+", "MembersUnhealthy"),
        ("3: L d d", {}, "----+", "QuorumLost"),
        ("3: c c c", {"latched": True, "last_known": [0, 1, 2]}, "----+", "QuorumLost"),
        ("3: . . .", {}, "---+-", "FirstQuorumPending"),
        ("3: x x x", {}, "---+-", "FirstQuorumPending"),
        ("3: f f d", {"quorum": False, "latched": False}, "---+-", "FirstQuorumPending"),
        ("5: L f f", {}, "-+++-", "Scaling"),
        ("3: L f f u", {}, "-+++-", "Scaling"),
        ("3: L f f f", {}, "-+++-", "Scaling"),
        ("0: L", {}, "-+++-", "Scaling"),
        ("3: L f u", {}, "-+++-", "Scaling"),
        ("3: L f x", {}, "-++++", "Replacing"),
        ("3: L f c", {"replicas": 3}, "-++++", "Replacing"),
        ("3: L f f'", {}, "-+++-", "Rolling"),
        ("3: L f f", {"workload": {"differs": True}}, "-+++-", "Rolling"),
        ("3: L f f", {"workload": False}, "-+++-", "Rolling"),
        ("3: L f' f'", {"versions": {1: "3.5.30", 2: "3.5.30"}}, "-+++-", "Upgrading"),
        ("3: L f w", {}, "--+-+", "SplitBrain"),
        ("1: w", {"quorum": False}, "----+", "SplitBrain"),
        ("3: L f f", {"foreign": 1}, "-++-+", "ForeignMember"),
        ("3: L f f", {"revisions": {0: 3, 1: 3, 2: 3}}, "-++-+", "DataRewound"),
        ("3: L f f", {"alarms": {1: AlarmKind.NO_SPACE}}, "--+-+", "NoSpace"),
        ("3: L f f", {"alarms": {1: AlarmKind.CORRUPT}}, "--+-+", "Corrupt"),
        ("3: L f f", {"spec": {"security": {"enableAuth": True}}}, "-+++-", "EnablingAuth"),
        ("3: L f f", {"spec": {"security": {"enableAuth": True}}, "auth": True}, "+++--", "AllMembersHealthy"),
        ("3: L f f", {"deleting": True}, "-+++-", "Deleting"),
        ("0: c", SLEPT, "+----", "Asleep"),
        ("0: .", {"replicas": 0}, "+----", "Asleep"),
        ("0: .", {}, "---+-", "FallingAsleep"),
        ("0: d*", {"replicas": 0}, "---+-", "FallingAsleep"),
        ("3: c . .", SLEPT, "---+-", "Waking"),
        ("3: d . .", {"config": "force 0"}, "---+-", "Waking"),
        ("3: c c c", SLEPT | {"last_known": [0, 1, 2]}, "----+", "QuorumLost"),
        ("3: f f f", {"quorum": False, "said": {"leader": member_id(0)}}, "???-?", "QuorumUnconfirmed"),
    ],
)  # fmt: skip
def test_a_situation(text, options, expected, why):
    status = status_of(picture(text, **options), [("MakeNextMove", DONE)], [])

    assert (signs(status), reason(status, "Ready")) == (expected, why)
    assert [it.type for it in status.conditions] == list(TYPES)
    assert {it.observed_generation for it in status.conditions} == {1}
    assert all(it.message for it in status.conditions)


def test_ready_pods_that_we_cannot_reach_are_not_called_dead():
    view = picture("3: L f f")
    silent = picture("3: d d d", now=view.now)
    ready = [pod_of(view, n) for n in range(3)]
    status = status_of(with_pods(silent, ready), [], [])

    assert (signs(status), reason(status, "Available")) == ("???-?", "Unreachable")


def pod_of(view, ordinal):
    return view.replicas[ordinal].pod


def with_pods(view, pods):
    replicas = tuple(replace(it, pod=pod) for it, pod in zip(view.replicas, pods, strict=True))
    return replace(view, replicas=replicas)


@pytest.mark.parametrize(
    ("text", "said", "ready", "progressing"),
    [
        ("3: L f f", DONE, "+ AllMembersHealthy", "- AllMembersHealthy"),
        ("3: L f f", Wait("Defragmenting", "defragmenting"), "+ AllMembersHealthy", "+ Tending"),
        ("3: L f d", DONE, "- MembersUnhealthy", "- MembersUnhealthy"),
        ("3: L f d", Retry(5, "Grace", "waits"), "- MembersUnhealthy", "+ MembersUnhealthy"),
        ("3: L f f", Blocked("SpecInvalid", "bad", "mend it"), "- SpecInvalid", "- SpecInvalid"),
        ("5: L f f", Blocked("SecretMissing", "no", "make it"), "- SecretMissing", "- SecretMissing"),
        ("3: L f w", Stop(30, "SplitBrain", "two"), "- SplitBrain", "- SplitBrain"),
    ],
)  # fmt: skip
def test_what_the_pass_said_counts(text, said, ready, progressing):
    status = status_of(picture(text), [("Look", DONE), ("MakeNextMove", said)], [])

    found = {it.type: f"{SIGNS[it.status]} {it.reason}" for it in status.conditions}
    assert (found["Ready"], found["Progressing"]) == (ready, progressing)


def test_a_paused_cluster_says_so_and_still_tells_how_it_is():
    status = status_of(picture("3: L f d", spec={"paused": True}), [], [])

    found = {it.type: f"{SIGNS[it.status]} {it.reason}" for it in status.conditions}
    assert found["Paused"] == "+ Paused"
    assert found["Progressing"] == "- Paused"
    assert found["Degraded"] == "+ MembersUnhealthy"
    assert status.doing == "paused: only looking"


def test_a_replacement_is_called_so_until_it_votes():
    removed = picture("3: L f x")
    status = status_of(removed, [WORK], [])
    added = picture("3: L f u", status=status)
    status = status_of(added, [WORK], [])

    assert reason(status, "Ready") == "Replacing"
    status = status_of(picture("3: L f f", status=status), [], [])
    assert reason(status, "Ready") == "AllMembersHealthy"


def test_a_replacement_stays_one_while_something_is_blocked():
    blocked = ("Move", Blocked("SecretMissing", "a secret is missing", "make it"))
    status = status_of(picture("3: L f x"), [blocked], [])
    status = status_of(picture("3: L f u", status=status), [blocked], [])

    assert reason(status, "Degraded") == "Replacing"


def test_waking_goes_on_after_the_force_is_off():
    asleep = status_of(picture("0: c", **SLEPT), [], [])
    waking = status_of(picture("3: d . .", status=asleep, config="existing 0"), [], [])

    assert reason(waking, "Ready") == "Waking"


def test_times_tell_of_transitions():
    first = status_of(picture("3: L f f"), [], [])
    later = status_of(told(picture("3: L f d"), first, after=60), [], [])

    times = {it.type: it.last_transition_time for it in later.conditions}
    assert times["Ready"] != times["Available"]
    assert times["Available"] == conditions.find(first.conditions, "Available").last_transition_time
    assert (first.conditions[0].last_transition_time, times["Ready"]) == (
        "2023-11-14T22:13:20Z",
        "2023-11-14T22:14:20Z",
    )


def test_conditions_of_others_stay():
    theirs = conditions.Condition(type="Backed", status="True", reason="ByThem")
    status = status_of(picture("3: L f f", status=EtcdClusterStatus(conditions=(theirs,))), [], [])

    assert status.conditions[0] == theirs
    assert len(status.conditions) == 7


def test_no_message_counts_seconds():
    """A sentence that changes by itself would be written again and again."""
    early, late = picture("3: L d! f'", away={1: 5}), picture("3: L d! f'", away={1: 5000})

    assert [it.message for it in status_of(early, [], []).conditions] == [
        it.message for it in status_of(late, [], []).conditions
    ]


def test_the_version_in_an_upgrade_is_told():
    status = status_of(picture("3: L f f'", versions={2: "3.5.30"}), [], [])

    assert status.conditions[0].message == f"to be upgraded to {VERSION}: shop-2"
    assert status.version == "3.5.30"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("3: L f f", {}, "all 3 members are healthy and up to date"),
        ("1: L", {"versions": {0: "3.6.16-rc.0"}}, "the only member is healthy and up to date"),
        ("1: L", {"image_version": ""}, "the only member is healthy and up to date"),
        ("3: L f f", {"image_version": "3.6.4"}, "all 3 members are healthy; they run etcd 3.6.16, not 3.6.4 as asked: their image is of another version than its name says"),
        ("1: L", {"image_version": "3.6.4"}, "the only member is healthy; it runs etcd 3.6.16, not 3.6.4 as asked: its image is of another version than its name says"),
        ("2: L f", {"versions": {1: "3.6.4"}, "image_version": "3.6.4"}, "all 2 members are healthy; shop-0 runs etcd 3.6.16, not 3.6.4 as asked: its image is of another version than its name says"),
    ],
)  # fmt: skip
def test_another_version_than_was_asked_for_is_told(text, options, message):
    status = status_of(picture(text, **options), [("MakeNextMove", DONE)], [])

    ready = conditions.find(status.conditions, "Ready")
    assert (ready.status, ready.reason, ready.message) == ("True", "AllMembersHealthy", message)
    assert status.doing == "nothing to do"
