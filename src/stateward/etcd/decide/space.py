"""Alarms, and volumes that shall be larger. Pure."""

from __future__ import annotations

from stateward.core import moments
from stateward.core.facts import Known
from stateward.etcd.decide import guards
from stateward.etcd.decide.moves import (
    Compact,
    Defragment,
    Disarm,
    GrowClaim,
    Move,
    MoveLeader,
    RecreateWorkload,
    Refuse,
)
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.view import Replica, View

#: What etcd allows a database where it does not say.
_DEFAULT_QUOTA = 2 * 1024**3
_ROOM = 0.9
#: Less than this is not worth a pause of a member.
_WORTH_IT = 1024**2
#: Seconds between two tries to make room in a full database.
_EVERY = 600.0


def quiet_the_removed(view: View) -> Move | None:
    """Take alarms back that members raised who are no longer listed."""
    listed = {it.member.id for it in view.roster}
    known = view.alarms.value if isinstance(view.alarms, Known) else ()
    gone = next((it for it in known if it.member_id and it.member_id not in listed), None)
    return Disarm(gone) if gone else None


def make_room(view: View) -> Move | None:
    """Heal a full database: forget history, give space back one member at a time, disarm."""
    alarms = view.alarms_of(AlarmKind.NO_SPACE)
    if not alarms or view.alarms_of(AlarmKind.CORRUPT):
        return None  # etcd compacts nothing while a member is corrupt: that one goes first
    cramped = [it for it in view.healthy_voters if not _has_room(view, it)]
    if not cramped:
        # One that is silent may be the one that is full.
        return Disarm(alarms[0]) if view.healthy_voters == view.voters else None
    if not _tried_lately(view):
        revision = max((it.said.revision for it in view.reached if it.said), default=0)
        return Compact(revision)
    slack = [it for it in cramped if _reclaimable(it)]
    if slack:
        # A member may still give space back after we stopped waiting for it. Then it is not well,
        # and the next one has to wait.
        return _give_back(view, slack) if guards.all_members_well(view) else None
    if any(view.is_outdated(it) for it in cramped) or grow_claims(view):
        return None  # they restart with other flags, and more room may be among them
    return Refuse(
        "NoSpace",
        "the database is full of data that is in use, and refuses writes",
        "delete keys, or raise quota-backend-bytes (and the volume) in options",
    )


def _give_back(view: View, slack: list[Replica]) -> Move:
    followers = [it for it in slack if it is not view.leader]
    if followers:
        return Defragment(followers[0])
    heirs = [it for it in guards.steady_voters(view) if it is not view.leader]
    if view.leader is not None and heirs:
        return MoveLeader(view.leader, heirs[0], "it answers nobody while it gives space back")
    return Defragment(slack[0])


def quota(view: View, replica: Replica) -> int | None:
    """Return how large the database of a member may grow: by its word, which older ones lack.

    None: nobody knows, since it was started with other flags than those of the template in force.
    What the spec wants beside that says nothing: a refused version keeps it out of the template.
    """
    said, workload = replica.said, view.workload
    if said is not None and said.db_size_quota:
        return said.db_size_quota
    if workload is None or view.is_outdated(replica):
        return None
    return workload.quota or _DEFAULT_QUOTA


def _has_room(view: View, replica: Replica) -> bool:
    said, limit = replica.said, quota(view, replica)
    return said is not None and limit is not None and said.db_size < _ROOM * limit


def _reclaimable(replica: Replica) -> bool:
    said = replica.said
    return said is not None and said.db_size - said.db_size_in_use >= _WORTH_IT


def _tried_lately(view: View) -> bool:
    last = view.cluster.status.last_defragmentation
    return last is not None and view.now - moments.from_rfc3339(last) < _EVERY


# -------------------------------------------------------------------------- volumes


def grow_claims(view: View) -> Move | None:
    """Ask for a workload that gives new members larger volumes, then for those that there are.

    The other way round a member that is lost meanwhile would get a small one, and with it all a
    small quota, by a roll, and the large one again by another.
    """
    workload = view.workload
    if workload is not None and workload.outgrown:
        return RecreateWorkload(workload.uid, "its volumes shall be larger")
    for it in view.replicas:
        claim = it.claim
        if claim is not None and it.listed is not None and claim.requested < view.wanted_bytes:
            return GrowClaim(claim, view.wanted_size)
    return None
