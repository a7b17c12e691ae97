"""What to do next for a StatefulSet: a pure function from what is seen to pods to make or remove.

In order, one thing at a time: a pod is made when all before it serve, removed when all that stay
serve, replaced from the highest number down. In parallel, pods do not wait for each other, but are
still replaced one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stateward.kube.codec import Json
from stateward.local.controllers.workloads.pods import Seen, number
from stateward.local.controllers.workloads.stateful.identity import REVISION_LABEL


@dataclass(frozen=True, slots=True)
class Rules:
    """What a set asks for."""

    replicas: int = 1
    start: int = 0
    #: Pods below this ordinal keep the old revision.
    update_from: int = 0
    rolling: bool = True
    parallel: bool = False
    min_ready: int = 0

    @classmethod
    def of(cls, spec: Json) -> Rules:
        """Read the spec of a set."""
        strategy = spec.get("updateStrategy") or {}
        start = number(spec.get("ordinals") or {}, "start", 0)
        partition = number(strategy.get("rollingUpdate") or {}, "partition", 0)
        return cls(
            replicas=number(spec, "replicas", 1),
            start=start,
            update_from=start + partition,
            rolling=strategy.get("type", "RollingUpdate") == "RollingUpdate",
            parallel=spec.get("podManagementPolicy") == "Parallel",
            min_ready=number(spec, "minReadySeconds", 0),
        )

    @property
    def ordinals(self) -> range:
        """The pods that there shall be."""
        return range(self.start, self.start + self.replicas)


@dataclass(frozen=True, slots=True)
class View:
    """All that a decision depends on."""

    rules: Rules
    #: The names of the revision that was and of the one that shall be.
    current: str
    update: str
    pods: Mapping[int, Seen]
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Make:
    """Make the pod of an ordinal by a revision."""

    ordinal: int
    revision: str


@dataclass(frozen=True, slots=True)
class Remove:
    """End a pod; it is made again if its ordinal is still asked for."""

    pod: Seen
    reason: str = "SuccessfulDelete"


Move: TypeAlias = Make | Remove


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now, and what is waited for."""

    moves: tuple[Move, ...] = ()
    waits_for: str = ""
    #: Seconds after which something is due that no event tells.
    wake: float | None = None


def plan(view: View) -> Plan:
    """Decide the next moves."""
    rules = view.rules
    steps: list[Plan] = []
    for ordinal in rules.ordinals:
        if (step := _bring_up(view, ordinal)) is not None:
            if not rules.parallel:
                return step
            steps.append(step)
    condemned = [view.pods[o] for o in sorted(view.pods) if o not in rules.ordinals]
    for pod in reversed(condemned):
        step = _take_down(view, pod, condemned)
        if not rules.parallel:
            return step
        steps.append(step)
    moves = tuple(move for step in steps for move in step.moves)
    if moves or not rules.rolling:
        return Plan(moves, next((it.waits_for for it in steps), ""), _soonest(steps))
    rolled = _roll(view)
    return rolled if rolled is not None else Plan((), "", _soonest(steps))


def revision_for(view: View, ordinal: int) -> str:
    """Return which revision a pod is made by: below the partition, the one that was."""
    rules = view.rules
    return view.current if rules.rolling and ordinal < rules.update_from else view.update


def revision_of(pod: Seen) -> str:
    """Return which revision a pod was made by."""
    return pod.metadata.labels.get(REVISION_LABEL, "")


def _bring_up(view: View, ordinal: int) -> Plan | None:
    """Return what an ordinal that is asked for needs, or None when its pod is as it should be."""
    pod = view.pods.get(ordinal)
    if pod is None:
        return Plan((Make(ordinal, revision_for(view, ordinal)),))
    if pod.leaving:
        return Plan((), f"pod {pod.name} to end")
    if pod.finished:
        return Plan((Remove(pod, "RecreatingFailedPod"),))
    if not pod.serves:
        return Plan((), f"pod {pod.name} to be ready")
    rest = pod.available_in(view.rules.min_ready, view.now)
    return None if rest == 0.0 else Plan((), f"pod {pod.name} to stay ready", rest)


def _take_down(view: View, pod: Seen, condemned: Sequence[Seen]) -> Plan:
    """Return how a pod goes that is not asked for; of several that do not serve, the lowest may."""
    if pod.leaving:
        return Plan((), f"pod {pod.name} to end")
    blocked = next((it for it in condemned if it.leaving or not _is_available(view, it)), pod)
    if view.rules.parallel or blocked is pod or _is_available(view, pod):
        return Plan((Remove(pod),))
    rest = pod.available_in(view.rules.min_ready, view.now)
    return Plan((), f"pod {blocked.name} to be available", rest)


def _is_available(view: View, pod: Seen) -> bool:
    return pod.serves and pod.available(view.rules.min_ready, view.now)


def _roll(view: View) -> Plan | None:
    """Replace the highest pod of another revision, once those above it serve."""
    rules = view.rules
    for ordinal in reversed(rules.ordinals):
        if ordinal < rules.update_from:
            return None
        pod = view.pods[ordinal]
        if pod.leaving:
            return Plan((), f"pod {pod.name} to end")
        if revision_of(pod) != view.update:
            return Plan((Remove(pod),))
        rest = pod.available_in(rules.min_ready, view.now)
        if not pod.serves or rest != 0.0:
            return Plan((), f"pod {pod.name} to be available", rest)
    return None


def _soonest(steps: list[Plan]) -> float | None:
    return min((it.wake for it in steps if it.wake), default=None)
