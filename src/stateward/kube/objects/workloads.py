"""Workloads: the fields that we read."""

from __future__ import annotations

from stateward.kube.codec import Part
from stateward.kube.meta import Condition, Object


class ReplicaSpec(Part):
    """How many, and by which revision of ourselves."""

    replicas: int = 1


class StatefulSetStatus(Part):
    """How far a StatefulSet is."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""


class StatefulSet(Object):
    """Pods with names that last."""

    spec: ReplicaSpec = ReplicaSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class DeploymentStatus(Part):
    """How far a Deployment is."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    conditions: tuple[Condition, ...] = ()


class Deployment(Object):
    """Pods that are all alike."""

    spec: ReplicaSpec = ReplicaSpec()
    status: DeploymentStatus = DeploymentStatus()


class JobStatus(Part):
    """How a Job ended, or that it runs."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0
    conditions: tuple[Condition, ...] = ()


class Job(Object):
    """Work that ends."""

    status: JobStatus = JobStatus()


class CronJobSpec(Part):
    """When to work."""

    schedule: str = ""
    suspend: bool = False


class CronJob(Object):
    """Work that comes again."""

    spec: CronJobSpec = CronJobSpec()
