"""Pods and the nodes they run on: the fields that we read."""

from __future__ import annotations

import msgspec

from stateward.kube.codec import Part
from stateward.kube.meta import Condition, Object


class Container(Part):
    """A container as asked for."""

    name: str = ""
    image: str = ""
    args: tuple[str, ...] = ()


class ClaimSource(Part):
    """The claim behind a volume."""

    claim_name: str = ""


class Volume(Part):
    """A volume; we only care about claims."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None


class PodSpec(Part):
    """What a pod is asked to be."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    volumes: tuple[Volume, ...] = ()


class Waiting(Part):
    """Why a container does not run."""

    reason: str = ""
    message: str = ""


class Running(Part):
    """Since when a container runs."""

    started_at: str | None = None


class Terminated(Part):
    """How a container ended."""

    reason: str = ""
    message: str = ""
    exit_code: int = 0
    started_at: str | None = None
    finished_at: str | None = None
    container_id: str = msgspec.field(default="", name="containerID")


class ContainerState(Part):
    """Waiting, terminated, or (neither set) running."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(Part):
    """A container as it is."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    image: str = ""
    #: Another one after every start.
    container_id: str = msgspec.field(default="", name="containerID")
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodIP(Part):
    """One of a pod's addresses."""

    ip: str = ""


class PodStatus(Part):
    """What a pod is."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    pod_ip: str = ""
    pod_ips: tuple[PodIP, ...] = ()
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Object):
    """A pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def ready(self) -> bool:
        """True when the pod may receive traffic."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)


class Taint(Part):
    """Why a node does not want pods."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(Part):
    """What a node is asked to be."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Part):
    """What a node is."""

    conditions: tuple[Condition, ...] = ()


class Node(Object):
    """A machine."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
