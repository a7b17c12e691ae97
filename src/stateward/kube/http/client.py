"""The client port over HTTP: every verb as one exchange, or as a few where only repeating is honest.

Reads are repeated when the connection fails or the server asks to come back later, a few times and within their
deadline. Writes are not: what a lost write did is for the caller to find out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.core.errors import PeerError, PeerUnreachable
from stateward.kube.client import (
    EVERYTHING,
    Listing,
    LogOptions,
    Malformed,
    Patch,
    Propagation,
    Read,
    Selection,
    WatchEvent,
)
from stateward.kube.codec import Body
from stateward.kube.errors import Gone, TooManyRequests, Unavailable
from stateward.kube.http import answers, requests, streams
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.answers import Answer, ServerVersion
from stateward.kube.http.exec_plugin import PluginFailed
from stateward.kube.http.fitting import Page
from stateward.kube.http.login import credentials_for
from stateward.kube.http.requests import Deletion, Request, Writing
from stateward.kube.http.wire import Listeners, Patience, Wire
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how often."""

    #: Seconds for an ordinary call, with its repetitions; also the longest silence within a list or a log.
    deadline: float = 30.0
    #: Seconds for a whole list or log, which may be large.
    bulk_deadline: float = 300.0
    #: Seconds without a byte after which a watch counts as cut. The server sends a bookmark each minute.
    idle: float = 120.0
    #: How often a read is sent at most.
    attempts: int = 4
    #: Objects in a page of a list.
    page: int = 500


class HttpClient:
    """Talks to one API server. Give it back with ``close`` or ``async with``."""

    def __init__(
        self,
        access: ClusterAccess,
        clock: Clock,
        chance: Chance,
        *,
        field_manager: str = "stateward",
        field_validation: str = "",
        limits: Limits = Limits(),  # noqa: B008  frozen
        listeners: Listeners = Listeners(),  # noqa: B008  frozen
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._limits = limits
        self._writing = Writing(field_manager, field_validation)
        credentials = credentials_for(access.credentials, clock)
        self._wire = Wire(access, clock, credentials, listeners, connect_within=limits.deadline)
