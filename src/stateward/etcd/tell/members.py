"""One line for every member: who it is, how it is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.core import moments
from stateward.etcd.api.status import KnownMember, MemberReport
from stateward.etcd.model.members import Member
from stateward.etcd.model.names import ordinal_of
from stateward.etcd.model.trouble import trouble_of
from stateward.etcd.model.view import Replica, View
from stateward.etcd.tell.situation import is_asleep

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_STRANGER = "is not a pod of this cluster"


def reports(view: View) -> tuple[MemberReport, ...]:
    """Return a line for each listed member; without a quorum, for each that is remembered."""
    rows = {row.name: row for row in _rows(view)}  # the name is the key of the list: only one each
    return tuple(rows[name] for name in sorted(rows, key=lambda it: (rows[it].ordinal or 0, it)))


def db_size(size: int) -> str:
    """Write a size with two digits that count, so that it is not rewritten for every put.

    >>> db_size(0), db_size(20480), db_size(25_300_000), db_size(1_070_000_000)
    ('', '20 KiB', '24 MiB', '1 GiB')
    """
    if size <= 0:
        return ""
    number, unit = float(size), 0
    while _two_digits(number) >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{_two_digits(number):g} {_UNITS[unit]}"


def index_lag(behind: int) -> int:
    """Return by which power of ten a member is behind; what is normal under load is none.

    >>> index_lag(-3), index_lag(999), index_lag(1000), index_lag(123_456)
    (0, 0, 1000, 100000)
    """
    return 0 if behind < 1000 else int(10 ** (len(str(behind)) - 1))


def role_of(view: View, replica: Replica) -> str:
    """Return what a member is to the others."""
    said, listed = replica.said, replica.listed
    if listed is None and not view.cluster.status.cluster_id:
        return "joining"
    if listed is not None and not listed.member.started:
        return "joining"
    if said is None or not view.is_healthy(replica):
        return "learner" if listed is not None and listed.member.learner else "unknown"
    if not replica.votes:
        return "learner"
    return "leader" if said.leader == said.member_id else "follower"


def _two_digits(number: float) -> float:
    return float(f"{number:.1e}")


def _rows(view: View) -> Iterator[MemberReport]:
    by_ordinal = {it.ordinal: it for it in view.replicas}
    if view.has_quorum:
        for entry in view.roster:
            found = by_ordinal.get(entry.ordinal) if entry.ordinal is not None else None
            yield _stranger(view, entry.member) if found is None else _row(view, found)
        return
    known = view.cluster.status.last_known_members
    if is_asleep(view):
        yield from (_sleeper(view, past) for past in known)
        return
    for past in known:
        ordinal = _ordinal(view, past)
        replica = by_ordinal.get(ordinal) or Replica(ordinal, past.name, "")
        yield _row(view, replica, past.id, learner=past.learner)
    if not known:
        yield from (_row(view, it) for it in view.replicas if it.pod is not None)


def _row(view: View, replica: Replica, id_: str = "", *, learner: bool = False) -> MemberReport:
    said, listed = replica.said, replica.listed
    if listed is not None:
        id_, learner = f"{listed.member.id:x}", listed.member.learner
    healthy = view.is_healthy(replica)
    leader = view.leader.said if view.leader is not None else None
    behind = leader.raft_index - said.raft_index if leader is not None and said is not None else 0
    return MemberReport(
        name=replica.name,
        id=id_,
        ordinal=replica.ordinal,
        role=role_of(view, replica),
        learner=learner,
        healthy=healthy,
        unhealthy_since=_since(view, replica.name, id_, healthy=healthy),
        version=said.version if said is not None else "",
        db_size=db_size(said.db_size) if said is not None else "",
        index_lag=index_lag(behind),
        message=trouble_of(view, replica),
    )


def _ordinal(view: View, past: KnownMember) -> int:
    return ordinal_of(view.cluster.metadata.name, past.name) or 0


def _sleeper(view: View, past: KnownMember) -> MemberReport:
    """Return the line of a member that nobody expects to answer."""
    return MemberReport(
        name=past.name,
        id=past.id,
        ordinal=_ordinal(view, past),
        role="unknown",
        learner=past.learner,
        healthy=False,
        message="asleep",
    )


def _stranger(view: View, member: Member) -> MemberReport:
    """Return the line of a member that the operator knows nothing about."""
    id_ = f"{member.id:x}"
    name = f"{member.name or 'unnamed'} ({id_})"
    return MemberReport(
        name=name,
        id=id_,
        ordinal=-1,
        role="unknown",
        learner=member.learner,
        healthy=False,
        unhealthy_since=_since(view, name, id_, healthy=False),
        message=_STRANGER,
    )


def _since(view: View, name: str, id_: str, *, healthy: bool) -> str | None:
    """Return since when this very member is not healthy: one that took its name starts anew.

    Without a quorum nobody can be judged, and all clocks stop: when it is back, a member that is
    a moment slower than the others must not be taken for one that has been broken all along.
    """
    if healthy or not view.has_quorum:
        return None
    for row in view.cluster.status.members:
        same = row.name == name and (row.id == id_ or not row.id or not id_)
        since = row.unhealthy_since if same else None
        if since and moments.from_rfc3339(since) <= view.now:  # a clock may have been set back
            return since
    return moments.to_rfc3339(view.now)
