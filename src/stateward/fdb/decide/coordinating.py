"""Who coordinates, who could, and whether that must change: what a view says to the rules.

A coordinator is named in the way that all processes can be named in: by name or by address, with
TLS or without. While a cluster is on its way from one to the other, the way of today stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.questions import coordinator_priority, is_target
from stateward.fdb.decide import coordinators as rules
from stateward.fdb.decide.configuration import wanted
from stateward.fdb.decide.coordinators import Candidate, Rule, TooFew, rule_of
from stateward.fdb.decide.layouts.families import names_lead_to
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import Address, host_of
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.model.names import dns_name
from stateward.fdb.status.configuration import configuration
from stateward.fdb.status.coordinators import connection_string, coordinators
from stateward.fdb.status.processes import Reporting, roster
from stateward.fdb.views import ClusterView, GroupView

_COORDINATES: Final = "coordinator"
_OTHER_POD: Final = GroupConditionType.INCORRECT_POD_SPEC
_CLASSES: Final = {it.value: it for it in ProcessClass}


@dataclass(frozen=True, slots=True)
class CoordinatorPlan:
    """What is wrong with the coordinators, and who they shall be; None: no change can be made.

    ``lost``: one of them is no process that reports, so that little more may be lost.
    """

    wrong: tuple[str, ...] = ()
    change: tuple[Address, ...] | None = None
    lost: bool = False
    why_not: str = ""


# ------------------------------------------------------------------ who coordinates
def coordinators_now(view: ClusterView) -> frozenset[Address] | Unknown:
    """Return who coordinates, by the database's own word; names where they go by names."""
    found = _string(view)
    return frozenset(found.value) if isinstance(found, Known) else found


def _string(view: ClusterView) -> Fact[tuple[Address, ...]]:
    """Return the coordinators in their order; where a status has none, those it was asked by."""
    told = connection_string(view.database)
    if isinstance(told, Known):
        every = tuple(it.canonical for it in told.value.coordinators)
        return Known(every, told.at, told.source)
    if view.connection is None:
        return told
    return Known(tuple(it.canonical for it in view.connection.coordinators), view.now, "us")


def coordinates(
    view: ClusterView, group: GroupView, addresses: frozenset[Address] | Unknown
) -> bool:
    """Tell whether a group coordinates, or may: by address, by name, or by what it says it does."""
    if isinstance(addresses, Unknown):
        return True
    hosts = {it.host for it in addresses}
    if not hosts.isdisjoint(_hosts(view, group)):
        return True
    entries = (it.entry for it in group.processes)
    said = [it.roles for it in entries if it.roles is not UNSET]
    return any(role.role == _COORDINATES for some in said for role in some)


def _hosts(view: ClusterView, group: GroupView) -> frozenset[str]:
    """Return every host that a group has or had, and the name that its pod has."""
    name = dns_name(group.name, view.key.name, view.key.namespace, view.spec.routing.dns_domain)
    told = (it.localities.get(locality.DNS_NAME, "") for it in group.processes)
    listening = (it.host for one in group.processes for it in one.addresses)
    return frozenset(map(str.lower, (name, *group.addresses, *told, *listening)))


def goes_with_its_pod(at: Address, group: GroupView) -> bool:
    """Tell whether an address is that of a pod; those of services and names outlive it.

    On the embedded Kubernetes a pod of the same name has the same address of the loopback device.
    """
    if at.is_name or group.pod is None or at.host not in group.pod.ips:
        return False
    return not ip_address(at.host).is_loopback


# ------------------------------------------------------------------ who could
@dataclass(frozen=True, slots=True)
class _Manner:
    """How coordinators are named: by name or by address, with TLS or without."""

    named: bool
    tls: bool

    def address_of(self, it: Reporting) -> Address | None:
        """Return where a process is found in this manner; None: it is not."""
        found = next((one for one in it.addresses if one.tls is self.tls), None)
        if found is None or not self.named:
            return found
        name = _name(it)
        return Address(name, found.port, found.tls) if name else None


def _name(it: Reporting) -> str:
    try:
        return host_of(it.localities.get(locality.DNS_NAME, ""))
    except ValueError:
        return ""


def _manner(view: ClusterView, every: Iterable[Reporting]) -> _Manner:
    """Return how to name coordinators: as asked if all can be named so, else as they are now."""
    asked = _Manner(view.spec.routing.use_dns_in_cluster_file, view.spec.main_container.enable_tls)
    now = _string(view)
    if not isinstance(now, Known) or not now.value:
        return asked
    some = [it for it in every if it.entry.class_type != ProcessClass.TEST]
    some = [it for it in some if it.entry.excluded is not True]
    tls = asked.tls if all(_listens(it, tls=asked.tls) for it in some) else now.value[0].tls
    is_named = any(it.is_name for it in now.value)
    # Everybody has an address; that all have a name, which leads there, must be waited for.
    can_be = (is_named or all(map(_name, some))) and names_lead_to(view) is not None
    return _Manner(asked.named and can_be, tls)


def _listens(it: Reporting, *, tls: bool) -> bool:
    return any(one.tls is tls for one in it.addresses)


def candidates(view: ClusterView) -> tuple[Candidate, ...]:
    """Return every process that reports, also of other clusters, and what speaks against it."""
    return _Scene(view).candidates()


class _Scene:
    """All who report, how they are named, and who of them coordinates."""

    def __init__(self, view: ClusterView, elsewhere: Collection[str] = ()) -> None:
        found = roster(view.database)
        self._view = view
        self._elsewhere = frozenset(elsewhere)
        self._groups = {str(it.id): it for it in view.groups}
        spec = view.spec
        self._named = (
            *spec.process_groups_to_remove, *spec.process_groups_to_remove_without_exclusion
        )  # fmt: skip
        self._alone = rule(view).count == 1
        self.unknown = found.reason if isinstance(found, Unknown) else ""
        self._every: list[Reporting] = []
        if isinstance(found, Known):
            self._every = [it for some in found.value.groups.values() for it in some]
            self._every += found.value.nameless
        self._manner = _manner(view, self._every)
        self._addresses = {it.key: self._manner.address_of(it) for it in self._every}
        now, seen = _string(view), coordinators(view.database)
        self.told = now.value if isinstance(now, Known) else ()
        every = seen.value if isinstance(seen, Known) else ()
        away = [it.address for it in every if not it.reachable]
        aliases = self._known_as({it.host for it in (*self.told, *away)})
        self.now = tuple(aliases.get(it, it) for it in self.told)
        self._silent = frozenset(aliases.get(it, it) for it in away)

    def candidates(self) -> tuple[Candidate, ...]:
        """Return everybody who reports."""
        return tuple(map(self._candidate, self._every))

    def coordinating(self) -> tuple[Candidate, ...]:
        """Return those who coordinate, as far as they report."""
        now = set(self.now)
        return tuple(self._candidate(it) for it in self._every if self._addresses[it.key] in now)

    def _known_as(self, hosts: set[str]) -> dict[Address, Address]:
        """Return as what processes at some hosts are known, and how each is named."""
        return {
            alias: address
            for it in self._every
            if (address := self._addresses[it.key]) is not None
            and (_name(it) in hosts or any(one.host in hosts for one in it.addresses))
            for alias in _aliases(it)
        }

    def _candidate(self, it: Reporting) -> Candidate:
        address, told, where = self._addresses[it.key], it.entry.class_type, it.localities
        kind = ProcessClass.UNSET if told is UNSET else _CLASSES.get(told, ProcessClass.UNSET)
        return Candidate(
            name=where.get(locality.PROCESS) or it.instance or it.key,
            address=address or Address(it.key, 0),
            process_class=kind,
            zone=where.get(locality.ZONE, ""),
            data_center=where.get(locality.DATA_CENTER, ""),
            data_hall=where.get(locality.DATA_HALL, ""),
            objection=self._objection(it, address),
        )

    def _objection(self, it: Reporting, address: Address | None) -> str:
        if address is None:
            kind = "name" if self._manner.named else "address"
            return f"tells no {kind} {'with' if self._manner.tls else 'without'} TLS"
        why = _excluded(it) or self._going(it.instance)
        if why:
            return why
        if address in self._silent:
            return "does not answer"
        return "" if address in self.now else self._busy(it, address)

    def _going(self, instance: str) -> str:
        """Return why a group will not be there for long."""
        if not instance:
            return "does not say whose it is"
        group = self._groups.get(instance)
        if group is None:
            return "is about to go" if instance in self._elsewhere else ""
        if group.marked or group.leaving:
            return "is about to go"
        return "shall be removed" if is_target(self._named, group.id) else ""

    def _busy(self, it: Reporting, address: Address) -> str:
        """Return why one is not chosen now that may well coordinate where it already does."""
        if it.entry.under_maintenance is True:
            return "is under maintenance"
        group = self._groups.get(it.instance)
        pod = group.pod if group is not None else None
        ends = pod is not None and pod.terminating_since is not None
        is_old = group is not None and pod is not None and group.obsolete_pod == pod.uid
        if ends or is_old:
            return "has a pod that is made anew"
        # The only one would have to make way for its own pod then, and others after it.
        waits = group is not None and self._alone and group.has(_OTHER_POD)
        is_lost = waits and group is not None and goes_with_its_pod(address, group)
        return "has a pod that shall be made anew" if is_lost else ""


def _excluded(it: Reporting) -> str:
    if it.entry.excluded is UNSET:
        return "does not say whether it is excluded"
    return "is excluded" if it.entry.excluded else ""


def _aliases(it: Reporting) -> list[Address]:
    """Return every address under which a process may be known as a coordinator."""
    name = _name(it)
    names = [Address(name, one.port, one.tls) for one in it.addresses] if name else []
    return [one.canonical for one in it.addresses] + names


# ------------------------------------------------------------------ must it change?
def rule(view: ClusterView) -> Rule:
    """Return how many coordinators there shall be, where, and of which classes."""
    said = {it: coordinator_priority(view.spec, it) for it in ProcessClass}
    priorities = {it: found for it, found in said.items() if found is not None}
    shall, live = rule_of(wanted(view.spec), priorities), configuration(view.database)
    if not isinstance(live, Known) or live.value.redundancy not in set(Redundancy):
        return shall
    # As long as the database is in more places than it shall be, so are they.
    is_ = rule_of(live.value, priorities)
    return is_ if is_.count > shall.count else shall


def judge(view: ClusterView, elsewhere: Collection[str] = ()) -> CoordinatorPlan:
    """Return what is wrong with the coordinators, and who they shall be instead.

    ``elsewhere`` are groups of other operators that shall go.
    """
    scene = _Scene(view, elsewhere)
    if scene.unknown or not scene.told:
        why = scene.unknown or "nobody knows who coordinates"
        return CoordinatorPlan(why_not=why)
    asked = rule(view)
    wrong = (
        *rules.objections(scene.now, scene.coordinating(), asked),
        *(
            f"{is_} shall go by {shall}"
            for is_, shall in zip(scene.told, scene.now, strict=True)
            if is_ != shall
        ),
    )
    if not wrong:
        return CoordinatorPlan()
    every = scene.candidates()
    there = {it.address for it in every}
    lost = any(it not in there for it in scene.now)
    found = rules.choose(scene.now, every, asked)
    if isinstance(found, TooFew):
        why = f"there are {found.found} of {found.wanted} who may: {'; '.join(found.because)}"
        return CoordinatorPlan(wrong, None, lost, why)
    return CoordinatorPlan(wrong, tuple(sorted(it.address for it in found.chosen)), lost)
