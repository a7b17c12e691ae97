"""A recovery as pictures: one step after the other, and what a withdrawn approval still changes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fakes.etcd_views import picture
from stateward.core.outcome import DONE
from stateward.etcd.api.status import RecoveryReport
from stateward.etcd.decide import chart, moves
from stateward.etcd.model.view import View
from stateward.etcd.tell.notes import noting
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


def recovering(
    text: str, report: RecoveryReport | None, options: dict[str, Any], *, approved: bool
) -> View:
    spec = APPROVED if approved else {}
    drawn = picture(text, spec=spec, **options)
    status = msgspec.structs.replace(drawn.cluster.status, recovery=report)
    return picture(text, spec=spec, status=status, **options)


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
