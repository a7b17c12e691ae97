"""The fdbserver processes of one pod: each started, heard, and started again when it ends.

A new configuration ends none of them: it is what the next start goes by. Nothing is started while
there is no configuration, while the one in force wants no servers, or while the pod is isolated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from signal import SIGTERM

from stateward.core.clock import Clock
from stateward.emulate.keepers import children
from stateward.emulate.keepers.children import Child, Launch
from stateward.emulate.keepers.image import Image
from stateward.emulate.keepers.unified import config as configs
from stateward.emulate.keepers.unified.backoff import Failures
from stateward.emulate.keepers.unified.judgement import Accepted
from stateward.emulate.keepers.unified.logs import Log
from stateward.emulate.keepers.unified.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Means:
    """What servers are kept with."""

    image: Image
    log: Log
    clock: Clock
    metrics: Metrics
    #: What a process gets, and what its arguments are made of; the second may have more.
    inherited: Mapping[str, str]
    environment: Mapping[str, str]
    patience: float = children.DEFAULT_PATIENCE


class Servers:
    """Some processes that are alike but for their number, from 1 on."""

    def __init__(self, means: Means, count: int) -> None:
        self._means = means
        self._accepted: Accepted | None = None
        self._isolated = False
        self._changed = asyncio.Event()
        self._children: dict[int, Child] = {}
        self._tasks = [asyncio.create_task(self._keep(it)) for it in range(1, count + 1)]

    def adopt(self, accepted: Accepted) -> None:
        """Start, from now on, by this configuration."""
        self._accepted = accepted
        self._changed.set()

    async def isolate(self, *, isolated: bool) -> None:
        """End all processes and start none; or start them again."""
        self._isolated = isolated
        self._changed.set()
        if isolated:
            await self._end_all(SIGTERM)

    async def close(self, number: int = SIGTERM) -> None:
        """End all processes with a signal, and keep none any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._end_all(number)

    async def _end_all(self, number: int) -> None:
        for process, child in self._children.items():
            self._means.log.info("ending fdbserver", processNumber=process, PID=child.pid)
        running = list(self._children.values())
        asked = await asyncio.gather(*(it.end(self._means.patience, number) for it in running))
        for child, was_enough in zip(running, asked, strict=True):
            if not was_enough:
                self._means.log.trouble("fdbserver did not end when asked to", PID=child.pid)

    async def _keep(self, number: int) -> None:
        failures = Failures()
        while True:
            accepted = await self._wish()
            began = self._means.clock.monotonic()
            code = await self._live(number, accepted)
            failures = failures.remembered(self._means.clock.monotonic() - began)
            if code == 0:
                continue
            self._means.log.info(
                "waiting before the next start",
                processNumber=number,
                seconds=failures.pause,
                failures=failures.count,
            )
            await self._means.clock.sleep(failures.pause)
            failures = failures.another()

    async def _wish(self) -> Accepted:
        """Return what to start by, once there is something to start."""
        while True:
            accepted = self._accepted
            if accepted is not None and accepted.config.runs and not self._isolated:
                return accepted
            self._changed.clear()
            await self._changed.wait()

    async def _live(self, number: int, accepted: Accepted) -> int:
        """Run a process to its end; return its exit code, which is -1 when a signal ended it."""
        means, log = self._means, self._means.log
        try:
            launch = self._launch(number, accepted)
            log.info("starting fdbserver", processNumber=number, arguments=launch.argv)
            child = children.start(launch, _relaying(log, number))
        except (OSError, ValueError) as error:
            log.trouble("fdbserver cannot be started", error, processNumber=number)
            return -1
        means.metrics.started(number, accepted.config.version, means.clock.now())
        log.info("fdbserver started", processNumber=number, PID=child.pid)
        self._children[number] = child
        # Gone from the list when it ends, whether or not anybody still waits for that.
        child.ended.add_done_callback(lambda _: self._forget(number, child))
        code = max(-1, await asyncio.shield(child.ended))
        log.info("fdbserver ended", processNumber=number, PID=child.pid, exitCode=code)
        return code

    def _forget(self, number: int, child: Child) -> None:
        if self._children.get(number) is child:
            del self._children[number]

    def _launch(self, number: int, accepted: Accepted) -> Launch:
        image = self._means.image
        words = configs.arguments(accepted.config, number, self._means.environment)
        env = dict(self._means.inherited)
        env[children.COMMAND_LINE] = " ".join((accepted.program, *words))
        argv = (accepted.program, *(image.places.translated(it) for it in words))
        return Launch(argv, image.runs(accepted.program), env)


def _relaying(log: Log, number: int) -> children.Hear:
    def relay(is_error: bool, text: str) -> None:  # noqa: FBT001 - the port says so
        if is_error:
            log.trouble("said by fdbserver", output=text, processNumber=number)
        else:
            log.info("said by fdbserver", output=text, processNumber=number)

    return relay
