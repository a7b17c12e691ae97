"""Volumes: the fields that we read."""

from __future__ import annotations

from stateward.kube.codec import Part
from stateward.kube.meta import Object


class VolumeResources(Part):
    """How much is asked for."""

    requests: dict[str, str] = {}


class ClaimSpec(Part):
    """What a claim asks for."""

    storage_class_name: str | None = None
    volume_name: str = ""
    resources: VolumeResources = VolumeResources()


class ClaimStatus(Part):
    """What a claim has."""

    phase: str = ""
    capacity: dict[str, str] = {}


class PersistentVolumeClaim(Object):
    """A claim to a volume."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()
