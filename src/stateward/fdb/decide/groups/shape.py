"""What a cluster's spec says of a process group; the rest of it is what was decided of it since."""

from __future__ import annotations

from typing import Final

from stateward.fdb.api.group import FoundationDBProcessGroupSpec

SHAPE: Final = (
    "process_settings",
    "process_group_id_prefix",
    "service",
    "servers_per_pod",
    "image_type",
    "log_group",
    "sidecar_variables",
    "deletion_policy",
)


def same_shape(one: FoundationDBProcessGroupSpec, other: FoundationDBProcessGroupSpec) -> bool:
    """Tell whether two specs ask for the same objects."""
    return all(getattr(one, it) == getattr(other, it) for it in SHAPE)
