"""What a move itself leaves in the status, beside what is seen. Pure."""

from __future__ import annotations

import msgspec

from stateward.core import moments
from stateward.core.outcome import Outcome, Retry
from stateward.etcd.api.status import EtcdClusterStatus, RecoveryReport
from stateward.etcd.decide import moves, recovery
from stateward.etcd.model import history
from stateward.etcd.model.view import View


def noting(
    status: EtcdClusterStatus, view: View, move: moves.Move, outcome: Outcome
) -> EtcdClusterStatus:
    """Return the status with how members began, when space was reclaimed, how a recovery goes."""
    status = msgspec.structs.replace(status, beginning=_beginning(status, view, move, outcome))
    if was_made(move, outcome) and isinstance(move, moves.Compact | moves.Defragment):
        when = moments.to_rfc3339(view.now)
        status = msgspec.structs.replace(status, last_defragmentation=when)
    return _with_recovery(status, view)


def _beginning(status: EtcdClusterStatus, view: View, move: moves.Move, outcome: Outcome) -> int:
    """Return how many members began together, as long as nobody has seen them agree.

    Also by a config that is there: whoever wrote it may have died before it told.
    """
    if status.cluster_id or status.last_known_members:
        return 0
    is_told = isinstance(move, moves.WriteConfig) and was_made(move, outcome)
    config = move.config if isinstance(move, moves.WriteConfig) and is_told else view.config
    if config is not None and not config.existing:
        return len(config.initial_cluster)
    return status.beginning


def was_made(move: moves.Move, outcome: Outcome) -> bool:
    """Tell whether a move was made; one that etcd or Kubernetes put off ends in another word."""
    return isinstance(outcome, Retry) and outcome.reason == move.name


def _with_recovery(status: EtcdClusterStatus, view: View) -> EtcdClusterStatus:
    """Use an approval up once there is a quorum, and forget it when it is withdrawn.

    Also one that was given in advance: the loss that it was not given for must not find it there.
    """
    report = status.recovery
    if report is None:
        unused = view.has_quorum and history.has_approval(view)
        found = RecoveryReport(done=True) if unused else None
        return msgspec.structs.replace(status, recovery=found)
    is_over = report.done or view.has_quorum or not recovery.is_committed(view)
    if view.cluster.spec.quorum_recovery is None and is_over:
        return msgspec.structs.replace(status, recovery=None)
    if view.has_quorum and not report.done:
        done = msgspec.structs.replace(report, done=True)
        return msgspec.structs.replace(status, recovery=done)
    return status
