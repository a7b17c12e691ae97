"""Programs that are only acted: in virtual time, and ended by the test or by a script."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

from stateward.local.agent.actions import HttpRequest, Result
from stateward.local.agent.processes import Launch, Output, StartFailed

#: What a script is: given the process, acts.
Script = Callable[["Acted"], Any]


class Acted:
    """A process that does what it is told."""

    def __init__(self, pid: int, launch: Launch, output: Output) -> None:
        self.pid = pid
        self.launch = launch
        self.output = output
        self.signals: list[int] = []
        #: Signals that do not end it.
        self.ignores: set[int] = set()
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def ended(self) -> bool:
        return self._code.done()

    def say(self, text: str) -> None:
        self.output.write(text.encode())

    def end(self, code: int) -> None:
        if not self._code.done():
            self.output.close()
            self._code.set_result(code)

    def end_after(self, seconds: float, code: int) -> None:
        asyncio.get_running_loop().call_later(seconds, self.end, code)

    async def wait(self) -> int:
        return await asyncio.shield(self._code)

    def signal(self, number: int) -> None:
        if self.ended:
            return
        self.signals.append(int(number))
        if number in {signal.SIGTERM, signal.SIGKILL} and number not in self.ignores:
            self.end(-number)


class Actors:
    """A runner of acted programs: a script for each first word, or none."""

    def __init__(self, **scripts: Script) -> None:
        self.scripts = scripts
        self.started: list[Acted] = []
        #: First words that cannot be started.
        self.broken: set[str] = set()

    def start(self, launch: Launch, output: Output) -> Acted:
        if launch.argv[0] in self.broken:
            raise StartFailed(f"{launch.argv[0]} must be a program that runs")
        acted = Acted(len(self.started) + 1, launch, output)
        self.started.append(acted)
        script = self.scripts.get(launch.argv[0])
        if script is not None:
            script(acted)
        return acted

    async def clear(self, mark: str) -> None:
        pass

    @property
    def running(self) -> list[Acted]:
        return [it for it in self.started if not it.ended]


class Wire:
    """A network on which the test decides who answers."""

    def __init__(self) -> None:
        self.healthy = True
        self.asked: list[tuple[float, str]] = []

    async def get(self, request: HttpRequest, within: float) -> Result:
        self.asked.append((asyncio.get_running_loop().time(), request.url))
        return Result(self.healthy, "statuscode: 503")

    async def connect(self, host: str, port: int, within: float) -> Result:
        self.asked.append((asyncio.get_running_loop().time(), f"{host}:{port}"))
        return Result(self.healthy, "refused")


async def inline(work: Callable[[], Any], /) -> Any:
    """Do it here and now: there are no threads in virtual time."""
    return work()
