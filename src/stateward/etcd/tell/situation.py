"""How a cluster is, in one word and one sentence: the first of many questions that says yes.

The order is what a person on call would want to hear first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from stateward.core.facts import Known, Unknown
from stateward.etcd.model.history import may_be_electing, rewound
from stateward.etcd.model.members import AlarmKind, quorum
from stateward.etcd.model.trouble import is_held_up, trouble_of
from stateward.etcd.model.view import Replica, View
from stateward.etcd.tell.reasons import Reason
from stateward.kube import conditions


@dataclass(frozen=True, slots=True)
class Situation:
    """How a cluster is."""

    reason: Reason
    message: str


Question: TypeAlias = Callable[[View], Situation | None]


def situation_of(view: View) -> Situation:
    """Return how a cluster is; when no question finds anything, all is as asked."""
    for ask in _QUESTIONS:
        found = ask(view)
        if found is not None:
            return found
    count = len(view.healthy_voters)
    every = f"all {count} members are" if count > 1 else "the only member is"
    how = _of_another_version(view) or "healthy and up to date"
    return Situation(Reason.ALL_MEMBERS_HEALTHY, f"{every} {how}")


def is_asleep(view: View) -> bool:
    """Tell whether the cluster sleeps, as it was asked to."""
    workload = view.workload
    rests = workload is not None and workload.replicas == 0 and not workload.differs
    return view.wanted == 0 and rests and all(it.pod is None for it in view.replicas)


def outdated(view: View) -> tuple[Replica, ...]:
    """Return the members whose pods are not known to be made from what is wanted now."""
    workload = view.workload
    if workload is None:
        return ()
    return tuple(
        it
        for it in view.replicas
        if it.listed is not None
        and it.pod is not None
        and (not workload.is_settled or view.is_outdated(it))
    )


def former_reason(view: View) -> str:
    """Return the reason of the situation that was told last.

    Degraded tells it; the other conditions may speak of a pause, or of something that is blocked.
    """
    found = conditions.find(view.cluster.status.conditions, "Degraded")
    return found.reason if found is not None else ""


# ------------------------------------------------------------------ the questions, in their order


def _deleting(view: View) -> Situation | None:
    if not view.cluster.metadata.deleting:
        return None
    return Situation(Reason.DELETING, "the cluster is being deleted")


def _not_observed(view: View) -> Situation | None:
    """A look at a cluster finds a replica at least: without any, nobody has looked."""
    if view.replicas:
        return None
    return Situation(Reason.NOT_OBSERVED, "the members were not asked, because of what is blocked")


def _split(view: View) -> Situation | None:
    if len(view.cluster_ids) < 2:
        return None
    kept = view.cluster.status.cluster_id
    others = ", ".join(sorted(view.cluster_ids - {kept}))
    ours = f"this cluster is {kept}, but pods" if kept else "pods"
    return Situation(Reason.SPLIT_BRAIN, f"{ours} answer for {others}; nothing is changed")


def _asleep(view: View) -> Situation | None:
    if is_asleep(view):
        return Situation(Reason.ASLEEP, "no members are wanted and none run; the data is kept")
    leaves = view.workload is None or view.workload.replicas == 0
    if view.wanted == 0 and leaves and not view.has_quorum:
        return Situation(Reason.FALLING_ASLEEP, "no members are wanted; the last ones are ending")
    return None


def _without_quorum(view: View) -> Situation | None:
    if view.has_quorum:
        return None
    answer = f"{len(view.reached)} of {view.wanted} members answer{_worst(view)}"
    if not view.cluster.status.cluster_id:
        return Situation(Reason.FIRST_QUORUM_PENDING, f"no quorum yet: {answer}")
    if _wakes(view):
        return Situation(Reason.WAKING, f"waking from sleep: {_first_trouble(view)}")
    return _silence(view)


def _silence(view: View) -> Situation:
    """Tell a lost quorum from one that we only cannot ask."""
    ready = [it for it in view.replicas if it.pod is not None and it.pod.ready]
    if ready and not view.reached:
        why = next((it.status.reason for it in ready if isinstance(it.status, Unknown)), "")
        message = "pods are ready, but the operator reaches none of their members"
        return Situation(Reason.UNREACHABLE, f"{message}; {why}" if why else message)
    known = view.cluster.status.last_known_members
    voters = {it.name for it in known if not it.learner}
    led = [it for it in view.reached if it.name in voters and it.said and it.said.leader]
    needed = quorum(len(voters))
    if voters and len(led) >= needed:
        message = "enough members say that somebody leads, but none could ask a majority"
        return Situation(Reason.QUORUM_UNCONFIRMED, message)
    if may_be_electing(view):
        message = "enough members answer, and have not agreed on a leader yet"
        return Situation(Reason.QUORUM_UNCONFIRMED, message)
    there = sum(it.name in voters for it in view.reached)
    counted = f"{there} of {len(voters)} members answer, {needed} must"
    return Situation(Reason.QUORUM_LOST, f"{counted}{_worst(view)}")


def _wakes(view: View) -> bool:
    """Tell whether one member is on its way back from sleep; more of them would be a loss."""
    if len(view.cluster.status.last_known_members) > 1:
        return False
    forced = view.config is not None and view.config.force_new_cluster
    rests = view.workload is not None and view.workload.replicas == 0
    return forced or rests or former_reason(view) in {Reason.ASLEEP, Reason.WAKING}


def _foreign(view: View) -> Situation | None:
    strangers = [it.member for it in view.roster if it.ordinal is None]
    if not strangers:
        return None
    names = ", ".join(f"{it.name or 'unnamed'} ({it.id:x})" for it in strangers)
    message = f"not made by this operator: {names}; members are left as they are"
    return Situation(Reason.FOREIGN_MEMBER, message)


def _rewound(view: View) -> Situation | None:
    if not rewound(view):
        return None
    kept = view.cluster.status.revision
    message = f"less data or fewer members than before, when revision {kept} was seen"
    return Situation(Reason.DATA_REWOUND, message)


def _alarmed(view: View) -> Situation | None:
    if view.alarms_of(AlarmKind.CORRUPT):
        return Situation(Reason.CORRUPT, f"members hold different data{_worst(view)}")
    if view.alarms_of(AlarmKind.NO_SPACE):
        return Situation(Reason.NO_SPACE, f"etcd takes no writes: no space left{_worst(view)}")
    return None


def _unhealthy(view: View) -> Situation | None:
    down = [it for it in view.voters if not view.is_healthy(it)]
    if not down:
        return None
    words = "; ".join(f"{it.name}: {trouble_of(view, it)}" for it in down)
    counted = f"{len(view.healthy_voters)} of {len(view.voters)} voters are healthy"
    return Situation(Reason.MEMBERS_UNHEALTHY, f"{counted}; {words}")


def _sized(view: View) -> Situation | None:
    voters, wanted = len(view.voters), view.wanted
    if voters == wanted and not view.learners:
        return None
    if _replaces(view):
        return Situation(Reason.REPLACING, f"{voters} of {wanted} voters; one is being replaced")
    fate = "is joining" if voters < wanted else "is to leave again"
    joins = "".join(f"; {it.name} {fate}{_held_up(view, it)}" for it in view.learners)
    return Situation(Reason.SCALING, f"voters: {voters}, wanted: {wanted}{joins}")


def _held_up(view: View, learner: Replica) -> str:
    """Say what keeps a learner from starting, if it is not its etcd."""
    pod = learner.pod
    held = pod is not None and pod.trouble and is_held_up(pod)
    return f": {trouble_of(view, learner)}" if held else ""


def _replaces(view: View) -> bool:
    """Tell whether a member is missing that was there before, rather than one that is new."""
    workload = view.workload
    if workload is None or len(view.voters) >= view.wanted or workload.replicas > view.wanted:
        return False
    fewer = len(view.roster) < workload.replicas
    return fewer or former_reason(view) == Reason.REPLACING


def _unsecured(view: View) -> Situation | None:
    off = isinstance(view.auth_enabled, Known) and not view.auth_enabled.value
    if not (view.cluster.spec.security.enable_auth and off):
        return None
    return Situation(Reason.ENABLING_AUTH, "logins are wanted and not turned on yet")


def _rolls(view: View) -> Situation | None:
    old = outdated(view)
    if view.workload is not None and not view.workload.differs and not old:
        return None
    waiting = ", ".join(it.name for it in old) or "the workload"
    versions = {it.said.version for it in old if it.said is not None}
    if view.image_version and versions - {view.image_version}:
        message = f"to be upgraded to {view.image_version}: {waiting}"
        return Situation(Reason.UPGRADING, message)
    return Situation(Reason.ROLLING, f"to be restarted with new settings: {waiting}")


def _of_another_version(view: View) -> str:
    """Say that members run another etcd than was asked for, though nothing is left to do.

    A local cluster runs the etcd that the machine has, whatever patch release a tag names.
    """
    asked = view.image_version
    run = {it.name: it.said.version.partition("-")[0] for it in view.healthy_voters if it.said}
    others = {name: version for name, version in run.items() if asked and version != asked}
    if not others:
        return ""
    who = "they" if len(others) > 1 else "it"
    if len(others) < len(run):
        who = ", ".join(others)
    verb, whose = ("run", "their") if len(others) > 1 else ("runs", "its")
    versions = ", ".join(sorted(set(others.values())))
    return (
        f"healthy; {who} {verb} etcd {versions}, not {asked} as asked:"
        f" {whose} image is of another version than its name says"
    )


_QUESTIONS: tuple[Question, ...] = (
    _deleting,
    _not_observed,
    _split,
    _asleep,
    _without_quorum,
    _foreign,
    _rewound,
    _alarmed,
    _unhealthy,
    _sized,
    _unsecured,
    _rolls,
)


def _first_trouble(view: View) -> str:
    words = (trouble_of(view, it) for it in view.replicas if it.pod is not None)
    return next((it for it in words if it), "its pod is missing")


def _worst(view: View) -> str:
    """Name what is wrong with the members that are known or expected, as the end of a sentence."""
    known = {it.name for it in view.cluster.status.last_known_members}
    told = [it for it in view.replicas if it.name in known or (not known and it.pod is not None)]
    words = [f"{it.name}: {trouble}" for it in told if (trouble := trouble_of(view, it))]
    return "".join(f"; {it}" for it in words)
