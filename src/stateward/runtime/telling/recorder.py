"""Tell people what happened to an object, as Kubernetes events that do not flood anybody.

- The same thing said again within ten minutes is counted on the event that is there.
- The name of an event follows from what it says, so a restarted operator finds its own again.
- Once one reason has had many different messages, further ones share a single "(combined)" event.
- An object that has had its fill of events gets another one every few minutes only.

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
from typing import Any, Generic, Protocol, Self, TypeVar

from stateward.core.clock import Clock
from stateward.core.errors import StatewardError
from stateward.core.moments import to_rfc3339
from stateward.kube.client import MergePatch, Patch
from stateward.kube.codec import Body, Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import EVENTS, Resource
from stateward.runtime.telling import logs
from stateward.runtime.telling.metrics import EventMetrics

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
    def of(cls, resource: Resource[Any], metadata: ObjectMeta) -> Self:
        """Return the reference to an object that we have read."""
        return cls(
            resource.api_version, resource.kind, metadata.namespace, metadata.name, metadata.uid
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much telling is enough."""

    window: float = 600.0  #: seconds of silence after which we no longer rely on what we remember
    messages: int = 10  #: different messages of one reason before they are combined
    burst: int = 25  #: events of one object at once
    refill: float = 300.0  #: seconds until one more is allowed
    message: int = 1024  #: bytes of a message
    remembered: int = 4096  #: objects, reasons and events that we keep in mind


class EventWriter(Protocol):
    """The two calls of the client that telling needs."""

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
    """Tells events in the name of one component; ``instance`` says which replica of it speaks."""

    def __init__(
        self,
        client: EventWriter,
        clock: Clock,
        component: str,
        metrics: EventMetrics,
        *,
        instance: str = "",
        limits: Limits | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._component = component
        self._metrics = metrics
        self._instance = instance or component
        self._limits = limits or Limits()
        self._allowances: _Memory[_Allowance] = _Memory(self._limits.remembered)
        self._reasons: _Memory[_Messages] = _Memory(self._limits.remembered)
        self._events: _Memory[_Told] = _Memory(self._limits.remembered)

    async def tell(
        self, about: ObjectReference, kind: EventType, reason: str, message: str
    ) -> None:
        """Tell it, or log why not. Raises nothing, unless the caller is cancelled."""
        if not self._allows(about):
            self._metrics.lost("throttled")
            return
        note = self._note(about, kind, reason, message)
        try:
            await self._write(note)
        except StatewardError as error:
            self._metrics.lost("failed")
            _log.warning("an event could not be told", **note.shown(), error=error)
        except Exception:  # noqa: BLE001 - telling must never fail the caller
            self._metrics.lost("failed")
            _log.exception("an event could not be told", **note.shown())
        else:
            self._metrics.told(kind, reason)

    def _allows(self, about: ObjectReference) -> bool:
        now, limits = self._clock.monotonic(), self._limits
        allowance = self._allowances.recall(
            _identity(about), lambda: _Allowance(float(limits.burst), now)
        )
        return allowance.take(now, limits)

    def _note(self, about: ObjectReference, kind: EventType, reason: str, message: str) -> _Note:
        now, limits = self._clock.monotonic(), self._limits
        said = (self._component, _identity(about), kind, reason)
        digest = _digest(*said, message)
        messages = self._reasons.recall(_digest(*said), lambda: _Messages(now))
        if messages.admits(digest, now, limits):
            return _Note(about, kind, reason, _cut(message, limits.message), digest)
        text = _cut(f"{_COMBINED} {message}", limits.message)
        return _Note(about, kind, reason, text, _digest(*said, _COMBINED), combined=True)

    async def _write(self, note: _Note) -> None:
        told = self._events.recall(note.digest, _Told)
        async with told.lock:  # or two who say the same at once would count as one
            now = self._clock.monotonic()
            if told.count and now - told.at <= self._limits.window:
                await self._count_on(note, told)
            else:
                await self._create(note, told)
            told.at = now

    async def _count_on(self, note: _Note, told: _Told) -> None:
        try:
            await self._patch(note, {"count": told.count + 1, **self._latest(note)})
        except NotFound:  # events end by themselves, after an hour as a rule
            await self._create(note, told)
        else:
            told.count += 1

    async def _create(self, note: _Note, told: _Told) -> None:
        told.count = 0
        try:
            await self._client.create(EVENTS, self._body(note))
        except AlreadyExists:
            # Told before we started, or longer ago than we remember; the answer says how often.
            count = await self._patch(note, self._latest(note)) + 1
            told.count = await self._patch(note, {"count": count})
        else:
            told.count = 1

    async def _patch(self, note: _Note, body: Json) -> int:
        return (await self._client.patch(EVENTS, note.key, MergePatch(body))).count

    def _latest(self, note: _Note) -> Json:
        latest = {"lastTimestamp": to_rfc3339(self._clock.now())}
        return {**latest, "message": note.message} if note.combined else latest

    def _body(self, note: _Note) -> Json:
        now = to_rfc3339(self._clock.now())
        about = note.about
        target = {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        }
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": note.key.name, "namespace": note.key.namespace},
            "involvedObject": {name: value for name, value in target.items() if value},
            "type": str(note.kind),
            "reason": note.reason,
            "message": note.message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._instance,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }


_COMBINED = "(combined)"

#: What Kubernetes accepts as the name of most objects.
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_MAX_NAME = 253


@dataclass(frozen=True, slots=True)
class _Note:
    """One event, as it is to be written."""

    about: ObjectReference
    kind: EventType
    reason: str
    message: str
    digest: str
    combined: bool = False

    @property
    def key(self) -> ObjectKey:
        """Events live beside their object; those of objects without a namespace, in ``default``."""
        return ObjectKey(
            self.about.namespace or "default", _event_name(self.about.name, self.digest)
        )

    def shown(self) -> dict[str, str]:
        """Return what a log line says about it."""
        where = ObjectKey(self.about.namespace, self.about.name)
        return {
            "about": f"{self.about.kind} {where}",
            "reason": self.reason,
            "message": self.message,
        }


@dataclass(slots=True)
class _Allowance:
    """How many more events one object may have: a bucket that fills slowly."""

    left: float
    at: float

    def take(self, now: float, limits: Limits) -> bool:
        self.left = min(float(limits.burst), self.left + (now - self.at) / limits.refill)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass(slots=True)
class _Messages:
    """The different messages that one reason has had of late, by digest."""

    at: float
    seen: set[str] = field(default_factory=set)

    def admits(self, digest: str, now: float, limits: Limits) -> bool:
        if now - self.at > limits.window:
            self.seen.clear()
        self.at = now
        if digest not in self.seen and len(self.seen) >= limits.messages:
            return False
        self.seen.add(digest)
        return True


@dataclass(slots=True)
class _Told:
    """How often an event has been told, as far as we know; 0 when we do not know that it exists."""

    count: int = 0
    at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Memory(Generic[V]):
    """A dictionary that forgets what was not asked for the longest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def recall(self, name: str, make: Callable[[], V]) -> V:
        """Return what is kept under the name, new if there is nothing."""
        if name not in self._kept:
            self._kept[name] = make()
        self._kept.move_to_end(name)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return self._kept[name]


def _identity(about: ObjectReference) -> str:
    return about.uid or f"{about.kind}/{about.namespace}/{about.name}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _event_name(name: str, digest: str) -> str:
    """Return a name that Kubernetes accepts, whatever the object is called.

    >>> _event_name("system:Node", "00ff")
    'system-node.00ff'
    """
    stem = name[: _MAX_NAME - len(digest) - 1].rstrip("-.")
    if _DNS_SUBDOMAIN.fullmatch(stem) is None:
        stem = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "object"
    return f"{stem}.{digest}"


def _cut(message: str, limit: int) -> str:
    clean = str(logs.scrubbed(message))
    data = clean.encode()
    return clean if len(data) <= limit else f"{data[: limit - 3].decode(errors='ignore')}..."
