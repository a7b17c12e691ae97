"""What a process finds when it starts: on its disk, in its flags, and at its peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward.core.chance import Chance
from stateward.emulate.etcd.servers import Exit, Server
from stateward.emulate.etcd.state import History, State
from stateward.etcd.model.members import Member

if TYPE_CHECKING:
    from stateward.emulate.etcd.council import Council

_REMOVED: Final = "the member has been permanently removed from the cluster"


def farewell(chance: Chance | None = None) -> Exit:
    """Return how one ends that was removed: at a start it is chance whether as a success."""
    return Exit(chance.below(2) if chance is not None else 0, _REMOVED)


def boot(council: Council, server: Server, chance: Chance) -> Exit | None:
    """Find out who a process is; return how it ends when it is nobody."""
    if not server.disk.empty:
        return _go_on(council, server, chance)
    start = server.start
    if (start.name, start.peer_url) not in start.initial:
        return Exit(1, f"couldn't find local name {start.name!r} in the initial cluster")
    return _join(council, server) if start.existing else _begin(council, server)


def _go_on(council: Council, server: Server, chance: Chance) -> Exit | None:
    """Go on as who it was: the flags about beginnings do not matter any more."""
    disk, state = server.disk, server.state
    if server.start.version[:2] < state.version:
        return Exit(1, "cluster cannot be downgraded to current version")
    if server.start.force:
        return _alone(council, server)
    return farewell(chance) if disk.member_id in state.removed else None


def _alone(council: Council, server: Server) -> Exit | None:
    """Drop everybody else, and keep the data."""
    disk = server.disk
    after = disk.state.alone(disk.member_id)
    if after is None or disk.history is None:
        return Exit(2, "panic: removed all voters")
    fork = disk.history.fork(disk.index)
    fork.append(after)
    disk.history, disk.index = fork, fork.last
    council.histories[fork.cluster_id] = fork
    return None


def _begin(council: Council, server: Server) -> Exit | None:
    """Begin a cluster, as one of those in the list, unless a peer knows that it began before."""
    start, disk = server.start, server.disk
    member_id = start.member_id(start.peer_url)
    peer = _peer(council, server)
    known = peer.state.members.get(member_id) if peer is not None else None
    if known is not None and known.started:
        return Exit(1, f"member {member_id:x} has already been bootstrapped")
    found = council.histories.get(start.cluster_id)
    if found is None:
        found = council.histories[start.cluster_id] = History(start.cluster_id, [_first(server)])
    disk.member_id, disk.history, disk.index = member_id, found, 0
    return None


def _first(server: Server) -> State:
    start = server.start
    listed = sorted((start.member_id(url), name, url) for name, url in start.initial)
    return State({id_: Member(id_, name, (url,)) for id_, name, url in listed})


def _join(council: Council, server: Server) -> Exit | None:
    """Join a cluster that is there: its list must be the one that the flags name."""
    start, disk = server.start, server.disk
    peer = _peer(council, server)
    if peer is None:
        return Exit(1, "cannot fetch cluster info from peer urls: could not retrieve it")
    urls = {url: id_ for id_, it in peer.state.members.items() for url in it.peer_urls}
    if len(urls) != len(start.initial):
        return Exit(1, "error validating peerURLs: member count is unequal")
    if urls.keys() != {url for _, url in start.initial}:
        return Exit(1, "error validating peerURLs: unmatched member while checking PeerURLs")
    if start.version[:2] < peer.state.version:
        return Exit(1, "incompatible with current running cluster")
    disk.member_id, disk.history, disk.index = urls[start.peer_url], peer.disk.history, -1
    return None


def _peer(council: Council, server: Server) -> Server | None:
    """Return somebody of the list who can be asked; it needs no majority to answer."""
    urls = {url for _, url in server.start.initial} - {server.start.peer_url}
    asked = (it for it in council.servers if it.start.peer_url in urls and it.booted)
    return next(
        (it for it in asked if council.links.reach(server, it) and it.disk.index >= 0), None
    )
