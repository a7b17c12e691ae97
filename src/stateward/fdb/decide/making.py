"""Whether a database can be made, or have more copies: enough processes, in enough places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from stateward.core.facts import Unknown
from stateward.fdb.api import questions
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide import coordinating
from stateward.fdb.decide.coordinators import TooFew, choose
from stateward.fdb.decide.held import is_tester, is_whole
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model import locality
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration, Redundancy
from stateward.fdb.status.processes import Reporting, roster
from stateward.fdb.views import ClusterView, GroupView

#: Where copies need zones, and nothing else; of halls and data centers the database judges.
_BY_ZONES: Final = (Redundancy.SINGLE, Redundancy.DOUBLE, Redundancy.TRIPLE)
_CLASSES: Final = {it.value: it for it in ProcessClass}


def why_not(view: ClusterView) -> str:
    """Return what must come first; nothing: it can be made now.

    Whoever is still to come is waited for, since data is spread over all who are there when it
    is first written; but not for ever.
    """
    found = roster(view.database)
    if isinstance(found, Unknown):
        return f"who reports is unknown: {found.reason}"
    coming = [it for it in view.staying() if not is_whole(it) and not is_tester(it)]
    waited = [it for it in coming if not _is_late(view, it)]
    if waited:
        return f"{len(waited)} of {len(view.staying())} process groups do not report yet"
    needed = Redundancy(view.spec.database_configuration.redundancy_mode).fault_domains
    # Those of other clusters count, which join: each of them may be a zone of its own.
    every = [*found.value.nameless, *(it for some in found.value.groups.values() for it in some)]
    for name, can in (("data", _may_store), ("logs", _may_log)):
        mine = {it.zone for it in view.staying() if is_whole(it) and can(it.process_class)}
        zones = mine | _zones(every, can)
        if len(zones) < needed:
            return f"{name} must lie in {needed} zones, and processes report from {len(zones)}"
    return ""


def _is_late(view: ClusterView, group: GroupView) -> bool:
    """Tell whether a group has been coming for so long that nobody waits for it any more."""
    patience = questions.pending_seconds(view.spec)
    lasts = group.lasts(GroupConditionType.MISSING_PROCESSES, view.now)
    pending = group.lasts(GroupConditionType.POD_PENDING, view.now)
    return max(lasts or 0.0, pending or 0.0) > patience


def _may_store(kind: ProcessClass) -> bool:
    return kind.may_store


def _may_log(kind: ProcessClass) -> bool:
    return kind.may_log


# ------------------------------------------------------------------ more copies
def enough_zones(view: ClusterView, live: Configuration, step: Configuration) -> Refusal | None:
    """Refuse more copies than there are places for, or for those who then coordinate.

    A database would take the command, or refuse it without a word of places; and would then never
    have all its copies, or never as many coordinators as it can lose.
    """
    if step.redundancy not in _BY_ZONES or step.regions or not _is_more(live, step):
        return None
    found = roster(view.database)
    if isinstance(found, Unknown):
        return Refusal("enough_zones", f"nobody knows: {found.reason}")
    mode = Redundancy(step.redundancy)
    every = [*found.value.nameless, *(it for some in found.value.groups.values() for it in some)]
    choice = choose((), coordinating.candidates(view), coordinating.rule(view))
    could = choice.found if isinstance(choice, TooFew) else mode.coordinators
    storage, logs = len(_zones(every, _stores)), len(_zones(every, _logs))
    wanted = (mode.storage_replicas, mode.log_replicas, mode.coordinators)
    if all(is_ >= needed for is_, needed in zip((storage, logs, could), wanted, strict=True)):
        return None
    return Refusal(
        "enough_zones",
        f"{mode} must have {wanted[0]} zones with storage processes, {wanted[1]} with logs, and"
        f" {wanted[2]} with processes that may coordinate; {storage} zones have storage processes,"
        f" {logs} logs, and {could} could have a coordinator",
        "have processes in more zones (faultDomain says what a zone is: nodes, unless you say"
        f" otherwise), or set databaseConfiguration.redundancy_mode back to {live.redundancy}",
    )


def _is_more(live: Configuration, step: Configuration) -> bool:
    """Tell whether there shall be more copies than there are; of what is no mode, nobody knows."""
    try:
        is_, shall = Redundancy(live.redundancy), Redundancy(step.redundancy)
    except ValueError:
        return False
    return shall.storage_replicas > is_.storage_replicas


def _zones(every: Iterable[Reporting], can: Callable[[ProcessClass], bool]) -> set[str]:
    """Return where processes of some classes are that may be given something."""
    return {
        it.localities.get(locality.ZONE, "")
        for it in every
        if it.entry.excluded is not True and can(_class(it))
    } - {""}


def _class(it: Reporting) -> ProcessClass:
    return _CLASSES.get(str(it.entry.class_type), ProcessClass.UNSET)


def _stores(kind: ProcessClass) -> bool:
    """Tell whether data is put on a class while nothing is wrong."""
    return kind in {ProcessClass.STORAGE, ProcessClass.UNSET}


def _logs(kind: ProcessClass) -> bool:
    return kind.may_log
