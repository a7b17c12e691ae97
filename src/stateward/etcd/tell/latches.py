"""What is learned once and kept: which cluster this is, who was in it, how far its data had come.

A pass in which nobody answers learns nothing, and must not take anything away: what is kept here
decides later whether an empty disk may be trusted.
"""

from __future__ import annotations

from stateward.etcd.api.status import EtcdClusterStatus, KnownMember
from stateward.etcd.model import history
from stateward.etcd.model.names import pod_name
from stateward.etcd.model.view import View


def cluster_id(view: View) -> str:
    """Return the cluster's id: the kept one, or the only one that a quorum of ours speaks for."""
    kept = view.cluster.status.cluster_id
    if kept or not view.roster or _is_doubtful(view) or len(view.cluster_ids) != 1:
        return kept
    return next(iter(view.cluster_ids))


def last_known_members(view: View) -> tuple[KnownMember, ...]:
    """Return the list that a quorum agreed to last; one that is in doubt changes nothing."""
    kept = view.cluster.status.last_known_members
    doubtful = _is_doubtful(view) or len(view.cluster_ids) != 1 or history.rewound(view)
    if not view.roster or doubtful:
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


def _is_doubtful(view: View) -> bool:
    """Tell whether strangers are listed, or pods of an earlier cluster of this name may answer."""
    workload = view.workload
    theirs = workload is not None and workload.owner_uid not in {"", view.cluster.metadata.uid}
    return theirs or any(entry.ordinal is None for entry in view.roster)


def revision(view: View, told: EtcdClusterStatus) -> int:
    """Return the revision to keep: never less, and not written anew for every put.

    It goes along when the rest of the status changes, and alone when it grew by a tenth and 1000.
    Only where a person accepted the loss of data it begins again from less.
    """
    former = view.cluster.status
    if _is_doubtful(view):
        return former.revision
    seen = history.highest_revision(view)
    if history.loss_is_accepted(view) and view.has_quorum and 0 < seen < former.revision:
        return seen
    worth_it = told != former or seen >= former.revision * 1.1 + 1000
    return max(former.revision, seen) if worth_it else former.revision
