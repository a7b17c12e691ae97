"""Who types lines to a cluster: to whoever controls it, or to nobody, as long as nobody does.

A line whose answer was lost is typed again, as the real client's loops do, and what it has printed
already is not printed twice; but never after it has killed anybody.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.emulate.fdb.programs import called
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk import clusterfile
from stateward.emulate.fdb.talk import wire as wires
from stateward.emulate.fdb.talk.messages import Die, Done, Ended, Exec, Kill, Printed
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.wire import Lost, Wire
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

#: Seconds for which somebody who can be asked is looked for at first.
_FIRST: Final = 3.0
_PAUSE: Final = 0.1


@dataclass(slots=True)
class Shown:
    """What was printed already; how much of that will be said once more."""

    out: int = 0
    err: int = 0
    _skip_out: int = 0
    _skip_err: int = 0

    def again(self) -> None:
        """Have everything be said once more, and printed not."""
        self._skip_out, self._skip_err = self.out, self.err

    def show(self, out: str, err: str) -> None:
        """Print what was not printed yet."""
        new_out, new_err = out[self._skip_out :], err[self._skip_err :]
        self._skip_out = max(0, self._skip_out - len(out))
        self._skip_err = max(0, self._skip_err - len(err))
        self.out, self.err = self.out + len(new_out), self.err + len(new_err)
        called.say(new_out, end="")
        called.warn(new_err, end="")


@dataclass(slots=True)
class Typist:
    """One fdbcli; ``timeout`` and all waiting are seconds of the model."""

    seeker: Seeker
    path: str
    timeout: float
    pace: Pace
    log_group: str = "default"
    _has_killed: bool = field(default=False, init=False)

    async def run(self, line: str) -> int:
        """Run a line; return the code."""
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
        killed: list[str] = []
        try:
            wire = await wires.connect(holder, speaker.security, speaker.protocol)
            try:
                await wire.send(self._exec(line, left))
                code = await self._heard(wire, holder, shown, killed)
            finally:
                wire.close()
        except Lost:
            return 0 if self._has_killed else None
        for it in killed:
            await self._kill(Kill(it))
        return code

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
        )

    async def _heard(self, wire: Wire, holder: Address, shown: Shown, killed: list[str]) -> int:
        while True:
            match await wire.hear():
                case Printed(out, err):
                    shown.show(out, err)
                case Kill() as kill if kill.address == holder.plain:
                    killed.append(kill.address)  # whoever runs this is told last
                case Kill() as kill:
                    await self._kill(kill)
                case Ended(code, string):
                    self.seeker.learn(ConnectionString.parse(string))
                    return code
                case other:
                    raise Lost(type(other).__name__)

    async def _kill(self, kill: Kill) -> None:
        """Tell a process to end, with TLS or without: a list of who can be killed does not say."""
        self._has_killed = True
        speaker = self.seeker.speaker
        plain = Address.parse(kill.address)
        for it in (plain, Address(plain.host, plain.port, tls=True)):
            try:
                await wires.ask(it, speaker.security, speaker.protocol, Die(kill.seconds), Done)
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
