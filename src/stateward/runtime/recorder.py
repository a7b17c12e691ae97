"""Tell people what happened to an object, as Kubernetes events that do not flood anybody.

- The same thing said again within ten minutes is counted on the event that is there.
- The name of an event follows from what it says, so a restarted operator finds its own events again.
- Once one reason has had many different messages, further ones share a single "(combined)" event.
- An object that has had its fill of events gets a new one every few minutes only.

Telling is a courtesy: it never fails the caller. What could not be told is logged and counted.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Protocol, Self, TypeVar

from stateward.core.clock import Clock, to_rfc3339
from stateward.core.errors import StatewardError
from stateward.kube.client import MergePatch, Patch
from stateward.kube.codec import Body, Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import EVENTS, Resource
from stateward.runtime import logs
from stateward.runtime.metrics import EventMetrics

T = TypeVar("T", bound=Object)
V = TypeVar("V")

_log = logs.get("events")


class EventType(StrEnum):
    """How an event is meant."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str

    @classmethod
    def of(cls, resource: Resource[T], metadata: ObjectMeta) -> Self:
        """Return the reference to an object that we have read."""
        return cls(
            resource.api_version, resource.kind, metadata.namespace, metadata.name, metadata.uid
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much telling is enough."""

    window: float = 600.0  #: seconds after which a thing said again is a new thing
    messages: int = 10  #: different messages of one reason before they are combined
    burst: int = 25  #: events of one object at once
    refill: float = 300.0  #: seconds until one more is allowed
    message: int = 1024  #: bytes of a message
    remembered: int = 4096  #: objects, reasons and events that we keep in mind


class EventWriter(Protocol):
    """The two calls that telling needs."""

    async def create(self, resource: Resource[T], body: Body, *, dry_run: bool = False) -> T:
        """Create the event."""

    async def patch(
        self,
        resource: Resource[T],
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Change part of the event."""


class Recorder:
    """Tells events in the name of one component."""

    def __init__(
        self,
        client: EventWriter,
        clock: Clock,
        component: str,
        metrics: EventMetrics,
        *,
        instance: str = "",
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        self._client = client
        self._clock = clock
        self._component = component
        self._metrics = metrics
        self._instance = instance or component
        self._limits = limits
        self._allowances: _Memory[_Allowance] = _Memory(limits.remembered)
        self._reasons: _Memory[_Messages] = _Memory(limits.remembered)
        self._events: _Memory[_Event] = _Memory(limits.remembered)

    async def tell(
        self, about: ObjectReference, kind: EventType, reason: str, message: str
    ) -> None:
        """Tell it, or log why not; never raises, except when cancelled."""
        whose = about.uid or f"{about.kind}/{about.namespace}/{about.name}"
        allowance = self._allowances.get(whose, lambda: _Allowance(float(self._limits.burst)))
        if not allowance.take(self._clock.monotonic(), self._limits):
            self._metrics.lost("throttled")
            return
        note = self._note(whose, about, kind, (reason, _cut(message, self._limits.message)))
        try:
            await self._write(note)
        except Exception as error:  # noqa: BLE001 - telling must never fail the caller
            self._lose(note, error)
        else:
            self._metrics.told(kind, reason)
