"""Proof that nothing is needed of a group that does not report: all of it has its copies elsewhere.

Of its own disk nobody can tell. What can be told is that the database lacks nothing: every copy is
there without it, and no generation of logs names it. A database takes the better part of a minute
to notice that somebody is gone, so this is believed only of a group that has long been away.
"""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.exclusions import is_listed
from stateward.fdb.guards.database import can_lose_a_fault_domain, data_is_healthy
from stateward.fdb.guards.guard import refusals
from stateward.fdb.model.addresses import Address
from stateward.fdb.status.exclusions import Left, excluded, log_addresses
from stateward.fdb.views import ClusterView, GroupView

#: Seconds for which a group must have been away: more than twice what a database was seen to need.
LONG: Final = 120.0


def left_on(view: ClusterView, group: GroupView) -> Fact[Left]:
    """Return what a group that does not report still has, as far as others can tell."""
    if group.processes or not _is_long_gone(view, group):
        return Unknown(f"{group.id} has not been away for {LONG:.0f} s")
    listed = excluded(view.database)
    if isinstance(listed, Unknown):
        return listed
    by_locality = bool(view.spec.automation_options.use_localities_for_exclusion)
    if not is_listed(group, listed.value, by_locality=by_locality):
        return Known(Left("it is not excluded"), view.database.at, "the list of exclusions")
    logs = log_addresses(view.database)
    if isinstance(logs, Unknown):
        return logs
    if not {Address.parse(it).host for it in logs.value}.isdisjoint(group.addresses):
        return Known(Left("logs of a generation are on it"), view.database.at, "the logs")
    if refused := refusals((data_is_healthy, can_lose_a_fault_domain), view):
        return Unknown("; ".join(it.message for it in refused))
    return Known(Left(), view.database.at, "all copies that are elsewhere")


def _is_long_gone(view: ClusterView, group: GroupView) -> bool:
    """Tell whether a group has long been away: by its condition, or since it was proved before.

    Of a group that was proved nobody tells any more that its processes are missing.
    """
    away = group.lasts(GroupConditionType.MISSING_PROCESSES, view.now)
    return group.excluded or (away is not None and away >= LONG)
