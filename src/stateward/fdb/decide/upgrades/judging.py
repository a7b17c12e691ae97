"""Upgrades to a version that processes of the one before do not understand.

All of them change at once, so everything else comes first: it is the next line of releases, clients
can follow, every pod has the new programs. The judgement follows from what is to be seen, so an
operator that takes over in the middle comes to the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from stateward.core.facts import Known, Unknown
from stateward.core.moments import from_rfc3339
from stateward.core.version import Version
from stateward.fdb.api import questions
from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.api.questions import is_target
from stateward.fdb.decide import bounces, clients
from stateward.fdb.decide.clients import VersionChange
from stateward.fdb.decide.held import Held, hold, is_tester, is_whole, order
from stateward.fdb.decide.layouts.sharing import prefix_of
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.guards.transport import certificates_are_good
from stateward.fdb.model import versions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.listing import counted, some_of
from stateward.fdb.status import health, incompatible, processes
from stateward.fdb.status.clients import UNNAMED
from stateward.fdb.status.processes import Reporting, Roster
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.conditions import find

#: A group with one of these has not the new programs yet, or nobody knows.
_WITHOUT_PROGRAMS: Final = (Is.INCORRECT_CONFIG_MAP, Is.SIDECAR_UNREACHABLE)
#: Who brought them must run, too, before anything begins.
_UNSTAGED: Final = (Is.INCORRECT_SIDECAR_IMAGE, *_WITHOUT_PROGRAMS)
#: A group with one of these is about to have another pod.
_CHANGING: Final = (Is.INCORRECT_POD_SPEC, Is.INCORRECT_SIDECAR_IMAGE)
_SHOWN: Final = 5
#: Seconds for which a process may wait outside that started as the new version before the others.
_OUTSIDE: Final = 900.0
#: Seconds after which a database does not come back by itself: a recovery takes a few.
_DOWN: Final = 30.0
#: Seconds until clients are looked at again that nobody names.
_PATIENCE: Final = 60.0


# ------------------------------------------------------------------ whether it begins
def staged(
    written: Version | None, wanted: Version, running: Version, *, heard: bool
) -> Version | None:
    """Return the version whose programs pods are given now; None: they have all they need.

    What was begun goes on, and is taken back when another version is asked for; but not while
    nobody answers: all may have changed to it a moment ago.
    """
    if written is None or versions.are_compatible(written, running):
        return None
    return written if written == wanted or not heard else None


def objection(view: ClusterView, missing_program: str, outdated: Iterable[str]) -> Refusal | None:
    """Return why an upgrade does not begin; None: it may. With a hint, a person must act."""
    change = clients.version_change(view)
    if change is VersionChange.REFUSED:
        return _no_way_back(view)
    return (
        _off_the_path(view)
        or unseen(view, missing_program)
        or _foreign(view)
        or _incomplete(view)
        or _unfinished(view, outdated)
        or cut_off(view)
    )


def _asked(view: ClusterView) -> str:
    return f"from {view.running_version} to {view.spec.version}"


def _no_way_back(view: ClusterView) -> Refusal:
    line = f"{view.running_version.major}.{view.running_version.minor}"
    return Refusal(
        "DowngradeRefused",
        f"a database cannot go back {_asked(view)}: the older cannot read what was written since",
        f"set spec.version to a release of {line}, or to a later one",
    )


def _off_the_path(view: ClusterView) -> Refusal | None:
    running, wanted = view.running_version, Version.parse(view.spec.version)
    between = versions.path_between(running, wanted)
    if between is None:
        known = ", ".join(f"{major}.{minor}" for major, minor in versions.LINES)
        return Refusal(
            "UpgradePathUnknown",
            f"no way is known {_asked(view)}: databases are upgraded along {known}",
            f"set spec.version to a release of one of these, after {running.major}.{running.minor}",
        )
    if between:
        return Refusal(
            "UpgradeSkipsVersions",
            f"an upgrade {_asked(view)} skips {' and '.join(between)}, and must not",
            f"set spec.version to a release of {between[0]} first, and go on when all is as asked",
        )
    return None


def unseen(view: ClusterView, missing_program: str) -> Refusal | None:
    """Return that nobody could look at the database afterwards; None: somebody can."""
    if not missing_program:
        return None
    return Refusal(
        "ProgramMissing",
        f"an upgrade {_asked(view)} would blind the operator: {missing_program}",
        "put it there, in a folder of its version (--fdb-bin), or take an operator that has it",
    )


def _unfinished(view: ClusterView, outdated: Iterable[str]) -> Refusal | None:
    """Pods that are about to change change first: of three versions at once nobody knows enough."""
    late = {*outdated}
    staying = {it.name for it in view.staying() if it.has(*_CHANGING)}
    some = [it for it in view.groups if it.name in late | staying]
    if not some:
        return None
    shown = some_of([str(it.id) for it in some], _SHOWN)
    words = f"an upgrade {_asked(view)} waits until pods are as asked otherwise: {shown}"
    return Refusal("PodsChangeFirst", words)


def _incomplete(view: ClusterView) -> Refusal | None:
    """Whoever is left of an upgrade that was taken back comes back first."""
    some = outside(view)
    if not some:
        return None
    shown = some_of([str(it.id) for it in some], _SHOWN)
    words = f"an upgrade {_asked(view)} waits until processes belong to the database again: {shown}"
    return Refusal("PodsChangeFirst", words)


def cut_off(view: ClusterView) -> Refusal | None:
    """Return who could not follow; None: everybody can, or does not matter."""
    blocking = clients.blocking(view)
    if isinstance(blocking, Unknown):
        words = f"who uses the database is unknown: {blocking.reason}"
        return Refusal("ClientsUnknown", words)
    if not blocking.value:
        return None
    # How many are not named changes all the time, and by our own asking: a sentence with that
    # number would be another one in every pass, and be written each time.
    named = [it for it in blocking.value if it.address != UNNAMED]
    if not named:
        # Our own programs are clients too, and are told of for a while: with patience there are
        # few enough of them for all to be named.
        words = "clients that are not named may be anybody, and could not follow"
        return Refusal("ClientsUnknown", f"{words} {_asked(view)}", after=_PATIENCE)
    some = some_of([f"{it.address} ({it.log_group})" for it in named], _SHOWN)
    return Refusal(
        "ClientsIncompatible",
        f"{counted(len(named), 'client')} could not follow {_asked(view)}: {some}",
        f"give clients a library of {view.spec.version} as well; backup agents have one alone: set"
        " agentCount of their FoundationDBBackups to 0 until the upgrade is over; or set"
        " spec.ignoreUpgradabilityChecks to true, and they are cut off",
    )


# ------------------------------------------------------------------ who has the programs
def unstaged(view: ClusterView) -> tuple[GroupView, ...]:
    """Return the groups that have not the new programs, and must before anybody restarts."""
    return tuple(it for it in _needed(view) if it.has(*_UNSTAGED) or _lacks_pod_with_them(it))


def withdrawn(view: ClusterView) -> frozenset[str]:
    """Return who must not be ended by other operators, though it may be listed as prepared.

    A pod that was made anew since, or whose sidecar is away, has not the programs any more. And
    whoever is ended while certificates are bad does not come back: others do not know ours.
    """
    may_end = view.spec.automation_options.kill_processes and certificates_are_good(view) is None
    return frozenset(str(it.id) for it in (unstaged(view) if may_end else view.groups))


def vanished(view: ClusterView, listed: Collection[str]) -> frozenset[str]:
    """Return who of some is of our prefix and no group of ours any more: nobody else lists it.

    Who has made no group of it yet may have come second, and the prefix is another's.
    """
    ours, prefix = {str(it.id) for it in view.groups}, questions.lock_owner(view.spec)
    if all(it.id.prefix != prefix for it in view.groups):
        return frozenset()
    return frozenset(it for it in {*listed} - ours if prefix_of(it) == prefix)


def _lacks_pod_with_them(it: GroupView) -> bool:
    """Tell whether its pod cannot be given them in place: it differs in more than images."""
    return it.pod is not None and it.has(Is.INCORRECT_POD_SPEC)


def never_staged(
    view: ClusterView, with_other_server: Callable[[Iterable[GroupView]], frozenset[str]]
) -> tuple[GroupView, ...]:
    """Return who cannot be given them before its pod is made anew, which waits for the restart.

    ``with_other_server`` names those of some that shall have another image of fdbserver: beside it
    none is changed in place. While a database does not serve, all may have changed already.
    """
    available = health.is_available(view.database)
    if not isinstance(available, Known) or not available.value:
        return ()
    late = unstaged(view)
    others = with_other_server(late)
    return tuple(it for it in late if it.name in others or _lacks_pod_with_them(it))


def _needed(view: ClusterView) -> list[GroupView]:
    """Return the groups that a restart waits for, in order: whoever is given up is not."""
    return [it for it in _belonging(view) if it.processes or not bounces.is_given_up(view, it)]


def _belonging(view: ClusterView) -> list[GroupView]:
    """Return the groups that the database is made of, in order."""
    return sorted(
        (
            it
            for it in view.groups
            if not (it.marked and it.holds_nothing)
            and not it.leaving
            and not is_tester(it)
            and not it.has(Is.RESOURCES_TERMINATING)
        ),
        key=order,
    )


# ------------------------------------------------------------------ who waits outside
def outside(view: ClusterView) -> tuple[GroupView, ...]:
    """Return who speaks another version than a database that serves, and so is no part of it."""
    available, knocking = health.is_available(view.database), incompatible.hosts(view.database)
    if not isinstance(knocking, Known) or not isinstance(available, Known) or not available.value:
        return ()
    return tuple(
        it
        for it in sorted(view.staying(), key=order)
        if not it.processes and not knocking.value.isdisjoint(it.addresses)
    )


def too_long_outside(view: ClusterView) -> tuple[GroupView, ...]:
    """Return for whose sake pods are not kept ready any longer: a restart may be held for days.

    Every pod that is lost meanwhile would come back as one that cannot join.
    """
    return tuple(
        it for it in outside(view) if (it.lasts(Is.MISSING_PROCESSES, view.now) or 0.0) >= _OUTSIDE
    )


# ------------------------------------------------------------------ the restart
@dataclass(frozen=True, slots=True)
class RestartPlan:
    """Whom to kill so that all change at once; or who is waited for, or what a person must do."""

    kill: tuple[Address, ...] = ()
    groups: tuple[GroupView, ...] = ()
    waiting: tuple[Held, ...] = ()
    refused: Refusal | None = None
    #: Processes of other operators that change with ours: their groups must be prepared, too.
    others: tuple[Reporting, ...] = ()
    #: Some have changed already, and the database cannot go on without them: the others follow.
    begun: bool = False


def restart(view: ClusterView) -> RestartPlan:
    """Return the one restart by which all processes change to the staged version."""
    if not view.spec.automation_options.kill_processes:
        off = "automationOptions.killProcesses is off"
        return RestartPlan(
            refused=Refusal(
                "UpgradeNeedsRestart",
                f"all pods have the programs for an upgrade {_asked(view)}, and {off}",
                "turn it on, or restart all processes at once by yourself",
            )
        )
    if refused := _foreign(view):
        return RestartPlan(refused=refused)
    ahead = _ahead(view)
    begun = bool(ahead) and _stays_down(view)
    if waiting := tuple(_waiting(view, ahead, begun=begun)):
        return RestartPlan(waiting=waiting)
    groups = tuple(
        sorted((it for it in view.groups if it.processes and not _is_left_out(view, it)), key=order)
    )
    kill = tuple(one.addresses[0] for it in groups for one in it.processes if one.addresses)
    return RestartPlan(kill, groups, others=_others(view), begun=begun)


def unprepared(plan: RestartPlan, listed: Collection[str]) -> tuple[str, ...]:
    """Return which groups of other operators are not on the list of those with the programs."""
    named = {it.instance for it in plan.others if it.entry.class_type != ProcessClass.TEST}
    return tuple(sorted(named - {*listed}))


def _stays_down(view: ClusterView) -> bool:
    """Tell whether a database does not serve, and has not for longer than a recovery takes.

    One that recovers goes on without those that wait outside: a client may hold the others back.
    """
    available = health.is_available(view.database)
    if not isinstance(available, Known) or available.value:
        return False
    told = find(view.status.conditions, "Available")
    if told is None or told.status != "False":
        return False
    try:
        return view.now - from_rfc3339(told.last_transition_time or "") >= _DOWN
    except ValueError:  # somebody's hand wrote that
        return False


def _is_left_out(view: ClusterView, it: GroupView) -> bool:
    return is_target(view.spec.buggify.ignore_during_restart, it.id)


def _waiting(view: ClusterView, ahead: Sequence[GroupView], *, begun: bool) -> Iterator[Held]:
    late = unstaged(view)
    if begun:  # a sidecar that ended has brought them, and nobody serves meanwhile
        late = tuple(it for it in late if it.has(*_WITHOUT_PROGRAMS) or _lacks_pod_with_them(it))
    yield from hold(late, "it has not the new programs yet")
    changed = {it.name for it in ahead}
    away = [it for it in _needed(view) if not _can_be_killed(it) and it.name not in changed]
    # Of one that is given up others may report: they change with all.
    away = [it for it in away if not bounces.is_given_up(view, it)]
    yield from hold(away, "not all of its processes report")


def _can_be_killed(it: GroupView) -> bool:
    return is_whole(it) and all(one.addresses for one in it.processes)


def _ahead(view: ClusterView) -> tuple[GroupView, ...]:
    """Return who was started anew already, and so speaks what the others do not understand yet.

    For however long: an operator may take over late, and nobody else would have the others follow.
    """
    knocking = incompatible.hosts(view.database)
    if not isinstance(knocking, Known):
        return ()
    return tuple(
        it
        for it in _belonging(view)
        if not it.processes
        and not it.has(*_WITHOUT_PROGRAMS)
        and not knocking.value.isdisjoint(it.addresses)
    )


def _foreign(view: ClusterView) -> Refusal | None:
    """Return who belongs to the database and to no group of ours: nobody knows what it has."""
    roster = processes.roster(view.database)
    if not isinstance(roster, Known):
        return Refusal("ProcessesUnknown", f"who reports is unknown: {roster.reason}")
    left = _left(view, roster.value)
    hint = "have them run {version}, or leave the database"
    if questions.uses_locks(view.spec):  # then others may be asked to prepare theirs
        left = [it for it in left if not it.instance]
    else:
        hint += (
            "; or let the operators of all its clusters take turns (lockOptions.disableLocks:"
            " false), and set spec.version in all of them"
        )
    if not left:
        return None
    named = [it.instance or ", ".join(map(str, it.addresses)) for it in left]
    shown = some_of(sorted(named), _SHOWN)
    return Refusal(
        "ForeignProcesses",
        f"{len(left)} processes of the database belong to no process group of this cluster, and"
        f" would be left behind: {shown}",
        hint.format(version=view.spec.version),
    )


def _others(view: ClusterView) -> tuple[Reporting, ...]:
    """Return the processes of other operators that have yet to change."""
    roster = processes.roster(view.database)
    found = _left(view, roster.value) if isinstance(roster, Known) else []
    return tuple(it for it in found if it.instance)


def _left(view: ClusterView, roster: Roster) -> list[Reporting]:
    """Return who belongs to no group of ours, and does not run the version asked for."""
    target = Version.parse(view.spec.version)
    ours = {str(it.id) for it in view.groups}
    others = [
        *roster.nameless,
        *(one for name, some in roster.groups.items() if name not in ours for one in some),
    ]
    return [it for it in others if not _runs(it.entry.version, target)]


def _runs(told: object, target: Version) -> bool:
    if told is UNSET:
        return False
    try:
        return versions.are_compatible(Version.parse(str(told)), target)
    except ValueError:
        return False
