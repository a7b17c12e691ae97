"""The status of a process group: what is told of it, and when that is worth a write.

While a group comes up, everything about it changes several times in a few seconds. That is told
once, when it is up; or when it takes long, or Kubernetes says that its pod cannot run, or something
else is wrong that does not go away by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import UNSET

from stateward.core.facts import Unknown
from stateward.core.moments import from_rfc3339, to_rfc3339
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.group import (
    FoundationDBProcessGroupStatus,
    GroupConditionType,
    ProcessReport,
    ResourceReport,
)
from stateward.fdb.decide.groups.taints import TAINTED, mattering
from stateward.fdb.decide.groups.troubles import hindrance_of, trouble_of
from stateward.fdb.groups.decide import service_ip
from stateward.fdb.groups.seen import GroupSeen
from stateward.fdb.groups.viewing import ground_of, reporting
from stateward.fdb.model import locality, names
from stateward.fdb.status.processes import Reporting
from stateward.fdb.views import GroupView
from stateward.kube import conditions as kube
from stateward.kube.meta import Condition, Object
from stateward.kube.objects.pods import Pod

Kind = GroupConditionType
#: Seconds in which a pod usually comes up, and in which its group has one.
COMING: Final = 60.0
_POD_COMING: Final = 10.0
#: Seconds in which a pod usually starts, also one of a thousand: who is told of costs two writes.
_STARTING: Final = 25.0

#: What each condition means, in the order in which the first of them is what is going on.
_WORDS: Final[Mapping[Kind, str]] = {
    Kind.RESOURCES_TERMINATING: "its objects are being deleted",
    Kind.MISSING_PVC: "its PersistentVolumeClaim is not there",
    Kind.MISSING_SERVICE: "its service is not there",
    Kind.MISSING_POD: "its pod is not there",
    Kind.POD_PENDING: "its pod has not started",
    Kind.POD_FAILING: "its pod fails",
    Kind.MISSING_PROCESSES: "not all of its processes report to the database",
    Kind.PROCESS_HAS_IO_ERROR: "a process has trouble with its disk",
    Kind.SIDECAR_UNREACHABLE: "the sidecar of its pod does not answer",
    Kind.INCORRECT_CONFIG_MAP: "its pod has not seen the config map as it is now",
    Kind.INCORRECT_POD_SPEC: "its pod is not as the spec asks for",
    Kind.INCORRECT_POD_METADATA: "its pod lacks labels or annotations",
    Kind.INCORRECT_SIDECAR_IMAGE: "the sidecar of its pod has another image than it shall have",
    Kind.INCORRECT_COMMAND_LINE: "a process has other arguments, or another version",
    Kind.PROCESS_IS_MARKED_AS_EXCLUDED: "a process is excluded though the group shall stay",
    Kind.NODE_TAINT_REPLACING: "it is to be replaced, because its node is tainted",
    Kind.NODE_TAINT_DETECTED: "its node is tainted",
    Kind.PROCESS_HAS_HIGH_RUN_LOOP_BUSY: "a process is very busy",
}
#: Of these Kubernetes says why.
_HINDERED: Final = frozenset({Kind.POD_PENDING, Kind.POD_FAILING})


def status_of(seen: GroupSeen, view: GroupView, outcome: Outcome) -> FoundationDBProcessGroupStatus:
    """Return what is to be told of a group; ``outcome`` is what its pass came to."""
    conditions = tuple(_conditions(seen, view, outcome))
    return FoundationDBProcessGroupStatus(
        observed_generation=seen.group.metadata.generation,
        doing=_doing(conditions, outcome),
        pod=_pod_report(seen),
        volume_claim=_claim_report(seen),
        service=_service_report(seen),
        addresses=view.addresses,
        node_name=view.pod.node if view.pod is not None else "",
        fault_domain=view.zone,
        processes=_processes(seen, view),
        conditions=conditions,
    )


# ------------------------------------------------------------------ conditions
def _conditions(seen: GroupSeen, view: GroupView, outcome: Outcome) -> Iterator[Condition]:
    """Yield Ready, and all that is wrong; times tell of transitions."""
    every = [it for it in _WORDS if it in view.conditions]
    wrong = [it for it in every if it not in TAINTED]  # who is on a tainted node serves
    generation = seen.group.metadata.generation
    for kind in every:
        yield Condition(
            type=kind.value,
            status="True",
            reason=kind.value,
            message=_words(seen, kind),
            last_transition_time=to_rfc3339(view.conditions[kind]),
            observed_generation=generation,
        )
    status, reason, message = _readiness(seen, view, wrong, outcome)
    before = kube.find(seen.group.status.conditions, Kind.READY)
    same = before is not None and before.status == status
    since = before.last_transition_time if before is not None and same else None
    yield Condition(
        type=Kind.READY.value,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=since or to_rfc3339(seen.now),
        observed_generation=generation,
    )


def _words(seen: GroupSeen, kind: Kind) -> str:
    """Return what a condition means; an object that goes is there, and of no use any more."""
    if kind is Kind.MISSING_PVC and seen.claim is not None:
        return "its PersistentVolumeClaim is being deleted"
    if kind is Kind.MISSING_SERVICE and seen.service is not None:
        return "its service is being deleted"
    if kind in TAINTED:
        return f"{_WORDS[kind]}{_taints(seen)}"
    hindered = kind in _HINDERED and seen.pod is not None and not seen.pod.metadata.deleting
    why = hindrance_of(seen.pod) if hindered and seen.pod is not None else ""
    return f"{_WORDS[kind]}: {why}" if why else _WORDS[kind]


def _taints(seen: GroupSeen) -> str:
    """Return which taints of which node matter; nothing: nobody could look."""
    ground = ground_of(seen)
    keys = mattering(ground.taints or (), ground.options or ())
    node = "" if seen.pod is None else seen.pod.spec.node_name
    return f": {node} has {', '.join(keys)}" if keys else ""


def _readiness(
    seen: GroupSeen, view: GroupView, wrong: list[Kind], outcome: Outcome
) -> tuple[str, str, str]:
    """Return whether a group is ready, why in one word, and in a sentence."""
    if isinstance(outcome, Blocked):
        return "False", outcome.reason, outcome.message
    if wrong:
        return "False", wrong[0].value, _words(seen, wrong[0])
    if Kind.READY not in view.conditions:
        return _absence(seen, outcome)
    was = kube.is_true(seen.group.status.conditions, Kind.READY)
    if isinstance(found := reporting(seen), Unknown) and not was:
        return "False", "ProcessesUnknown", found.reason
    return "True", "AllReport", "its pod is there and all of its processes report"


def _absence(seen: GroupSeen, outcome: Outcome) -> tuple[str, str, str]:
    """Return the same of a group with which nothing is wrong, and which does not serve."""
    if seen.holds_nothing:
        return "False", "HoldsNothing", "it holds nothing any more, and shall go"
    if isinstance(outcome, Done) and seen.pod is not None and not seen.pod.metadata.deleting:
        words = "its zone is under maintenance, and not all of its processes report"
        return "False", "UnderMaintenance", words
    if isinstance(outcome, Done):
        return "False", "PodGoing", "its pod goes"
    return "False", outcome.reason, outcome.message


def _doing(conditions: Iterable[Condition], outcome: Outcome) -> str:
    if isinstance(outcome, Blocked):
        return f"{outcome.message}; {outcome.hint}"
    if not isinstance(outcome, Done):
        return outcome.message
    ready = kube.find(conditions, Kind.READY)
    return "" if ready is None or ready.status == "True" else ready.message


# ------------------------------------------------------------------ objects
def _report(found: Object, *, ready: bool, message: str = "") -> ResourceReport:
    metadata = found.metadata
    return ResourceReport(
        name=metadata.name,
        uid=metadata.uid,
        ready=ready and not metadata.deleting,
        terminating_since=metadata.deletion_timestamp,
        message=message,
    )


def _pod_report(seen: GroupSeen) -> ResourceReport | None:
    if seen.pod is None:
        return None
    return _report(seen.pod, ready=seen.pod.ready, message=_trouble_of(seen.pod))


def _trouble_of(pod: Pod) -> str:
    """Return why a pod does not run, in the words of whoever runs it."""
    every = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    for it in every:
        if it.state.waiting is not None and it.state.waiting.message:
            return f"container {it.name}: {it.state.waiting.reason}: {it.state.waiting.message}"
    scheduled = kube.find(pod.status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return scheduled.message
    return pod.status.message


def _claim_report(seen: GroupSeen) -> ResourceReport | None:
    if seen.claim is None:
        return None
    return _report(seen.claim, ready=seen.claim.status.phase == "Bound")


def _service_report(seen: GroupSeen) -> ResourceReport | None:
    if seen.service is None:
        return None
    family = seen.group.spec.service.pod_ip_family
    return _report(seen.service, ready=bool(service_ip(seen.service, family)))


# ------------------------------------------------------------------ processes
def _processes(seen: GroupSeen, view: GroupView) -> tuple[ProcessReport, ...]:
    """Return how its processes are; while nobody knows, as they were told last."""
    found = reporting(seen)
    if isinstance(found, Unknown):
        return seen.group.status.processes
    reports = {it.process_id: it for it in map(_process, found.value)}
    expected = [names.process_id(view.id, it + 1) for it in range(view.servers)]
    # Of one that is away, the version says that it was there.
    last = {it.process_id: it.version for it in seen.group.status.processes}
    absent = {
        it: ProcessReport(process_id=it, version=last.get(it, ""), reporting=False)
        for it in expected
        if it not in reports
    }
    if seen.holds_nothing:  # who holds nothing and is gone is missed by nobody
        absent = {}
    return tuple(it for _, it in sorted({**absent, **reports}.items()))


def _process(process: Reporting) -> ProcessReport:
    entry, said = process.entry, process.localities
    roles = () if entry.roles is UNSET else entry.roles
    messages = () if entry.messages is UNSET else entry.messages
    return ProcessReport(
        process_id=said.get(locality.PROCESS) or f"{process.instance}-1",
        address=",".join(map(str, process.addresses)),
        version="" if entry.version is UNSET else entry.version,
        reporting=True,
        excluded=entry.excluded is True,
        roles=tuple(sorted({str(it.role) for it in roles if it.role is not UNSET})),
        message="; ".join(str(it.name) for it in messages if it.name is not UNSET),
    )


# ------------------------------------------------------------------ few writes
def says_more(old: FoundationDBProcessGroupStatus, new: FoundationDBProcessGroupStatus) -> bool:
    """Tell whether a status says something that matters and was not said before."""
    return _essence(old) != _essence(new)


def still_coming(seen: GroupSeen, new: FoundationDBProcessGroupStatus) -> float | None:
    """Return for how many seconds nothing need be told, as a group comes up; None: it does not.

    A pod that took the place of another is told of at once: what was said is of the one before. So
    is one of which Kubernetes says why it does not run.
    """
    old = seen.group.status
    if kube.is_true(new.conditions, Kind.READY) or seen.group.spec.remove:
        return None
    if seen.pod is None:
        left = _POD_COMING - _age(seen.group, seen.now)
    elif _is_news(seen.pod, old) or trouble_of(seen.pod):
        return None
    else:
        usual = _STARTING if seen.pod.status.phase == "Pending" else COMING
        left = usual - _age(seen.pod, seen.now)
    return left if left > 0 else None


def _is_news(pod: Pod, old: FoundationDBProcessGroupStatus) -> bool:
    """Tell whether a pod goes, was ready before, took the place of another, or starts at last."""
    another = old.pod is not None and old.pod.uid != pod.metadata.uid
    starts = pod.status.phase != "Pending" and kube.is_true(old.conditions, Kind.POD_PENDING)
    return another or starts or pod.metadata.deleting or kube.is_true(old.conditions, Kind.READY)


def _age(found: Object, now: float) -> float:
    try:
        return now - from_rfc3339(found.metadata.creation_timestamp)
    except ValueError:
        return COMING


def _essence(status: FoundationDBProcessGroupStatus) -> FoundationDBProcessGroupStatus:
    """Return a status without what changes by itself and is told when something else is."""
    replace = msgspec.structs.replace
    pod = None if status.pod is None else replace(status.pod, message="")
    processes = tuple(replace(it, roles=(), message="") for it in status.processes)
    return replace(status, pod=pod, processes=processes)
