"""What goes on beside a running container: the hook at its start and its probes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from stateward.kube.codec import Json
from stateward.local.agent.actions import Result, Target
from stateward.local.agent.life.probes import Finding, Terms, watch
from stateward.local.agent.life.recipe import Recipe
from stateward.local.agent.life.tools import Tools, given_up
from stateward.runtime.telling.recorder import EventType

#: Seconds that a hook at the start of a container may take.
_HOOK = 600.0


class Watched(Protocol):
    """The container, as far as its watch has to do with it."""

    def is_up(self) -> None:
        """Take in that it started well."""

    def is_ready(self, *, ready: bool) -> None:
        """Take in whether it may be used."""

    def restart(self, why: str, seconds: float) -> None:
        """End what runs."""

    def say(self, kind: EventType, reason: str, message: str) -> None:
        """Tell people something about it."""


class Watch:
    """The hook and the probes of one run of a container."""

    def __init__(self, container: Watched, recipe: Recipe, target: Target, tools: Tools) -> None:
        self._container = container
        self._recipe = recipe
        self._tools = tools
        self._target = target
        usual = recipe.pod.spec.get("terminationGracePeriodSeconds")
        self._grace = 30.0 if usual is None else float(usual)

    async def run(self) -> None:
        """Watch until cancelled."""
        if not await self._is_well_begun():
            return
        spec = self._recipe.spec
        if startup := spec.get("startupProbe"):
            await self._wait_for_startup(startup)
        self._container.is_up()
        probes = []
        if readiness := spec.get("readinessProbe"):
            probes.append(asyncio.create_task(self._probe(readiness, self._hear_ready, eager=True)))
        else:
            self._container.is_ready(ready=True)
        if liveness := spec.get("livenessProbe"):
            hear = self._killing("liveness", liveness)
            probes.append(asyncio.create_task(self._probe(liveness, hear)))
        try:
            if probes:
                await asyncio.wait(probes)
        finally:
            await given_up(probes)

    async def _is_well_begun(self) -> bool:
        hook = (self._recipe.spec.get("lifecycle") or {}).get("postStart")
        if not hook:
            return True
        result = await self._tools.actions.act(hook, self._target, _HOOK)
        if not result.ok:
            message = f"PostStartHook failed: {result.message}"
            self._container.say(EventType.WARNING, "FailedPostStartHook", message)
            self._container.restart("failed its postStart hook", self._grace)
        return result.ok

    async def _wait_for_startup(self, probe: Json) -> None:
        well = asyncio.Event()
        condemned = self._killing("startup", probe)

        async def hear(finding: Finding) -> None:
            if finding.verdict is True:
                well.set()
            else:
                await condemned(finding)

        probing = asyncio.create_task(self._probe(probe, hear, eager=True))
        try:
            await well.wait()
        finally:
            await given_up([probing])

    async def _probe(
        self, probe: Json, hear: Callable[[Finding], Awaitable[None]], *, eager: bool = False
    ) -> None:
        async def ask(seconds: float) -> Result:
            return await self._tools.actions.act(probe, self._target, seconds)

        terms = Terms.of(probe)
        if not eager and not terms.delay:
            terms = replace(terms, delay=terms.period)  # no program is alive before it is up
        await watch(terms, ask, hear, self._tools.clock, eager=eager)

    async def _hear_ready(self, finding: Finding) -> None:
        if not finding.result.ok:
            self._unhealthy("Readiness", finding)
        if finding.verdict is not None:
            self._container.is_ready(ready=finding.verdict)

    def _killing(self, kind: str, probe: Json) -> Callable[[Finding], Awaitable[None]]:
        grace = float(probe.get("terminationGracePeriodSeconds") or self._grace)

        async def hear(finding: Finding) -> None:
            if finding.result.ok:
                return
            self._unhealthy(kind.capitalize(), finding)
            if finding.verdict is False:
                self._container.restart(f"failed {kind} probe, will be restarted", grace)

        return hear

    def _unhealthy(self, kind: str, finding: Finding) -> None:
        message = f"{kind} probe failed: {finding.result.message}"
        self._container.say(EventType.WARNING, "Unhealthy", message)
