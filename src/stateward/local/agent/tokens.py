"""Tokens of service accounts for pods: asked for once, kept, and renewed before they end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import structlog

from stateward.core.errors import StatewardError
from stateward.core.ports import Ports
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.meta import ObjectKey
from stateward.runtime.backoff import Backoff

#: This share of its life a token is used.
_USED: Final = 0.8
#: Seconds: no token is asked for more often.
_LEAST: Final = 10.0
_RETRY: Final = Backoff(first=0.5, limit=30.0)


@dataclass(frozen=True, slots=True)
class Ask:
    """For whom a token is, and for which listener; none named: the API server."""

    pod: ObjectKey
    uid: str
    account: str
    audience: str = ""
    seconds: int = 3600


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and until when it is good."""

    text: str = field(repr=False)
    until: float


class Issuer(Protocol):
    """Who gives out tokens."""

    async def issue(self, ask: Ask) -> Token:
        """Return a new one."""


class Tokens:
    """The tokens of the pods of an agent."""

    def __init__(
        self,
        issuer: Issuer,
        ports: Ports,
        *,
        beside: Callable[[Coroutine[Any, Any, None]], None],
        hear: Callable[[str], None],
    ) -> None:
        self._issuer = issuer
        self._ports = ports
        self._beside = beside
        self._hear = hear
        #: None while the first one is awaited.
        self._known: dict[Ask, Token | None] = {}
        self._log = structlog.get_logger("agent")

    def get(self, ask: Ask) -> bytes | None:
        """Return the token; None while there is none, and its namespace is told when there is."""
        if ask not in self._known:
            self._known[ask] = None
            self._beside(self._keep(ask))
        token = self._known[ask]
        return token.text.encode() if token is not None else None

    async def _keep(self, ask: Ask) -> None:
        """Have a good token until there is no such pod or account; who asks then, begins anew."""
        failures = 0
        while True:
            try:
                token = await self._issuer.issue(ask)
            except (NotFound, Conflict):
                del self._known[ask]
                return
            except StatewardError as error:
                failures += 1
                self._log.warning("no token", pod=str(ask.pod), error=error.sentence())
                await self._ports.clock.sleep(_RETRY.delay(failures, self._ports.chance))
                continue
            failures = 0
            self._known[ask] = token
            self._hear(ask.pod.namespace)
            left = token.until - self._ports.clock.now()
            await self._ports.clock.sleep(max(left * _USED, _LEAST))
