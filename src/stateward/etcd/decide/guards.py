"""Questions that must have the right answer before something is taken away. Pure."""

from __future__ import annotations

from stateward.etcd.model.members import quorum
from stateward.etcd.model.view import Replica, View


def is_steady(view: View, replica: Replica) -> bool:
    """Tell whether a member is healthy and to be counted on: a leaving pod answers to the end."""
    leaves = replica.pod is not None and replica.pod.deleting
    return view.is_healthy(replica) and not leaves


def steady_voters(view: View) -> tuple[Replica, ...]:
    """Return the voters that are healthy and whose pods stay."""
    return tuple(it for it in view.voters if is_steady(view, it))


def keeps_quorum_without(view: View, replica: Replica) -> bool:
    """Tell whether the others are a healthy quorum of what is left when a voter is removed."""
    others = [it for it in view.voters if it.ordinal != replica.ordinal]
    healthy = sum(is_steady(view, it) for it in others)
    return bool(others) and healthy >= quorum(len(others))


def keeps_quorum_while_away(view: View, replica: Replica) -> bool:
    """Tell whether the others are a healthy quorum while a voter restarts."""
    healthy = sum(is_steady(view, it) for it in view.voters if it.ordinal != replica.ordinal)
    return healthy >= quorum(len(view.voters))


def gains_quorum_with(view: View, learner: Replica) -> bool:
    """Tell whether a quorum of the enlarged cluster is healthy once a learner has a vote."""
    healthy = len(steady_voters(view)) + int(is_steady(view, learner))
    return healthy >= quorum(len(view.voters) + 1)


def list_is_on_record(view: View) -> bool:
    """Tell whether the status has the quorum's list, so that no two changes go unrecorded.

    After a crash the last recorded list is therefore at most one change old: a list that differs by
    more was not our doing.
    """
    recorded = {(it.id, it.learner) for it in view.cluster.status.last_known_members}
    return recorded == {(f"{it.member.id:x}", it.member.learner) for it in view.roster}


def all_members_well(view: View) -> bool:
    """Tell whether every listed member is healthy, stays, and has a vote."""
    return len(steady_voters(view)) == len(view.roster)
