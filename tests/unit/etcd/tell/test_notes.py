"""What a move leaves behind, and whether it was made at all."""

from __future__ import annotations

import pytest

from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.etcd.decide.moves import Promote
from stateward.etcd.tell.notes import was_made

MOVE = Promote(7, "shop-2")


@pytest.mark.parametrize(
    ("outcome", "made"),
    [
        (Retry(0.0, "Promote", "giving shop-2 its vote"), True),
        (Retry(0.25, "LearnerBehind", "giving shop-2 its vote: it must catch up first"), False),
        (Retry(0.25, "EtcdPacing", "giving shop-2 its vote: etcd wants quiet"), False),
        (Wait("PodsLeaving", "waiting"), False),
        (Blocked("NameTaken", "it is somebody else's", "delete it"), False),
        (DONE, False),
    ],
)
def test_only_a_move_that_was_made_counts(outcome: Outcome, made: bool) -> None:
    assert was_made(MOVE, outcome) is made
