"""Whether a database can be made: enough processes found each other, in enough places."""

from __future__ import annotations

from stateward.core.facts import Unknown
from stateward.fdb.api import questions
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.held import is_tester, is_whole
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.status.processes import roster
from stateward.fdb.views import ClusterView, GroupView


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
    for name, can in (("data", _may_store), ("logs", _may_log)):
        zones = {it.zone for it in view.staying() if is_whole(it) and can(it)}
        if len(zones) < needed:
            return f"{name} must lie in {needed} zones, and processes report from {len(zones)}"
    return ""


def _is_late(view: ClusterView, group: GroupView) -> bool:
    """Tell whether a group has been coming for so long that nobody waits for it any more."""
    patience = questions.pending_seconds(view.spec)
    lasts = group.lasts(GroupConditionType.MISSING_PROCESSES, view.now)
    pending = group.lasts(GroupConditionType.POD_PENDING, view.now)
    return max(lasts or 0.0, pending or 0.0) > patience


def _may_store(group: GroupView) -> bool:
    return group.process_class.may_store


def _may_log(group: GroupView) -> bool:
    return group.process_class.may_log
