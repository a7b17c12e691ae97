"""Probes: how often a container is asked, and from when on an answer counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self

from stateward.core.clock import Clock
from stateward.kube.codec import Json
from stateward.local.agent.actions import Result

#: A container that was never well is asked more often at first: programs start fast here.
_EAGER_STEP = 0.05
_EAGER_LIMIT = 0.2
#: ... but not for longer than this.
_EAGER_FOR = 10.0


@dataclass(frozen=True, slots=True)
class Terms:
    """How a probe behaves."""

    delay: float = 0.0
    period: float = 10.0
    timeout: float = 1.0
    successes: int = 1
    failures: int = 3

    @classmethod
    def of(cls, probe: Json) -> Self:
        """Read the terms of a probe; what is left out is as Kubernetes says."""
        return cls(
            float(probe.get("initialDelaySeconds") or 0),
            float(probe.get("periodSeconds") or 10),
            float(probe.get("timeoutSeconds") or 1),
            int(probe.get("successThreshold") or 1),
            int(probe.get("failureThreshold") or 3),
        )


class Tally:
    """Counts answers of one kind in a row. Pure.

    >>> tally = Tally(Terms(failures=2))
    >>> [tally.take(ok=it) for it in (True, False, False, False, True)]
    [True, None, False, False, True]
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._last: bool | None = None
        self._row = 0

    def take(self, *, ok: bool) -> bool | None:
        """Take in an answer; return what is the case by now, or None while that is open."""
        self._row = self._row + 1 if ok is self._last else 1
        self._last = ok
        needed = self._terms.successes if ok else self._terms.failures
        return ok if self._row >= needed else None


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer, and what is the case by it (None: still open)."""

    verdict: bool | None
    result: Result


async def watch(
    terms: Terms,
    ask: Callable[[float], Awaitable[Result]],
    hear: Callable[[Finding], Awaitable[None]],
    clock: Clock,
    *,
    eager: bool = False,
) -> None:
    """Ask for ever and tell every answer.

    An eager one asks in short steps until all is well for the first time; of the failures on the
    way only one a period counts, so that nobody is condemned any faster.
    """
    if terms.delay:
        await clock.sleep(terms.delay)
    tally = Tally(terms)
    began = clock.monotonic()
    due = began + terms.period
    step = _EAGER_STEP
    while True:
        result = await ask(terms.timeout)
        now = clock.monotonic()
        if result.ok or not eager or now >= due:
            verdict = tally.take(ok=result.ok)
            due = now + terms.period
            await hear(Finding(verdict, result))
            eager = eager and verdict is not True
        if eager and now < began + _EAGER_FOR:
            await clock.sleep(min(step, _EAGER_LIMIT, terms.period))
            step *= 2
        else:
            await clock.sleep(terms.period)
