"""What a container waits for before it starts: its image, its configuration, its back-off."""

from __future__ import annotations

from collections.abc import Callable

from stateward.core.errors import UsageError
from stateward.local.agent.environment import ConfigMissing
from stateward.local.agent.files.volumes import NotMounted
from stateward.local.agent.images import ImageRefused, ProgramMissing
from stateward.local.agent.life.recipe import Recipe
from stateward.local.agent.life.status import ContainerView
from stateward.local.agent.life.tools import Household, Tools, first
from stateward.runtime.telling.recorder import EventType

#: Seconds between looks at something that is missing, if nobody tells that it came.
_LOOK_AGAIN = 10.0
#: Seconds for which a refused image is told as an error before it is told as a back-off.
_FRESH_REFUSAL = 1.0


class Patience:
    """Waits for one container, and says in its view for what."""

    def __init__(
        self, view: ContainerView, pod: Household, tools: Tools, recipe: Callable[[], Recipe]
    ) -> None:
        self._view = view
        self._pod = pod
        self._tools = tools
        self._recipe = recipe

    async def recipe(self) -> Recipe:
        """Return how to run it, once everything for that is there."""
        refusals = 0
        while True:
            try:
                recipe = self._recipe()
                recipe.check()
            except ImageRefused as error:
                refusals += 1
                await self._for_image(error, refusals)
            except ProgramMissing:
                return recipe  # its start will fail, and say so
            except (ConfigMissing, NotMounted, OSError, ValueError) as error:
                self._wait("CreateContainerConfigError", str(error))
                self._pod.say(EventType.WARNING, "Failed", f"Error: {error}")
                await first(self._tools.clock.sleep(_LOOK_AGAIN), self._pod.bell.heard())
            else:
                return recipe

    async def next_start(self, ends: int) -> None:
        """Return when it may start after so many ends in a row."""
        delay = self._tools.backoff.delay(ends - 1)
        if not delay:
            return
        meta, name = self._pod.metadata, self._view.name
        whom = f"{meta.name}_{meta.namespace}({meta.uid})"
        said = f"Back-off restarting failed container {name} in pod {whom}"
        self._pod.say(EventType.WARNING, "BackOff", said)
        words = f"back-off {delay:g}s restarting failed container={name} pod={whom}"
        self._wait("CrashLoopBackOff", words)
        await self._tools.clock.sleep(delay)

    async def _for_image(self, error: UsageError, refusals: int) -> None:
        clock, sentence, image = self._tools.clock, error.sentence(), self._recipe().image
        said = f'Failed to pull image "{image}": {sentence}'
        self._pod.say(EventType.WARNING, "Failed", said)
        delay = self._tools.backoff.delay(refusals)
        if refusals == 1:
            self._wait("ErrImagePull", sentence)
            await clock.sleep(min(_FRESH_REFUSAL, delay))
        words = f'Back-off pulling image "{image}": ErrImagePull: {sentence}'
        self._wait("ImagePullBackOff", words)
        self._pod.say(EventType.NORMAL, "BackOff", f'Back-off pulling image "{image}"')
        await first(clock.sleep(delay), self._pod.bell.heard())

    def _wait(self, reason: str, message: str) -> None:
        self._view.wait(reason, message)
        self._pod.changed()
