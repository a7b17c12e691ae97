"""What is learned once and kept: which cluster this is, who was in it, how far its data had come.

A pass in which nobody answers learns nothing, and must not take anything away: what is kept here
decides later whether an empty disk may be trusted.
"""

from __future__ import annotations

from stateward.etcd.api.status import EtcdClusterStatus, KnownMember
from stateward.etcd.model.members import MemberStatus
from stateward.etcd.model.names import pod_name
from stateward.etcd.model.view import View


def cluster_id(view: View) -> str:
    """Return the id of the cluster: the kept one, or the only one that a quorum speaks for."""
    kept = view.cluster.status.cluster_id
    if kept or not view.has_quorum or len(view.cluster_ids) != 1:
        return kept
    return next(iter(view.cluster_ids))


def last_known_members(view: View) -> tuple[KnownMember, ...]:
    """Return the list that a quorum agreed to last; one that is in doubt changes nothing."""
    kept = view.cluster.status.last_known_members
    strange = any(entry.ordinal is None for entry in view.roster)
    if not view.roster or strange or len(view.cluster_ids) != 1 or rewound(view):
        return kept
    name = view.cluster.metadata.name
    return tuple(
        KnownMember(
            name=pod_name(name, entry.ordinal),
            id=f"{entry.member.id:x}",
            learner=entry.member.learner,
        )
        for entry in sorted(view.roster, key=lambda it: it.ordinal or 0)
        if entry.ordinal is not None
    )


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
    In a recovery, for which a person accepted the loss, neither means anything.
    """
    former = view.cluster.status
    if not view.has_quorum or _recovers(view):
        return False
    alone = len(view.voters) == 1 and len(former.last_known_members) > 2
    return alone or highest_revision(view) < former.revision


def revision(view: View, told: EtcdClusterStatus) -> int:
    """Return the revision to keep: never less, and not written anew for every put.

    It goes along when the rest of the status changes, and alone when it grew by a tenth and 1000.
    Only in a recovery, for which a person accepted the loss of data, it begins again from less.
    """
    former = view.cluster.status
    seen = highest_revision(view)
    if _recovers(view) and view.has_quorum and 0 < seen < former.revision:
        return seen
    worth_it = told != former or seen >= former.revision * 1.1 + 1000
    return max(former.revision, seen) if worth_it else former.revision


def _recovers(view: View) -> bool:
    recovery = view.cluster.status.recovery
    return recovery is not None and not recovery.done
