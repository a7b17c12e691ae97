"""Why a pod does not run, by what Kubernetes says of it. Pure.

Words that Kubernetes says in turn, or with another number each time, are told as one: each change
would be another write of a status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from stateward.kube import conditions as kube
from stateward.kube.objects.pods import ContainerStatus, Pod

#: Why a container waits that is on its way.
_COMING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
_NO_IMAGE: Final = frozenset({"ErrImagePull", "ImagePullBackOff"})
_LOOPS: Final = "CrashLoopBackOff"


def trouble_of(pod: Pod) -> str:
    """Return what keeps a pod from running and does not go away by itself; empty: nothing does."""
    scheduled = kube.find(pod.status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return f"no node takes it: {scheduled.message or scheduled.reason}".removesuffix(": ")
    every = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    # What is told of a container that was changed in place may be of the one before.
    asked = {it.name: it.image for it in (*pod.spec.init_containers, *pod.spec.containers)}
    return _first(every, lambda it: _waits(it, asked.get(it.name, ""))) or pod.status.message


def hindrance_of(pod: Pod) -> str:
    """Return the same, or else what a pod that does not run is about to do, or how it ended."""
    if found := trouble_of(pod):
        return found
    if pod.status.phase == "Pending":
        return _started_by(pod.spec.node_name, pod.metadata.name) if pod.spec.node_name else ""
    every = pod.status.container_statuses
    # One that ends again and again may be ready just now.
    return _first([it for it in every if not it.ready] or every, _ended)


def _started_by(node: str, pod: str) -> str:
    """Say what a node is at; what holds it up is told by events alone."""
    return (
        f"node {node} has yet to mount its volumes, or to pull and start its images"
        f" (`kubectl describe pod {pod}` says more)"
    )


def _first(some: Iterable[ContainerStatus], words: Callable[[ContainerStatus], str]) -> str:
    return next((f"container {it.name}: {said}" for it in some if (said := words(it))), "")


def _waits(it: ContainerStatus, image: str) -> str:
    waiting = it.state.waiting
    if waiting is None:
        return ""
    if waiting.reason in _NO_IMAGE:
        return f"image {image} cannot be pulled" if image else "its image cannot be pulled"
    if waiting.reason == _LOOPS:
        return _ended(it)
    if waiting.reason in _COMING:
        return waiting.message
    return f"{waiting.reason}: {waiting.message}".removesuffix(": ")


def _ended(it: ContainerStatus) -> str:
    """Say how a container ended last: the same while it waits for its next start, and after it."""
    if (ended := it.state.terminated or it.last_state.terminated) is not None:
        return f"it ended with exit code {ended.exit_code}"
    return "" if it.ready else "it is not ready"
