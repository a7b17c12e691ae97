"""What a cluster was before, against what it is: is it still the same data? Pure."""

from __future__ import annotations

from stateward.core import moments
from stateward.etcd.model.members import MemberStatus, quorum
from stateward.etcd.model.view import View
from stateward.kube import conditions

#: The word by which a person is told that data was lost.
REWOUND = "DataRewound"
#: Seconds: an election takes about one, and is repeated a few times at most.
_ELECTION = 15.0


def answers(view: View) -> tuple[MemberStatus, ...]:
    """Return what was said by those who belong to this cluster, as far as that is known."""
    kept = view.cluster.status.cluster_id
    said = (it.said for it in view.reached)
    return tuple(it for it in said if it is not None and kept in {"", f"{it.cluster_id:x}"})


def highest_revision(view: View) -> int:
    """Return the latest revision of the data that a member spoke of; 0 when nobody did."""
    return max((it.revision for it in answers(view)), default=0)


def rewound(view: View) -> bool:
    """Tell whether a quorum speaks for data that is older than what was there before.

    An emptied disk can bring back a cluster of the same id. The signs are then that revisions start
    again, and that one member is alone that had two others: lists change by one member at a time.
    Where a person accepted the loss, neither means anything.
    """
    former = view.cluster.status
    if not view.has_quorum or loss_is_accepted(view):
        return False
    missing = len(former.last_known_members) - len(view.roster)
    alone = len(view.voters) == 1 and missing > 1
    # A straggler's revision proves nothing, so the leader must be among those who answered.
    return alone or (view.leader is not None and highest_revision(view) < former.revision)


def loss_is_accepted(view: View) -> bool:
    """Tell whether a person accepted that data is lost: in a recovery, or when told of a loss.

    An approval that was there before the loss was told is used up by then: see tell/notes.py.
    """
    status = view.cluster.status
    if recovers(view):
        return True
    told = conditions.find(status.conditions, "Degraded")
    is_told = told is not None and told.reason == REWOUND
    return is_told and has_approval(view) and status.recovery is None


def has_approval(view: View) -> bool:
    """Tell whether the spec says that a loss of data is accepted."""
    approval = view.cluster.spec.quorum_recovery
    return approval is not None and approval.accept_data_loss


def recovers(view: View) -> bool:
    """Tell whether a recovery that a person approved is under way."""
    recovery = view.cluster.status.recovery
    return recovery is not None and not recovery.done


def may_be_electing(view: View) -> bool:
    """Tell whether enough voters answer to agree on a leader, and had not long to do so."""
    known = view.cluster.status.last_known_members
    voters = {it.name for it in known if not it.learner}
    there = sum(it.name in voters for it in view.reached)
    if not voters or there < quorum(len(voters)):
        return False
    told = conditions.find(view.cluster.status.conditions, "Quorate")
    if told is None or told.status == "True":
        return True
    since = moments.from_rfc3339(told.last_transition_time) if told.last_transition_time else 0.0
    return told.status == "Unknown" and view.now - since < _ELECTION
