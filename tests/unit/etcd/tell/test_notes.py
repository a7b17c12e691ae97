"""What a move leaves behind, and whether it was made at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.etcd_views import picture
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.decide import moves
from stateward.etcd.decide.moves import Promote
from stateward.etcd.model.view import Config
from stateward.etcd.tell.notes import noting, was_made

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


NEW = Config((("shop-0", "https://shop-0:2380"), ("shop-1", "https://shop-1:2380")), existing=False)
DONE_SO = Retry(0.0, "WriteConfig", "")
LATER = Retry(2.0, "PeerUnreachable", "")


@pytest.mark.parametrize(
    ("status", "config", "outcome", "expected"),
    [
        pytest.param(EtcdClusterStatus(), NEW, DONE_SO, 2, id="they begin"),
        pytest.param(EtcdClusterStatus(), NEW, LATER, 0, id="nobody was told"),
        pytest.param(
            EtcdClusterStatus(beginning=2), replace(NEW, existing=True), DONE_SO, 2, id="they did"
        ),
        pytest.param(
            EtcdClusterStatus(beginning=2, cluster_id="c1"), NEW, LATER, 0, id="they agreed"
        ),
    ],
)
def test_who_began_is_kept_until_they_agree(
    status: EtcdClusterStatus, config: Config, outcome: Outcome, expected: int
) -> None:
    view = picture("2: . .", status=status)
    assert noting(status, view, moves.WriteConfig(config, ""), outcome).beginning == expected
