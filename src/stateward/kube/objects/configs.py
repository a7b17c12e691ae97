"""Configuration kinds: the fields that we read."""

from __future__ import annotations

from stateward.kube.codec import Part
from stateward.kube.meta import Condition, Object


class ConfigMap(Object):
    """Named texts."""

    data: dict[str, str] = {}


class Secret(Object):
    """Named secrets, each in base64. Their values never reach a log: see ``__repr__``."""

    type: str = ""
    data: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Secret({self.metadata.key}, keys={sorted(self.data)})"


class NamespaceStatus(Part):
    """Whether a namespace is on its way out."""

    phase: str = ""


class Namespace(Object):
    """A room for objects."""

    status: NamespaceStatus = NamespaceStatus()


class CustomResourceStatus(Part):
    """Whether the kind is served."""

    conditions: tuple[Condition, ...] | None = None  # null while the server has not looked at it


class CustomResourceDefinition(Object):
    """A kind that somebody added."""

    status: CustomResourceStatus = CustomResourceStatus()
