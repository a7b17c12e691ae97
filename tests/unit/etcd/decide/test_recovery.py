"""A recovery as pictures: one step after the other, and what a withdrawn approval still changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fakes.etcd_views import NOW, REVISION, picture, told
from stateward.core import moments
from stateward.core.facts import Known
from stateward.core.outcome import DONE, Blocked
from stateward.etcd.api.spec import EtcdClusterSpec
from stateward.etcd.api.status import RecoveryReport
from stateward.etcd.decide import chart, moves
from stateward.etcd.model.view import View
from stateward.etcd.tell.notes import noting
from stateward.etcd.tell.status import status_of
from stateward.kube.meta import Condition
from unit.etcd.decide.test_chart import words

APPROVED = {"quorumRecovery": {"acceptDataLoss": True}}
SAVED = RecoveryReport(survivor="shop-2", pod_uid="pod-2", snapshot="/rescue/2.db")
#: Two of three are silent, and 2 is the survivor: what there is besides, step by step.
STEPS = [
    ("its data is saved first", "3: d d n", None, {}, "SaveSurvivor shop-2"),
    ("the others go", "3: d d n", SAVED, {}, "WriteWorkload 2+1"),
    ("they are waited for", "3: d* d* n", SAVED, {"replicas": 1, "start": 2}, "Await PodsLeaving"),
    (
        "it is told that it is alone",
        "3: d- d- n",
        SAVED,
        {"replicas": 1, "start": 2},
        "WriteConfig force existing 2",
    ),
    (
        "and starts once so, having missed it before",
        "3: d- d- n",
        SAVED,
        {"replicas": 1, "start": 2, "config": "force 2"},
        "DeletePod shop-2",
    ),
    (
        "its list is recorded before anything else",
        "3: c c L",
        SAVED,
        {"replicas": 1, "start": 2, "config": "force 2", "last_known": [0, 1, 2]},
        "Await RecordingMembers",
    ),
]


def since(type_: str, status: str, reason: str, seconds: float) -> tuple[Condition, ...]:
    moment = moments.to_rfc3339(NOW - seconds)
    return (Condition(type=type_, status=status, reason=reason, last_transition_time=moment),)


#: What was told of the quorum, and for how long.
LOST_LONG = since("Quorate", "False", "QuorumLost", 60)
LOST_NOW = since("Quorate", "False", "QuorumLost", 9)
UNSURE = since("Quorate", "Unknown", "Unreachable", 60)


def recovering(
    text: str,
    report: RecoveryReport | None,
    options: dict[str, Any],
    *,
    approved: bool,
    known: tuple[Condition, ...] = LOST_LONG,
) -> View:
    drawn = picture(text, spec=APPROVED if approved else {}, **options)
    status = msgspec.structs.replace(drawn.cluster.status, recovery=report, conditions=known)
    return told(drawn, status)


@pytest.mark.parametrize(
    ("text", "report", "options", "expected"),
    [step[1:] for step in STEPS],
    ids=[step[0] for step in STEPS],
)
def test_row_4a_one_step_after_the_other(
    text: str, report: RecoveryReport | None, options: dict[str, Any], expected: str
) -> None:
    assert words(chart.next_move(recovering(text, report, options, approved=True))) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected", "is_kept"),
    [
        pytest.param("3: d d n", {}, "Refuse QuorumLost", False, id="nothing was done yet"),
        pytest.param(
            "3: d- d- n",
            {"replicas": 1, "start": 2},
            "WriteWorkload 3",
            False,
            id="the others come back",
        ),
        pytest.param(
            "3: d- d- n",
            {"replicas": 1, "start": 2, "config": "force 2"},
            "DeletePod shop-2",
            True,
            id="too late: it may have started alone",
        ),
    ],
)
def test_a_withdrawn_approval(
    text: str, options: dict[str, Any], expected: str, is_kept: bool
) -> None:
    view = recovering(text, SAVED, options, approved=False)
    assert words(chart.next_move(view)) == expected
    after = noting(view.cluster.status, view, moves.Rest(), DONE)
    assert (after.recovery is not None) == is_kept


def test_an_approval_is_used_up() -> None:
    done = msgspec.structs.replace(SAVED, done=True)
    assert words(chart.next_move(recovering("3: d d n", done, {}, approved=True))) == (
        "Refuse QuorumLost"
    )


# -------------------------------------------------------------------------- is it lost at all?


@pytest.mark.parametrize("report", [None, SAVED], ids=["before", "saved"])
@pytest.mark.parametrize(
    ("known", "options"),
    [
        pytest.param(LOST_LONG, {"said": {"leader": 0xA1}}, id="somebody speaks of a leader"),
        pytest.param(LOST_NOW, {}, id="it was there a moment ago"),
        pytest.param(UNSURE, {}, id="nobody could be asked"),
        pytest.param((), {}, id="nothing was told yet"),
    ],
)
def test_a_majority_that_may_be_alive_loses_nothing(
    report: RecoveryReport | None, known: tuple[Condition, ...], options: dict[str, Any]
) -> None:
    text = "3: f f f" if options else "3: d d n"
    view = recovering(text, report, {"quorum": False, **options}, approved=True, known=known)
    assert not isinstance(chart.next_move(view), moves.Act)


def test_an_approval_in_advance_does_not_count_for_a_loss_that_comes_later() -> None:
    view = recovering("3: L f f", None, {}, approved=True, known=())
    before = noting(view.cluster.status, view, moves.Rest(), DONE)
    assert before.recovery == RecoveryReport(done=True)
    lost = recovering("3: d d n", before.recovery, {}, approved=True)
    assert words(chart.next_move(lost)) == "Refuse QuorumLost"
    withdrawn = recovering("3: d d n", before.recovery, {}, approved=False)
    assert noting(withdrawn.cluster.status, withdrawn, moves.Rest(), DONE).recovery is None
    anew = recovering("3: d d n", None, {}, approved=True)
    assert words(chart.next_move(anew)) == "SaveSurvivor shop-2"


def test_on_empty_dir_the_survivor_is_the_only_copy_and_stays() -> None:
    judgement = chart.judge(recovering("3: d d n", None, {"storage": "emptyDir"}, approved=True))
    assert words(judgement.move) == "Refuse QuorumLost"
    assert [(it.step, it.guard) for it in judgement.refusals] == [("Recover", "OnlyCopy")]


# -------------------------------------------------------------------------- who survives


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param("5: n n d d d", {"lags": {0: 5}}, "SaveSurvivor shop-1", id="most of the log"),
        pytest.param("5: n n d d d", {"revisions": {1: 1001}}, "SaveSurvivor shop-1", id="data"),
        pytest.param("5: n n d d d", {}, "SaveSurvivor shop-0", id="or the first"),
        pytest.param("3: d d l", {}, "Refuse SurvivorMissing", id="no learner"),
        pytest.param("3: d d a", {}, "Refuse SurvivorMissing", id="nobody else"),
        pytest.param("3: d d d", {}, "Refuse SurvivorMissing", id="nobody silent"),
        pytest.param(
            "3: d d n", {"last_known": [0, 1]}, "Refuse SurvivorMissing", id="nobody unrecorded"
        ),
    ],
)
def test_the_best_survivor(text: str, options: dict[str, Any], expected: str) -> None:
    assert words(chart.next_move(recovering(text, None, options, approved=True))) == expected


NAMED = {"quorumRecovery": {"acceptDataLoss": True, "survivor": "shop-1"}}


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param("3: n d- d-", {"replicas": 1}, "WriteWorkload 3", id="its pod was taken away"),
        pytest.param("3: n d- d-", {"workload": False}, "WriteWorkload 3", id="and the workload"),
        pytest.param("3: n d!' d!", {}, "DeletePod shop-1", id="a new template may mend it"),
        pytest.param("3: n d d", {}, "Refuse SurvivorMissing", id="only a person can help"),
        pytest.param("3: n n d", {}, "SaveSurvivor shop-1", id="it is there"),
    ],
)
def test_a_survivor_that_does_not_answer_is_brought_back(
    text: str, options: dict[str, Any], expected: str
) -> None:
    """4b, after 17 and 17b: a person who names a survivor must not keep it away."""
    view = recovering(text, None, {**options, "quorum": False}, approved=True)
    spec = msgspec.convert({**msgspec.to_builtins(view.cluster.spec), **NAMED}, EtcdClusterSpec)
    view = replace(view, cluster=msgspec.structs.replace(view.cluster, spec=spec))
    assert words(chart.next_move(view)) == expected


def test_calls_for_an_election_make_nobody_a_better_survivor() -> None:
    view = recovering("5: n n d d d", None, {"lags": {0: 5}}, approved=True)
    first, *others = view.replicas
    assert first.said is not None
    restless = replace(first, status=Known(replace(first.said, raft_term=9), NOW, first.name))
    view = replace(view, replicas=(restless, *others))
    assert words(chart.next_move(view)) == "SaveSurvivor shop-1"


# -------------------------------------------------------------------------- a loss that is accepted

REWOUND = [
    pytest.param("3: L . .", {"last_known": [0, 1, 2], "replicas": 1}, id="removed by hand"),
    pytest.param("3: L f f", {"revisions": {0: 7, 1: 7, 2: 7}}, id="older data"),
]


@pytest.mark.parametrize(("text", "options"), REWOUND)
def test_a_loss_that_was_told_can_be_accepted(text: str, options: dict[str, Any]) -> None:
    known = since("Degraded", "True", "DataRewound", 60)
    view = recovering(text, None, options, approved=True, known=known)
    assert words(chart.next_move(view)) in {"Rest", "Await RecordingMembers"}
    status = noting(status_of(view, [], []), view, moves.Rest(), DONE)
    assert [it.name for it in status.last_known_members] == [
        it.name for it in view.replicas if it.listed
    ]
    assert status.revision == options.get("revisions", {}).get(0, REVISION)
    assert status.recovery == RecoveryReport(done=True)
    assert not isinstance(chart.next_move(told(view, status)), moves.Refuse)


@pytest.mark.parametrize(("text", "options"), REWOUND)
def test_a_loss_is_not_accepted_before_it_is_told(text: str, options: dict[str, Any]) -> None:
    view = recovering(text, None, options, approved=True, known=())
    said = [("MakeNextMove", Blocked("DataRewound", "data was lost", ""))]
    for _ in range(2):
        assert words(chart.next_move(view)) == "Refuse DataRewound"
        status = noting(status_of(view, said, []), view, moves.Rest(), DONE)
        assert status.recovery == RecoveryReport(done=True)
        view = told(view, status)
