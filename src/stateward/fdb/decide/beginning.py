"""Who coordinates first: chosen from pods, before there is a database that could be asked.

A database is begun once. Where anything says that there is one, none is begun: a second one with
the same processes would be the end of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.questions import (
    FieldPath,
    Fixed,
    coordinator_priority,
    pending_seconds,
    zone_of,
)
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.decide.coordinators import Candidate, Rule, TooFew, choose
from stateward.fdb.model.addresses import Address, ip_of, parse_all
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import dns_name
from stateward.fdb.views import ClusterView, GroupView, PodSeen

TLS_PORT: Final = 4500
PLAIN_PORT: Final = 4501
#: In how many seconds to look again.
PAUSE: Final = 15.0
#: How many to begin with where more data halls or data centers follow: theirs come with them.
_FIRST: Final = {Redundancy.THREE_DATA_HALL: 3}


@dataclass(frozen=True, slots=True)
class Begin:
    """Who coordinates first."""

    coordinators: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class NotYet:
    """Why nobody is chosen now, and in how many seconds to look again; None: there is no need."""

    why: str
    after: float | None = PAUSE


def begin(view: ClusterView) -> Begin | NotYet:
    """Return who coordinates first, as many as shall and each in another zone; or why not yet."""
    if why := _has_begun(view):
        return NotYet(why, None)
    if said := view.spec.partial_connection_string.coordinators:
        return Begin(tuple(it for text in said for it in parse_all(text)))
    if coming := tuple(_coming(view)):
        are = "is" if len(coming) == 1 else "are"
        return NotYet(f"{some_of([it.name for it in coming], 1)} {are} still to come")
    found = choose((), tuple(_candidates(view)), _rule(view.spec))
    if isinstance(found, TooFew):
        because = "; ".join(found.because)
        return NotYet(
            f"{found.wanted} coordinators are needed, and {found.found} could be: {because}"
        )
    return Begin(tuple(it.address for it in found.chosen))


def _has_begun(view: ClusterView) -> str:
    if view.connection is not None or view.status.connection_string:
        return "it has a connection string already"
    if view.spec.seed_connection_string:
        return "it joins the database of seedConnectionString"
    if view.configured or view.status.configured:
        return "its database was made once, but nobody knows any more where it is"
    return ""


def _rule(spec: FoundationDBClusterSpec) -> Rule:
    """Return how many there shall be; all are here, so nothing but zones keeps them apart."""
    mode = Redundancy(spec.database_configuration.redundancy_mode)
    count = _FIRST.get(mode, mode.coordinators)
    said = {it: coordinator_priority(spec, it) for it in ProcessClass}
    return Rule(count, count, count, {kind: it for kind, it in said.items() if it is not None})


# ------------------------------------------------------------------ who could
def _eligible(view: ClusterView) -> Iterator[GroupView]:
    spec = view.spec
    named = {*spec.process_groups_to_remove, *spec.process_groups_to_remove_without_exclusion}
    for it in view.groups:
        is_going = it.marked or it.leaving or str(it.id) in named
        if not is_going and coordinator_priority(spec, it.process_class) is not None:
            yield it


def _coming(view: ClusterView) -> Iterator[GroupView]:
    """Yield who could if they ran, and may well soon: who waits for too long is not waited for."""
    patience = pending_seconds(view.spec)
    for it in _eligible(view):
        if it.pod is None:
            lasts = it.lasts(GroupConditionType.MISSING_POD, view.now) or 0.0
        elif it.pod.phase == "Pending":
            lasts = view.now - it.pod.created
        else:
            continue
        if lasts < patience:
            yield it


def _candidates(view: ClusterView) -> Iterator[Candidate]:
    for it in _eligible(view):
        pod = it.pod
        if pod is None or pod.phase != "Running" or pod.terminating_since is not None:
            continue
        host = _host(view, it, pod)
        if host:
            address = _address(view.spec, host)
            yield Candidate(it.name, address, it.process_class, _zone(view.spec, it, pod))


def _zone(spec: FoundationDBClusterSpec, group: GroupView, pod: PodSeen) -> str:
    match zone_of(spec):
        case FieldPath("spec.nodeName"):
            return pod.node
        case FieldPath("metadata.name"):
            return group.name
        case Fixed():
            # All of this Kubernetes cluster are one zone; until others join, nodes must do.
            return pod.node
        case _:
            return group.zone


# ------------------------------------------------------------------ where they are
def _address(spec: FoundationDBClusterSpec, host: str) -> Address:
    tls = spec.main_container.enable_tls
    return Address(host, TLS_PORT if tls else PLAIN_PORT, tls)


def _host(view: ClusterView, group: GroupView, pod: PodSeen) -> str:
    """Return by what a group is found; empty: by nothing yet."""
    routing = view.spec.routing
    if routing.use_dns_in_cluster_file:
        return dns_name(group.name, view.key.name, view.key.namespace, routing.dns_domain)
    if routing.public_ip_source == "service":
        return next(iter(group.addresses), "")
    known = [found for it in pod.ips if (found := ip_of(it)) is not None]
    wanted = {4: False, 6: True}.get(routing.pod_ip_family or 0)
    return next((it for it in known if wanted is None or (":" in it) == wanted), "")
