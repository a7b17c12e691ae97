"""The chart as pictures: what is seen, and the one move that is right. Rows are the table's."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.etcd_views import peer_url, picture
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.decide import chart, moves
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.view import Config


def words(move: moves.Move) -> str:
    """Return a move in a few words."""
    match move:
        case moves.WriteConfig(config=config):
            return f"WriteConfig {_config(config)}"
        case moves.WriteWorkload(replicas=replicas, start=start, size_only=alone):
            span = f"{start}+{replicas}" if start else str(replicas)
            return f"WriteWorkload {span}{' size' if alone else ''}"
        case moves.MoveLeader(leader=leader, to=to):
            return f"MoveLeader {leader.name} {to.name}"
        case moves.Await(reason=reason) | moves.Refuse(reason=reason):
            return f"{type(move).__name__} {reason}"
        case _:
            return " ".join([move.name, *_whom(move)])


def _whom(move: moves.Move) -> list[str]:
    """Return the name of what a move is about, if it is about one thing."""
    if member := getattr(move, "member", ""):
        return [member]
    parts = (getattr(move, name, None) for name in ("pod", "claim", "replica"))
    return [it.name for it in parts if it is not None]


def _config(config: Config) -> str:
    state = "existing" if config.existing else "new"
    names = " ".join(name.rpartition("-")[2] for name, _ in config.initial_cluster)
    return f"{'force ' if config.force_new_cluster else ''}{state} {names}"


AWAIT_MEMBERS, AWAIT_PODS = "Await MembersUnhealthy", "Await PodsLeaving"

_OURS = EtcdClusterStatus(auth_enabled=True)

AWAIT_LEARNER = "Await LearnerJoining"
LEAVE, FREE = "LeaveClaim data-shop-2", "DeleteClaim data-shop-2"
#: What members start with says that shop-2 is about to join.
LISTED = {"config": "existing 0 1 2 3"}

ROWS: list[tuple[str, str, dict[str, Any], str]] = [
    # ------------------------------------------------------------ nobody answers
    (
        "18 nothing is there: first what members start with",
        "3:",
        {"config": None},
        "WriteConfig new 0 1 2",
    ),
    (
        "18 who wrote that may have died before it was on record",
        "3:",
        {"config": "new 0 1 2"},
        "Await RecordingBeginning",
    ),
    (
        "18 then all of them at once",
        "3:",
        {"config": "new 0 1 2", "status": EtcdClusterStatus(beginning=3)},
        "WriteWorkload 3",
    ),
    ("18 nothing is there, and none is wanted", "0:", {"config": None}, "WriteWorkload 0"),
    ("15 asleep as asked", "0:", {"replicas": 0}, "Rest"),
    (
        "15 asleep, and the workload differs",
        "0:",
        {"workload": {"differs": True, "replicas": 0}},
        "WriteWorkload 0",
    ),
    (
        "15 asleep on the data of another version, and only the workload tells which",
        "0: c",
        {"workload": {"differs": True, "replicas": 0, "version": "3.4.1"}},
        "Refuse UpgradeRefused",
    ),
    (
        "15 asleep since ever: another version may be wanted",
        "0:",
        {"workload": {"differs": True, "replicas": 0, "version": "3.4.1"}},
        "WriteWorkload 0",
    ),
    ("16 made asleep, now wanted", "3:", {"replicas": 0, "config": None}, "WriteConfig new 0 1 2"),
    (
        "16 the one that sleeps is woken by force",
        "3: c",
        {"replicas": 0, "latched": True, "last_known": [0]},
        "WriteConfig force existing 0",
    ),
    (
        "16 then gets its pod",
        "3: c",
        {"replicas": 0, "latched": True, "last_known": [0], "config": "force 0"},
        "WriteWorkload 1",
    ),
    (
        "16 other volumes are there: without force",
        "3: c c",
        {"replicas": 0, "latched": True, "last_known": [0]},
        "WriteConfig existing 0",
    ),
    (
        "16 somebody scaled three to none: all come back, without force",
        "3: c c c",
        {"replicas": 0, "latched": True, "last_known": [0, 1, 2], "config": "existing 0 1 2"},
        "WriteWorkload 3",
    ),
    (
        "16 its status was emptied in its sleep: who has a volume comes back",
        "3: c",
        {"replicas": 0, "latched": False, "config": "existing 0"},
        "WriteWorkload 1",
    ),
    (
        "16 its config is gone too",
        "3: c",
        {"replicas": 0, "latched": False, "config": None},
        "WriteConfig existing 0",
    ),
    ("16 pods of before still leave", "3: d*", {"replicas": 0}, "Await PodsLeaving"),
    (
        "17 the workload is not as it should be",
        "3: d d d",
        {"workload": {"differs": True}},
        "WriteWorkload 3",
    ),
    (
        "17 somebody took a pod away",
        "3: d d .",
        {"last_known": [0, 1, 2], "replicas": 2},
        "WriteWorkload 3",
    ),
    (
        "17 the workload is gone, its members are known",
        "3: c c c",
        {"workload": False, "latched": True, "last_known": [0, 1, 2], "config": "existing 0 1 2"},
        "WriteWorkload 3",
    ),
    ("17 the config is gone", "3: d d d", {"config": None}, "WriteConfig existing 0 1 2"),
    (
        "17 the config of a beginning is gone",
        "3: x x x",
        {"config": None, "status": EtcdClusterStatus(beginning=3)},
        "WriteConfig new 0 1 2",
    ),
    (
        "17 nobody knows whether it was the config of a beginning",
        "3: x x x",
        {"config": None, "status": EtcdClusterStatus()},
        "WriteConfig existing 0 1 2",
    ),
    (
        "17 it was one of others",
        "3: x x x",
        {"config": None, "status": EtcdClusterStatus(beginning=5)},
        "WriteConfig existing 0 1 2",
    ),
    (
        "17b a pod that cannot run is made from the new template",
        "3: d!' d!' d!'",
        {},
        "DeletePod shop-0",
    ),
    (
        "17b but not on emptyDir, where its data would go",
        "3: d!' d!' d!'",
        {"storage": "emptyDir"},
        "Await Unreachable",
    ),
    (
        "4 a new cluster forms",
        "3: x x x",
        {"latched": False, "config": "new 0 1 2"},
        "Await FirstQuorumPending",
    ),
    ("4 all are silent", "3: d d d", {}, "Await Unreachable"),
    # ------------------------------------------------------------ somebody answers
    ("2 force ends as soon as it woke", "3: L", {"config": "force 0"}, "WriteConfig existing 0"),
    (
        "2 force ends without a quorum too",
        "3: n d d",
        {"config": "force 0"},
        "WriteConfig existing 0",
    ),
    ("3 split brain is only reported", "3: L f w", {}, "Refuse SplitBrain"),
    (
        "3 an answer from another cluster than the known one",
        "1: w",
        {"quorum": False},
        "Refuse SplitBrain",
    ),
    (
        "3a older data than was there before",
        "3: L f f",
        {"revisions": {0: 1, 1: 1, 2: 1}},
        "Refuse DataRewound",
    ),
    ("4 quorum lost", "3: n d d", {}, "Refuse QuorumLost"),
    (
        "4 somebody leads, and we cannot ask",
        "3: f f d",
        {"quorum": False, "said": {"leader": 0xA2}},
        "Await QuorumUnconfirmed",
    ),
    (
        "4 quorum lost: a missing pod comes back",
        "3: n d .",
        {"last_known": [0, 1, 2], "replicas": 2},
        "WriteWorkload 3",
    ),
    ("5 a member that is not ours", "3: L f f", {"foreign": 1}, "Refuse ForeignMember"),
    # ------------------------------------------------------------ learners
    ("6 a learner in sync gets its vote", "3: L f l", {}, "Promote shop-2"),
    ("6 also while another is away, if a quorum stays", "4: L f d l", {}, "Promote shop-3"),
    ("6a it is not wanted any more", "2: L f l", {}, "RemoveMember shop-2"),
    ("6a not even if it never started", "2: L f u?", {}, "RemoveMember shop-2"),
    ("6b it starts on old data", "3: L f u!&", {"away": {2: 1}}, FREE),
    ("6b it may have ended before it was listed", "3: L f u!", {"away": {2: 29}}, AWAIT_LEARNER),
    ("6b it had its time", "3: L f u!", {"away": {2: 31}}, FREE),
    ("6b its old volume is on its way out", "3: L f u!%", {}, "DeletePod shop-2"),
    ("6b it is made from the new template", "3: L f u'", {}, "DeletePod shop-2"),
    ("6b an old etcd hangs in its place", "3: L u f", {"away": {1: 31}}, "DeleteClaim data-shop-1"),
    ("6b maybe it only takes its time", "3: L u f", {"away": {1: 29}}, "Await LearnerJoining"),
    ("6b its pod came late", "3: L u+ f", {"away": {1: 31}}, "Await LearnerJoining"),
    ("6c it has not started yet", "3: L f u", {}, "Await LearnerJoining"),
    ("6c it started and went away", "3: L f b!", {"away": {2: 61}}, LEAVE),
    ("6c it joins anew", "3: L f b!&", {"away": {2: 61}}, "RemoveMember shop-2"),
    # ------------------------------------------------------------ objects follow the list
    (
        "7 members are told of the list",
        "3: L f f",
        {"config": "new 0 1 2"},
        "WriteConfig existing 0 1 2",
    ),
    (
        "7 one that is about to join may be on it",
        "3: L f",
        {"config": "existing 0 1 2"},
        "AddLearner shop-2",
    ),
    ("8 a pod for every member", "3: L f f", {"replicas": 2}, "WriteWorkload 3"),
    ("8 and none beyond", "3: L f f x", {"replicas": 4}, "WriteWorkload 3"),
    ("8 the template differs", "3: L f f", {"workload": {"differs": True}}, "WriteWorkload 3"),
    ("8 the workload is gone", "3: L f f", {"workload": False}, "WriteWorkload 3"),
    (
        "13a the volume of a removed member goes",
        "2: L f c",
        {"replicas": 2},
        "DeleteClaim data-shop-2",
    ),
    # ------------------------------------------------------------ members that are not well
    ("9 one is away: patience", "3: L f d", {"away": {2: 59}}, "Await MembersUnhealthy"),
    ("9 patience ends: its volume says whose it was", "3: L f d!", {"away": {2: 61}}, LEAVE),
    ("9 patience ends", "3: L f d!&", {"away": {2: 61}}, "RemoveMember shop-2"),
    ("9 a volume that goes needs no word", "3: L f d!%", {"away": {2: 61}}, "RemoveMember shop-2"),
    ("10 a removed one's volume goes before another has its place", "4: L f x& f", LISTED, FREE),
    ("10 and its pod, which starts nothing any more", "4: L f x&% f", LISTED, "DeletePod shop-2"),
    ("10 then it joins, whatever leaves", "4: L f x&%* f", LISTED, "AddLearner shop-2"),
    ("10 nobody left this one", "4: L f x f", LISTED, "AddLearner shop-2"),
    ("9 nobody knows since when", "3: L f d!", {}, "Await MembersUnhealthy"),
    (
        "9 not without a quorum of the rest",
        "2: L d!&",
        {"away": {1: 61}, "quorum": True},
        "RemoveMember shop-1",
    ),
    (
        "9 no node for it: a new volume would not help",
        "3: L f d?",
        {"away": {2: 999}},
        "Await MembersUnhealthy",
    ),
    ("9 its pod cannot leave", "3: L f d*", {"away": {2: 999}}, "Await MembersUnhealthy"),
    ("9 not wanted any more: at once", "2: L f d?", {}, "RemoveMember shop-2"),
    ("9c it is made from the new template", "3: L f d!'", {}, "DeletePod shop-2"),
    (
        "9 corrupt",
        "3: L f f&",
        {"alarms": {2: AlarmKind.CORRUPT}, "away": {2: 61}},
        "RemoveMember shop-2",
    ),
    (
        "9 corrupt in the middle of a roll: no template is to blame",
        "3: L' f' f&",
        {"alarms": {2: AlarmKind.CORRUPT}, "away": {2: 599}},
        "RemoveMember shop-2",
    ),
    (
        "10 the highest pod is not listed: it leaves, and its volume, before it joins",
        "3: L f x",
        {},
        "WriteWorkload 2",
    ),
    (
        "10 a pod in a gap joins as it is",
        "3: L x f",
        {"config": "existing 0 1 2"},
        "AddLearner shop-1",
    ),
    # ------------------------------------------------------------ sizes
    ("11 all is as it should be", "3: L f f", {}, "Rest"),
    ("12 one more: it is announced", "3: L f", {}, "WriteConfig existing 0 1 2"),
    (
        "12 an old volume of its name goes first",
        "3: L f c",
        {"replicas": 2},
        "DeleteClaim data-shop-2",
    ),
    ("12 and is waited for", "3: L f c%", {"replicas": 2}, "Await OldVolumeLeaving"),
    ("13 one fewer", "2: L f f", {}, "RemoveMember shop-2"),
    ("13 the leader hands over first", "2: f f L", {}, "MoveLeader shop-2 shop-0"),
    ("13 two become one", "1: L f", {}, "RemoveMember shop-1"),
    (
        "13 fewer helps one that waits for room",
        "3: L d? f f f",
        {"away": {1: 61}},
        "RemoveMember shop-4",
    ),
    ("13 but not in a hurry", "3: L d? f f f", {"away": {1: 10}}, "Await MembersUnhealthy"),
    ("14 the last one sleeps", "0: L", {}, "WriteWorkload 0"),
    (
        "14 not before what is left of others is gone",
        "0: L x",
        {"replicas": 1},
        "Await PodsLeaving",
    ),
    ("14 not before it is alone", "0: L f", {}, "RemoveMember shop-1"),
    (
        "14 only the first one can sleep",
        "0: . L",
        {"last_known": [1], "config": "existing 0 1"},
        "AddLearner shop-0",
    ),
    # ------------------------------------------------------------ rolling
    ("19 followers first, from the top", "3: L' f' f'", {}, "DeletePod shop-2"),
    ("19 one at a time", "3: L' f' d", {}, "Await MembersUnhealthy"),
    ("19 the leader hands over", "3: L' f f", {}, "MoveLeader shop-0 shop-1"),
    ("19 nobody to hand over to", "1: L'", {}, "DeletePod shop-0"),
    (
        "19 one that is behind is waited for",
        "3: L' f' f",
        {"lags": {2: 5000}},
        "Await CatchingUp",
    ),
    ("19 one that serves nobody yet is waited for", "3: L' f' f^", {}, "Await PodsStarting"),
    ("19 one that the new template may mend is not", "3: L' f' f^'", {}, "DeletePod shop-2"),
    (
        "19 on emptyDir a member joins anew",
        "3: L' f' f'",
        {"storage": "emptyDir"},
        "RemoveMember shop-2",
    ),
    ("19 the only copy is kept", "1: L'", {"storage": "emptyDir"}, "Refuse OnlyCopy"),
    ("19 growing comes first", "3: L' f", {"config": "existing 0 1 2"}, "AddLearner shop-2"),
    (
        "19 two minors at once",
        "3: L f f",
        {"versions": {0: "3.4.1", 1: "3.4.1", 2: "3.4.1"}, "workload": {"differs": True}},
        "Refuse UpgradeRefused",
    ),
    (
        "19 a version that may not follow leaves the rest going",
        "2: L f f x",
        {"versions": {0: "3.4.1", 1: "3.4.1", 2: "3.4.1"}, "replicas": 4},
        "WriteWorkload 3 size",
    ),
    # ------------------------------------------------------------ logins; test_space has the rest
    (
        "21 logins are asked for",
        "3: L f f",
        {"spec": {"security": {"enableAuth": True}}},
        "Await RecordingLogins",
    ),
    (
        "21 it is on record that they are ours",
        "3: L f f",
        {"spec": {"security": {"enableAuth": True}}, "status": _OURS},
        "SetAuth",
    ),
    (
        "21 they are turned off where they are ours",
        "3: L f f",
        {"auth": True, "status": _OURS},
        "SetAuth",
    ),
    (
        "21 also where the only copy is kept from a restart",
        "1: L'",
        {"storage": "emptyDir", "spec": {"security": {"enableAuth": True}}},
        "Await RecordingLogins",
    ),
    # ------------------------------------------------------------ people
    ("paused", "3: L f", {"spec": {"paused": True}}, "Await Paused"),
    ("deleted", "3: L f", {"deleting": True}, "Rest"),
    (
        "17a somebody else's workload",
        "3:",
        {"workload": {"owner_uid": "other", "replicas": 0}},
        "Refuse NameTaken",
    ),
    # ------------------------------------------------------------ found by test_laws.py
    (
        "2a a silent pod without a workload does not sleep: no force",
        "1: d",
        {"workload": False, "last_known": [0], "config": None},
        "WriteConfig existing 0",
    ),
    (
        "17 the workload is gone, and some of its members too",
        "3: n d- d-",
        {"workload": False, "quorum": False},
        "WriteWorkload 3",
    ),
    (
        "17 the workload of a beginning is gone, and one of its members",
        "2: n d-",
        {"workload": False, "quorum": False, "config": "new 0 1"}
        | {"status": EtcdClusterStatus(beginning=2)},
        "WriteWorkload 2",
    ),
    (
        "7 a learner has an alias before it has a vote",
        "2: L l",
        {"config": Config((("started-0", peer_url(0)), ("shop-1", peer_url(1))), existing=True)},
        "WriteConfig existing 0 1",
    ),
    ("9d a leaving pod answers to the end, and does not count", "3: L f* f'", {}, AWAIT_MEMBERS),
    ("9d nor when there are to be fewer", "2: L f* f", {}, AWAIT_MEMBERS),
    ("14 the last pod was let go: it is not called back", "0: L", {"replicas": 0}, AWAIT_PODS),
    ("14 a sleeper has nothing beside it", "0: L x*", {"replicas": 1}, AWAIT_PODS),
    ("12 the old pod of a joining member leaves first", "2: L x*", {"replicas": 1}, AWAIT_PODS),
]


@pytest.mark.parametrize(
    ("text", "options", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_the_one_right_move(text: str, options: dict[str, Any], expected: str) -> None:
    assert words(chart.next_move(picture(text, **options))) == expected


def test_every_act_is_chosen_somewhere() -> None:
    chosen = {
        words(chart.next_move(picture(text, **options))).split()[0] for _, text, options, _ in ROWS
    }
    apart = {
        "OwnClaim",
        "GrowClaim",
        "RecreateWorkload",
        "SaveSurvivor",
        "Compact",
        "Defragment",
        "Disarm",
    }  # in test_recovery, test_space
    assert chosen >= {act.__name__ for act in moves.Act.__args__} - apart
