"""All containers of a pod: begun in their order, ended in the opposite one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from stateward.local.agent.life import status
from stateward.local.agent.life.containers import ContainerLife
from stateward.local.agent.life.recipe import Recipe
from stateward.local.agent.life.tools import Grace, Household, Tools, finished, given_up


class Crew:
    """The lives of the containers of one pod."""

    def __init__(
        self,
        facts: status.PodFacts,
        policy: str,
        pod: Household,
        tools: Tools,
        recipe: Callable[[str], Recipe],
    ) -> None:
        self._pod = pod
        self._facts = facts
        self._tools = tools
        self._inits = [
            ContainerLife(it, pod, tools, _init_policy(it, policy), recipe) for it in facts.inits
        ]
        self._mains = [ContainerLife(it, pod, tools, policy, recipe) for it in facts.mains]
        #: By name, those of init containers first.
        self.lives = {it.view.name: it for it in (*self._inits, *self._mains)}
        if self._inits:
            self._wait(self._mains, "PodInitializing")

    def is_init(self, name: str) -> bool:
        """Tell whether a container belongs to the start of the pod."""
        return self.lives[name] in self._inits

    def tell_waiting(self, message: str) -> None:
        """Say what those wait for who have not begun."""
        for life in self.lives.values():
            if isinstance(state := life.view.state, status.Waiting):
                life.view.state = status.Waiting(state.reason, message)
        self._pod.changed()

    async def run(self) -> None:
        """Run them all, until all are over that are ever going to be."""
        for life in self._inits:
            if not await self._is_initialized(life):
                return
        self._wait(self._mains, "ContainerCreating")
        await finished([life.task for life in self._mains])
        await _end(self._sidecars(), Grace(self._tools.clock, self._pod.grace_seconds))

    async def end(self, grace: Grace) -> None:
        """End them all for good, those last that serve the others."""
        sidecars = self._sidecars()
        await _end([it for it in self.lives.values() if it not in sidecars], grace)
        await _end(sidecars, grace)
        self._pod.changed()

    def abandon(self) -> None:
        """Kill whatever runs, at once, and start nothing more."""
        for life in self.lives.values():
            life.abandon()

    async def _is_initialized(self, life: ContainerLife) -> bool:
        """Run an init container; tell whether the next one may begin."""
        if not life.view.sidecar:
            await finished([life.task])
            return isinstance(life.view.state, status.Terminated) and not life.view.has_failed
        up = asyncio.create_task(life.up.wait())
        try:
            await asyncio.wait({life.task, up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await given_up([up])
        return life.up.is_set()

    def _sidecars(self) -> list[ContainerLife]:
        return [it for it in reversed(self._inits) if it.view.sidecar]

    def _wait(self, lives: Iterable[ContainerLife], reason: str) -> None:
        for life in lives:
            if isinstance(life.view.state, status.Waiting):
                life.view.state = status.Waiting(reason)


def _init_policy(view: status.ContainerView, policy: str) -> str:
    if view.sidecar:
        return "Always"
    return "OnFailure" if policy == "Always" else policy


async def _end(lives: Iterable[ContainerLife], grace: Grace) -> None:
    ends = [asyncio.create_task(life.end(grace)) for life in lives]
    try:
        await finished(ends)
    finally:
        await given_up(ends)
