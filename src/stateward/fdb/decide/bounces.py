"""Which processes are restarted for other arguments: all that need it at once, or none yet.

Every restart is a recovery, so it is done once: everybody has the new files first. Upgrades to
versions that do not understand each other restart all processes: they are judged elsewhere
(upgrades/).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.api.questions import is_target, pending_seconds
from stateward.fdb.decide.held import Held, hold, is_tester, is_whole, order
from stateward.fdb.model.addresses import Address
from stateward.fdb.views import ClusterView, GroupView

#: A group with one of these gets its new arguments in another way, or cannot have them yet.
_NOT_YET: Final = (Is.INCORRECT_CONFIG_MAP, Is.SIDECAR_UNREACHABLE)
_NOT_NOW: Final = (Is.INCORRECT_POD_SPEC, *_NOT_YET)


@dataclass(frozen=True, slots=True)
class BouncePlan:
    """Whom to kill, so that they start anew; and for whom that has to wait."""

    kill: tuple[Address, ...] = ()
    groups: tuple[GroupView, ...] = ()
    waiting: tuple[Held, ...] = ()


def plan(view: ClusterView) -> BouncePlan:
    """Return which processes are restarted now; nobody while it has to wait for anybody."""
    if not any(it.has(Is.INCORRECT_COMMAND_LINE) for it in view.unwell):
        return BouncePlan()
    every = sorted((it for it in view.groups if _counts(view, it)), key=order)
    wanting = [it for it in every if it.has(Is.INCORRECT_COMMAND_LINE)]
    if not wanting:
        return BouncePlan()
    if not view.spec.automation_options.kill_processes:
        return BouncePlan(waiting=hold(wanting, "automationOptions.killProcesses is off"))
    # While listeners change no pod is made anew, so nobody waits for that.
    not_now = _NOT_YET if view.transport.converts else _NOT_NOW
    ready = [it for it in wanting if not it.has(*not_now)]
    ready = [it for it in ready if not is_left_out(view, it)]
    if waiting := _waiting(every, ready):
        return BouncePlan(waiting=waiting)
    addresses = tuple(it.addresses[0] for one in ready for it in one.processes)
    return BouncePlan(addresses, tuple(ready))


def _counts(view: ClusterView, it: GroupView) -> bool:
    """Tell whether a group stays, and is not given up for the time being."""
    if it.marked or it.leaving or is_tester(it) or it.has(Is.RESOURCES_TERMINATING):
        return False
    return not is_given_up(view, it)


def is_given_up(view: ClusterView, it: GroupView) -> bool:
    """Tell whether a group has been away for so long that nobody waits for it."""
    missing = it.lasts(Is.MISSING_PROCESSES, view.now)
    if missing is not None and missing > _patience(view):
        return True
    pending = it.lasts(Is.POD_PENDING, view.now)
    return pending is not None and pending > pending_seconds(view.spec)


def _patience(view: ClusterView) -> float:
    return view.spec.automation_options.ignore_missing_processes_seconds


def is_left_out(view: ClusterView, it: GroupView) -> bool:
    """Tell whether a group is not to be restarted, for a test."""
    return is_target(view.spec.buggify.ignore_during_restart, it.id)


def _waiting(every: Sequence[GroupView], ready: Sequence[GroupView]) -> tuple[Held, ...]:
    """Return whom a restart waits for: those without new files, and those that do not report."""
    stale = [it for it in every if it.has(Is.INCORRECT_CONFIG_MAP)]
    away = [it for it in ready if not _can_be_killed(it)]
    return (*hold(stale, "it has not the new files yet"), *hold(away, "it does not report"))


def _can_be_killed(it: GroupView) -> bool:
    return is_whole(it) and all(one.addresses for one in it.processes)
