"""One container: started, watched, started again, and ended."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import replace

import structlog

from stateward.core.errors import UsageError
from stateward.kube.codec import Json
from stateward.local.agent.actions import Target
from stateward.local.agent.files.logs import RunLogs
from stateward.local.agent.life import status
from stateward.local.agent.life.patience import Patience
from stateward.local.agent.life.recipe import Recipe
from stateward.local.agent.life.status import ContainerView, Running, Terminated
from stateward.local.agent.life.tools import Grace, Household, Tools, first, given_up
from stateward.local.agent.life.watching import Watch
from stateward.local.agent.processes import Process
from stateward.runtime.telling.recorder import EventType


class ContainerLife:
    """Runs one container until it is over."""

    def __init__(
        self,
        view: ContainerView,
        pod: Household,
        tools: Tools,
        policy: str,
        recipe: Callable[[str], Recipe],
    ) -> None:
        self.view = view
        uid = pod.metadata.uid
        self.logs = RunLogs(lambda run: tools.folders.log(uid, view.name, run), tools.clock.now)
        #: Set once it started well; sidecars are waited for by this.
        self.up = asyncio.Event()
        self._pod = pod
        self._tools = tools
        self._policy = policy
        self._recipe: Callable[[], Recipe] = lambda: recipe(view.name)
        self._patience = Patience(view, pod, tools, self._recipe)
        self._process: Process | None = None
        self._target: Target | None = None
        self._image = ""
        self._ending: asyncio.Task[None] | None = None
        self._is_over = False
        self._ends = 0
        self._task: asyncio.Task[None] | None = None
        if view.container_id:  # an earlier agent ran it, and its words are still there
            self.logs.recall(view.restarts)
        self._log = structlog.get_logger("agent").bind(
            pod=str(pod.metadata.key), container=view.name
        )

    @property
    def task(self) -> asyncio.Task[None]:
        """The whole of its life, begun at the first asking."""
        if self._task is None:
            self._task = asyncio.create_task(self._live())
        return self._task

    def abandon(self) -> None:
        """Kill whatever runs, at once, and start nothing more."""
        self._is_over = True
        self.signal(signal.SIGKILL)
        if self._task is not None:
            self._task.cancel()

    def signal(self, number: int) -> None:
        """Send a signal to whatever runs."""
        if self._process is not None:
            self._process.signal(number)

    def updated(self) -> None:
        """Look whether another image is wanted than the one that runs."""
        if self._process is None or self._ending is not None:
            return
        if self._recipe().image not in {self._image, ""}:
            self.restart("definition changed, will be restarted", self._pod.grace_seconds)

    def restart(self, why: str, seconds: float) -> None:
        """End what runs; its policy decides about the next run."""
        if self._process is None or self._ending is not None or self._is_over:
            return
        self.say(EventType.NORMAL, "Killing", f"Container {self.view.name} {why}")
        grace = Grace(self._tools.clock, seconds)
        self._ending = asyncio.create_task(self._end_process(self._process, grace))

    async def end(self, grace: Grace) -> None:
        """End it for good: ask first, and kill when the grace is over."""
        self._is_over = True
        if self._task is None:
            return
        if self._process is not None:
            self.say(EventType.NORMAL, "Killing", f"Stopping container {self.view.name}")
            if self._ending is not None:
                await given_up([self._ending])
            await self._end_process(self._process, grace)
        else:
            self._task.cancel()
        await asyncio.wait({self._task})

    # -------------------------------------------------------------- the turns of a life
    async def _live(self) -> None:
        try:
            while self._may_start():
                await self._patience.next_start(self._ends)
                await self._run(await self._patience.recipe())
        except Exception as error:  # noqa: BLE001 - a bug about one must not disturb the others
            self._log.exception("the life of a container failed by a bug")
            self.view.wait("RunContainerError", f"a bug of the agent: {error!r}")
            self._pod.changed()

    def _may_start(self) -> bool:
        over = self.view.state
        if self._is_over or not isinstance(over, Terminated):
            return not self._is_over
        return status.restarts(self._policy, over.exit_code)

    # -------------------------------------------------------------- one run
    async def _run(self, recipe: Recipe) -> None:
        began, since = self._tools.clock.now(), self._tools.clock.monotonic()
        process = self._start(recipe, began)
        if process is None:
            self._ends += 1
            return
        watching = asyncio.create_task(self._watch(recipe))
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            process.signal(signal.SIGKILL)  # nobody is left who could wait for a better end
            raise
        finally:
            watching.cancel()
        # Nothing may come between the end and its being taken in: a stop would lose it.
        self._process = None
        ran = self._tools.clock.monotonic() - since
        self._ends = self._tools.backoff.ends_after(self._ends, ran)
        self._take_in_end(code, began, recipe)
        ending, self._ending = self._ending, None
        await given_up([watching, *([ending] if ending else [])])
        await self._tools.runner.clear(recipe.mark)

    def _start(self, recipe: Recipe, began: float) -> Process | None:
        view = self.view
        view.begin(self._pod.metadata.uid)
        self.say(EventType.NORMAL, "Created", f"Created container: {view.name}")
        try:
            self._target = recipe.target()
            launch = recipe.launch()
            self._process = self._tools.runner.start(launch, self.logs.begin(view.restarts))
        except (UsageError, OSError, ValueError) as error:
            if self.logs.last is not None:
                self.logs.last.close()
            words = error.sentence() if isinstance(error, UsageError) else str(error)
            view.end(Terminated(128, 0, "StartError", words, began, began))
            self.say(EventType.WARNING, "Failed", f"Error: {words}")
            self._pod.changed()
            return None
        self._image = view.image = recipe.image
        view.emulated = launch.emulated
        view.state = Running(began)
        self.say(EventType.NORMAL, "Started", f"Started container {view.name}")
        self._pod.changed()
        return self._process

    async def _watch(self, recipe: Recipe) -> None:
        assert self._target is not None  # noqa: S101 - set before anything is started
        try:
            await Watch(self, recipe, self._target, self._tools).run()
        except Exception:  # noqa: BLE001 - a bug in a probe must not end the container
            self._log.exception("watching a container failed by a bug")

    def _take_in_end(self, code: int, began: float, recipe: Recipe) -> None:
        over = status.ended(code, began, self._tools.clock.now(), self.view.container_id)
        words = recipe.last_words() or _end_of_log(self.logs, code, recipe)
        self.up.clear()
        self.view.end(replace(over, message=words.decode(errors="replace")))
        self._log.info("container ended", exit_code=over.exit_code)
        self._pod.changed()

    async def _end_process(self, process: Process, grace: Grace) -> None:
        hook = (self._recipe().spec.get("lifecycle") or {}).get("preStop")
        if hook and grace.left > 0:
            await first(self._before_stop(hook, grace), process.wait(), grace.over())
        process.signal(signal.SIGTERM)
        await first(process.wait(), grace.over())
        process.signal(signal.SIGKILL)
        await process.wait()

    async def _before_stop(self, hook: Json, grace: Grace) -> None:
        if self._target is None:
            return
        result = await self._tools.actions.act(hook, self._target, grace.left)
        if not result.ok:
            self.say(
                EventType.WARNING, "FailedPreStopHook", f"PreStopHook failed: {result.message}"
            )

    # -------------------------------------------------------------- what a watch finds
    def is_up(self) -> None:
        """Take in that it started well."""
        self.view.started = True
        self.up.set()
        self._pod.changed()

    def is_ready(self, *, ready: bool) -> None:
        """Take in whether it may be used."""
        if self.view.ready is not ready and isinstance(self.view.state, Running):
            self.view.ready = ready
            self._pod.changed()

    def say(self, kind: EventType, reason: str, message: str) -> None:
        """Tell people something about it."""
        self._pod.say(kind, reason, message)


def _end_of_log(logs: RunLogs, code: int, recipe: Recipe) -> bytes:
    """Return what stands for last words, where a container asks for that and failed."""
    wanted = recipe.spec.get("terminationMessagePolicy") == "FallbackToLogsOnError"
    return logs.last.tail() if wanted and code != 0 and logs.last is not None else b""
