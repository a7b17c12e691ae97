"""Who types lines to a cluster: to whoever controls it, or to nobody, as long as nobody does.

A line whose answer was lost is typed again, as the real client's loops do, and what it has printed
already is not printed twice; but never after it has killed anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.emulate.fdb.cli.words import TIMED_OUT
from stateward.emulate.fdb.programs import called
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk import clusterfile
from stateward.emulate.fdb.talk import wire as wires
from stateward.emulate.fdb.talk.messages import Die, Done, Ended, Exec, Kill, Options, Printed
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.wire import Lost, Wire
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

#: Seconds for which somebody who can be asked is looked for at first.
_FIRST: Final = 3.0
_PAUSE: Final = 0.1
#: Seconds of the world that whoever runs a line has to say that its time is over.
_MOMENT: Final = 0.5
#: Seconds of the world in which a process answers that it was told to end, also on a busy machine.
_TOLD: Final = 5.0


@dataclass(slots=True)
class _Stream:
    """One output: what was printed, and, while a line is run again, what that says once more."""

    put: Callable[[str], None]
    printed: str = ""
    _before: str = ""
    _now: str = ""

    def again(self) -> None:
        """Have the line be run again."""
        self._before, self._now = self.printed, ""

    def show(self, text: str) -> None:
        """Print what is new: what was said before in the same words is not said twice."""
        self._now += text
        if self._before.startswith(self._now):
            return
        new = self._now.removeprefix(self._before)
        self.put(new)
        self.printed, self._before, self._now = self.printed + new, "", ""


@dataclass(slots=True)
class Shown:
    """Both outputs of a line."""

    out: _Stream = field(default_factory=lambda: _Stream(lambda it: called.say(it, end="")))
    err: _Stream = field(default_factory=lambda: _Stream(lambda it: called.warn(it, end="")))

    def again(self) -> None:
        """Have the line be run again."""
        self.out.again()
        self.err.again()

    def show(self, out: str, err: str) -> None:
        """Print what was not printed yet."""
        self.out.show(out)
        self.err.show(err)


@dataclass(slots=True)
class Typist:
    """One fdbcli; ``timeout`` and all waiting are seconds of the model."""

    seeker: Seeker
    path: str
    timeout: float
    pace: Pace
    log_group: str = "default"
    #: What was turned on by the lines before.
    options: Options = field(default_factory=Options)
    _has_killed: bool = field(default=False, init=False)
    #: Processes that are being told to end, and those that are told when all others were.
    _telling: list[asyncio.Task[None]] = field(default_factory=list, init=False)
    _last: list[Kill] = field(default_factory=list, init=False)

    async def run(self, line: str) -> int:
        """Run a line; return the code. Whoever runs it has its time, and a moment more."""
        limit = self.pace.wall(self.timeout) + _MOMENT if self.timeout else None
        try:
            async with asyncio.timeout(limit):
                return await self._run(line)
        except TimeoutError:
            await self._tell_all()  # who was named is told, however long the answer took
            called.warn(TIMED_OUT, end="")
        except clusterfile.Unusable as error:  # it was there when we began
            called.warn(str(error))
        return 1

    async def _run(self, line: str) -> int:
        shown = Shown()
        until = self.now() + self.timeout if self.timeout else float("inf")
        holder = await self._first(min(until, self.now() + _FIRST))
        while True:
            if holder is None:
                code = await self._alone(line, shown, until)
            else:
                code = await self._asked(holder, line, shown, until)
            if code is not None:
                return code
            shown.again()
            await asyncio.sleep(_PAUSE)
            holder = await self.seeker.look()

    def now(self) -> float:
        """Return what time it is for the model."""
        return self.pace.now(0.0)

    async def _first(self, until: float) -> Address | None:
        holder = await self.seeker.look()
        while holder is None and self.now() < until:
            await asyncio.sleep(_PAUSE)
            holder = await self.seeker.look()
        return holder

    # ------------------------------------------------------------------ somebody controls it

    async def _asked(self, holder: Address, line: str, shown: Shown, until: float) -> int | None:
        """Have a line run by who controls the cluster; None: it was lost: try again."""
        speaker = self.seeker.speaker
        left = max(0.1, until - self.now()) if self.timeout else 0.0
        code: int | None = None
        try:
            wire = await wires.connect(holder, speaker.security, speaker.protocol)
            try:
                await wire.send(self._exec(line, left))
                code = await self._heard(wire, holder, shown)
            finally:
                wire.close()
        except Lost:
            pass
        # Also when its last words were lost: it was named, and the others are gone by now.
        await self._tell_all()
        return 0 if code is None and self._has_killed else code

    def _exec(self, line: str, left: float) -> Exec:
        file = Path(self.path)
        return Exec(
            line,
            left,
            self.path,
            str(clusterfile.read(file, self.path)),
            str(called.version()),
            is_writable=clusterfile.is_writable(file),
            log_group=self.log_group,
            files=_named(line),
            options=self.options,
        )

    async def _heard(self, wire: Wire, holder: Address, shown: Shown) -> int:
        while True:
            match await wire.hear():
                case Printed(out, err):
                    shown.show(out, err)
                case Kill() as kill if kill.address == holder.plain:
                    self._last.append(kill)  # whoever runs this is told when it has said all
                case Kill() as kill:  # all at the same time, as by the real one
                    self._telling.append(asyncio.create_task(self._kill(kill)))
                case Ended(code, string, options):
                    self.options = options
                    self.seeker.learn(ConnectionString.parse(string))
                    return code
                case other:
                    raise Lost(type(other).__name__)

    async def _tell_all(self) -> None:
        if self._telling:
            await asyncio.wait(self._telling)
        for it in self._last:
            await self._kill(it)
        self._last.clear()

    async def _kill(self, kill: Kill) -> None:
        """Tell a process to end, with TLS or without: a list of who can be killed does not say.

        One that does not get to answer is not forgotten soon: whoever asked for a restart would
        find it as it was, and restart all once more.
        """
        self._has_killed = True
        speaker = self.seeker.speaker
        plain = Address.parse(kill.address)
        for it in (plain, Address(plain.host, plain.port, tls=True)):
            try:
                asked = Die(kill.seconds)
                await wires.ask(it, speaker.security, speaker.protocol, asked, Done, seconds=_TOLD)
            except Lost:
                continue
            return

    # ------------------------------------------------------------------ nobody does

    async def _alone(self, line: str, shown: Shown, until: float) -> int | None:
        # The model is only needed here, and is most of what there is to load.
        from stateward.emulate.fdb.programs import alone  # noqa: PLC0415

        left = until - self.now() if self.timeout else 0.0
        return await alone.run(self, line, shown, left)


def _named(line: str) -> dict[str, str]:
    """Return the files that a line names to be read, as far as they can be."""
    found: dict[str, str] = {}
    for word in line.split() if "fileconfigure" in line else ():
        with suppress(OSError, UnicodeDecodeError):
            found[word] = Path(word).read_text(encoding="utf-8")
    return found
