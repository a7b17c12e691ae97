"""What a pod's status says, given what is known of its containers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stateward.core.moments import from_rfc3339, to_rfc3339
from stateward.kube.codec import Json

#: The conditions that the agent writes; all others belong to somebody else.
OURS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
FINISHED = frozenset({"Succeeded", "Failed"})

#: The exit code of a container that went away while nobody looked.
LOST = 137


@dataclass(frozen=True, slots=True)
class Waiting:
    """A container does not run yet, or not now."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """A container runs."""

    started_at: float


@dataclass(frozen=True, slots=True)
class Terminated:
    """A container ended; a signal is 0 when it ended by itself."""

    exit_code: int
    signal: int = 0
    reason: str = "Completed"
    message: str = ""
    started_at: float = 0.0
    finished_at: float = 0.0
    container_id: str = ""


State: TypeAlias = Waiting | Running | Terminated


@dataclass(slots=True)
class ContainerView:
    """What is known of a container now; whoever runs it keeps it up to date."""

    name: str
    image: str = ""
    state: State = Waiting("ContainerCreating")
    last: Terminated | None = None
    restarts: int = 0
    started: bool = False
    ready: bool = False
    container_id: str = ""
    #: An init container that stays beside the others.
    sidecar: bool = False
    #: What runs only behaves like what is in its image.
    emulated: bool = False

    def begin(self, pod: str) -> None:
        """Take in that it starts once more; only the very first start is no restart."""
        if isinstance(self.state, Terminated):
            self.last = self.state
        if self.container_id:
            self.restarts += 1
        self.container_id = f"stateward://{pod}/{self.name}/{self.restarts}"

    def end(self, ended: Terminated) -> None:
        """Take in that it ended."""
        self.state, self.started, self.ready = ended, False, False

    def wait(self, reason: str, message: str = "") -> None:
        """Take in that it waits; how it ended before stays known."""
        if isinstance(self.state, Terminated):
            self.last = self.state
        self.state = Waiting(reason, message)

    @property
    def has_failed(self) -> bool:
        """True when it ended, and not well."""
        return isinstance(self.state, Terminated) and self.state.exit_code != 0


@dataclass(slots=True)
class PodFacts:
    """What is known of a pod."""

    address: str = ""
    host_address: str = ""
    started_at: float = 0.0
    prepared: bool = False
    inits: list[ContainerView] = field(default_factory=list)
    mains: list[ContainerView] = field(default_factory=list)
    #: How the pod ended as a whole, whatever its containers say: a reason and a message.
    failed: tuple[str, str] | None = None


def ended(code: int, started: float, finished: float, container_id: str) -> Terminated:
    """Return how a process ended; a code below 0 is the signal that killed it."""
    number = -code if code < 0 else 0
    exit_code = 128 + number if number else code
    reason = "Completed" if exit_code == 0 else "Error"
    return Terminated(exit_code, number, reason, "", started, finished, container_id)


def restarts(policy: str, exit_code: int) -> bool:
    """Tell whether a container that ended starts again."""
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def recalled(container: Json, status: Json, now: float) -> ContainerView:
    """Return a container as an earlier agent left it: one that ran then is lost now."""
    name = container["name"]
    view = ContainerView(
        name,
        container.get("image", ""),
        Waiting("ContainerCreating"),
        sidecar=container.get("restartPolicy") == "Always",
    )
    statuses = [*_list(status, "initContainerStatuses"), *_list(status, "containerStatuses")]
    old = next((it for it in statuses if it.get("name") == name), None)
    if old is None:
        return view
    view.restarts = old.get("restartCount", 0)
    view.container_id = old.get("containerID", "")
    state = old.get("state") or {}
    view.last = _terminated((old.get("lastState") or {}).get("terminated"))
    if "running" in state:
        began = moment(state["running"].get("startedAt"))
        message = "the agent that ran it ended"
        view.state = Terminated(LOST, 9, "Error", message, began, now, view.container_id)
    elif (over := _terminated(state.get("terminated"))) is not None:
        view.state = over
    return view


# ------------------------------------------------------------------ the pod
def pod_status(generation: int, spec: Json, old: Json, facts: PodFacts, now: float) -> Json:
    """Return the whole status; conditions that are not ours stay as they are."""
    phase = "Failed" if facts.failed else phase_of(spec, facts)
    reason, message = facts.failed or ("", "")
    status: Json = {
        "observedGeneration": generation,
        "phase": phase,
        "reason": reason,
        "message": message,
        "hostIP": facts.host_address,
        "hostIPs": [{"ip": facts.host_address}] if facts.host_address else [],
        "podIP": facts.address,
        "podIPs": [{"ip": facts.address}] if facts.address else [],
        "startTime": to_rfc3339(facts.started_at) if facts.started_at else "",
        "qosClass": old.get("qosClass") or qos_class(spec),
        "initContainerStatuses": [_written(it, is_init=True) for it in facts.inits],
        "containerStatuses": [_written(it, is_init=False) for it in facts.mains],
        "conditions": _conditions(spec, old, facts, phase, now),
    }
    return {name: value for name, value in status.items() if value not in ("", [], 0)}


def changes(old: Json, new: Json) -> Json:
    """Return the merge patch that makes one status of the other; empty when they say the same."""
    gone = {name: None for name in ("reason", "message") if name in old and name not in new}
    return {name: value for name, value in new.items() if old.get(name) != value} | gone


def phase_of(spec: Json, facts: PodFacts) -> str:
    """Return the phase by the rules of the kubelet."""
    policy = spec.get("restartPolicy", "Always")
    inits = [it for it in facts.inits if not it.sidecar]
    if policy == "Never" and any(it.has_failed for it in inits):
        return "Failed"
    if not is_initialized(facts):
        return "Pending"
    over = [it for it in facts.mains if _over(it) is not None]
    running = [it for it in facts.mains if isinstance(it.state, Running)]
    if len(over) + len(running) < len(facts.mains):
        return "Pending"
    if running or not over:
        return "Running"
    return _ended_phase(policy, [end for it in over if (end := _over(it)) is not None])


def _ended_phase(policy: str, ends: list[Terminated]) -> str:
    if policy == "Always":
        return "Running"
    if all(end.exit_code == 0 for end in ends):
        return "Succeeded"
    return "Failed" if policy == "Never" else "Running"


def is_initialized(facts: PodFacts) -> bool:
    """Tell whether all init containers did their work."""
    return all(
        it.started if it.sidecar else isinstance(it.state, Terminated) and not it.has_failed
        for it in facts.inits
    ) or _was_initialized(facts)


def _was_initialized(facts: PodFacts) -> bool:
    """A sidecar that ends later does not take back what was done before."""
    return any(not isinstance(it.state, Waiting) or it.last for it in facts.mains)


def qos_class(spec: Json) -> str:
    """Return how much of what a pod asks for is certain."""
    asked = [it.get("resources") or {} for it in _all_containers(spec)]
    if not any(it.get("requests") or it.get("limits") for it in asked):
        return "BestEffort"
    for resources in asked:
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        if not {"cpu", "memory"} <= limits.keys():
            return "Burstable"
        if any(requests.get(name, limits[name]) != limits[name] for name in ("cpu", "memory")):
            return "Burstable"
    return "Guaranteed"


# ------------------------------------------------------------------ conditions
def _conditions(spec: Json, old: Json, facts: PodFacts, phase: str, now: float) -> list[Json]:
    before = {it.get("type"): it for it in _list(old, "conditions")}
    fresh = (
        {"type": "PodReadyToStartContainers", "status": _word(is_true=facts.prepared)},
        _initialized(facts, phase),
        _ready(spec, facts, phase, before),
        _containers_ready(facts, phase),
        {"type": "PodScheduled", "status": "True"},
    )
    kept = [it for it in _list(old, "conditions") if it.get("type") not in OURS]
    return [*kept, *(_since(it, before.get(it["type"]), now) for it in fresh)]


def _initialized(facts: PodFacts, phase: str) -> Json:
    waiting = [it.name for it in facts.inits if not _is_done(it)]
    if phase == "Succeeded":
        return _condition("Initialized", reason="PodCompleted")
    if waiting and not is_initialized(facts):
        words = f"containers with incomplete status: [{' '.join(waiting)}]"
        return _condition("Initialized", reason="ContainersNotInitialized", message=words)
    return {"type": "Initialized", "status": "True"}


def _containers_ready(facts: PodFacts, phase: str) -> Json:
    return _all_ready("ContainersReady", facts, phase)


def _ready(spec: Json, facts: PodFacts, phase: str, before: Mapping[Any, Json]) -> Json:
    found = _all_ready("Ready", facts, phase)
    gates = [it.get("conditionType") for it in spec.get("readinessGates") or ()]
    shut = [str(it) for it in gates if (before.get(it) or {}).get("status") != "True"]
    if found["status"] == "True" and shut:
        words = f"the conditions must be True: [{' '.join(shut)}]"
        return _condition("Ready", reason="ReadinessGatesNotReady", message=words)
    return found


def _all_ready(kind: str, facts: PodFacts, phase: str) -> Json:
    if phase in FINISHED:
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        return _condition(kind, reason=reason)
    watched = [*(it for it in facts.inits if it.sidecar), *facts.mains]
    unready = [it.name for it in watched if not it.ready]
    if unready:
        words = f"containers with unready status: [{' '.join(unready)}]"
        return _condition(kind, reason="ContainersNotReady", message=words)
    return {"type": kind, "status": "True"}


def _condition(kind: str, *, reason: str, message: str = "") -> Json:
    """Return a condition that does not hold; that of a finished pod's start does."""
    holds = kind == "Initialized" and reason == "PodCompleted"
    words = {"message": message} if message else {}
    return {"type": kind, "status": _word(is_true=holds), "reason": reason, **words}


def _since(fresh: Json, before: Json | None, now: float) -> Json:
    is_same = before is not None and before.get("status") == fresh["status"]
    since = (before or {}).get("lastTransitionTime") if is_same else None
    probed = (before or {}).get("lastProbeTime")
    return {
        **fresh,
        **({"lastProbeTime": probed} if probed else {}),
        "lastTransitionTime": since or to_rfc3339(now),
    }


def _word(*, is_true: bool) -> str:
    return "True" if is_true else "False"


# ------------------------------------------------------------------ containers
def _is_done(view: ContainerView) -> bool:
    if view.sidecar:
        return view.started
    return isinstance(view.state, Terminated) and not view.has_failed


def _over(view: ContainerView) -> Terminated | None:
    """Return how a container ended; one that waits for its next start counts as ended."""
    if isinstance(view.state, Terminated):
        return view.state
    return view.last if isinstance(view.state, Waiting) else None


def _written(view: ContainerView, *, is_init: bool) -> Json:
    done = is_init and not view.sidecar
    written: Json = {
        "name": view.name,
        "image": view.image,
        "imageID": _image_id(view) if view.container_id else "",
        "ready": _is_done(view) if done else view.ready,
        "started": view.started,
        "restartCount": view.restarts,
        "state": _state(view.state),
        "lastState": _state(view.last) if view.last else {},
    }
    return written | ({"containerID": view.container_id} if view.container_id else {})


def _image_id(view: ContainerView) -> str:
    """Return what runs for an image: people read there whether it is the real thing."""
    return f"{'EMULATED' if view.emulated else 'local'}://{view.image}"


def _state(state: State) -> Json:
    match state:
        case Waiting(reason, message):
            said = {"reason": reason, "message": message}
            return {"waiting": {name: text for name, text in said.items() if text}}
        case Running(started_at):
            return {"running": {"startedAt": to_rfc3339(started_at)}}
        case Terminated():
            return {"terminated": _ended_state(state)}


def _ended_state(state: Terminated) -> Json:
    written: Json = {
        "exitCode": state.exit_code,
        "reason": state.reason,
        "startedAt": to_rfc3339(state.started_at),
        "finishedAt": to_rfc3339(state.finished_at),
    }
    extra = {
        "signal": state.signal,
        "message": state.message,
        "containerID": state.container_id,
    }
    return written | {name: value for name, value in extra.items() if value}


def _terminated(written: Json | None) -> Terminated | None:
    if not written:
        return None
    return Terminated(
        written.get("exitCode", 0),
        written.get("signal", 0),
        written.get("reason", ""),
        written.get("message", ""),
        moment(written.get("startedAt")),
        moment(written.get("finishedAt")),
        written.get("containerID", ""),
    )


def moment(text: str | None) -> float:
    """Read a moment; none, or one that makes no sense, is 0."""
    try:
        return from_rfc3339(text) if text else 0.0
    except ValueError:
        return 0.0


def _list(document: Json, name: str) -> Sequence[Json]:
    return document.get(name) or ()


def _all_containers(spec: Json) -> Iterable[Json]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
