"""Lines of fdbcli, run by who controls a cluster for somebody who waits for what they print."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Final, Protocol

import msgspec

from stateward.core.version import Version
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli.program import Fdbcli, Session, Steps
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.cli.words import Unterminated, split
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.talk.messages import Ended, Exec, Kill, Options, Printed
from stateward.emulate.fdb.talk.wire import BEAT, Lost, Wire
from stateward.fdb.model.connection import ConnectionString


class Reign(Protocol):
    """What a line needs of who controls the cluster."""

    database: Database

    async def sleep(self, seconds: float) -> None:
        """Let seconds of the model go by."""

    def falls(self, addresses: Sequence[str]) -> None:
        """Hear who is told to end."""

    async def keep(self, *, surely: bool = False) -> None:
        """Have what the model knows be kept; surely: wait until it is."""


async def serve_line(reign: Reign, wire: Wire, asked: Exec) -> None:
    """Run a line to its end, or until whoever asked has gone."""
    await attended(wire, _run(reign, wire, asked))


async def attended(wire: Wire, work: Coroutine[object, object, None]) -> None:
    """Do something for somebody to its end, or until that one has gone."""
    line = asyncio.create_task(work)
    gone = asyncio.create_task(wire.receive())
    alive = asyncio.create_task(_say_nothing(wire))
    try:
        await asyncio.wait((line, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for it in (line, gone, alive):
            it.cancel()
        await asyncio.gather(gone, alive, return_exceptions=True)
    with suppress(asyncio.CancelledError, Lost):
        await line


async def _say_nothing(wire: Wire) -> None:
    """Let who waits know that somebody is there."""
    while True:
        await asyncio.sleep(BEAT)
        await wire.send(Printed())


async def _run(reign: Reign, wire: Wire, asked: Exec) -> None:
    tape, kills = Tape(reign.database), list[Kill]()
    fdbcli = _fdbcli(reign.database, asked)
    fdbcli.killed = lambda address: kills.append(Kill(address))
    fdbcli.suspended = lambda address, seconds: kills.append(Kill(address, seconds))
    session = Session(**msgspec.structs.asdict(asked.options))
    steps: Steps = fdbcli.steps(asked.line, tape, asked.timeout, session)
    out, err, before = 0, 0, saving.essence(reign.database)
    code: int | None = None
    while code is None:
        try:
            seconds = next(steps)
        except StopIteration as end:
            code, seconds = end.value, 0.0
        reign.falls([it.address for it in kills if not it.seconds])
        # Nobody is told of what might be forgotten; who only asks is told whatever becomes of it.
        changes = not is_reading(asked.line) and saving.essence(reign.database) != before
        await reign.keep(surely=changes)
        if tape.out[out:] or tape.err[err:]:
            await wire.send(Printed(tape.out[out:], tape.err[err:]))
            out, err = len(tape.out), len(tape.err)
        while kills:
            await wire.send(kills.pop(0))
        await reign.sleep(seconds)
    on = Options(**{it: getattr(session, it) for it in Options.__struct_fields__})
    await wire.send(Ended(code, str(reign.database.string), on))


def is_reading(line: str) -> bool:
    """Tell whether a line only asks: then it is answered whatever becomes of the cluster.

    >>> [is_reading(it) for it in ("status json", "kill; kill all", "exclude", "exclude 1.2.3.4")]
    [True, True, True, False]
    """
    try:
        return all(_only_asks(it.words) for it in split(line))
    except Unterminated:
        return True


def _only_asks(words: Sequence[str]) -> bool:
    name, *rest = words
    return name in _ASKING or (name in _LISTING and not rest)


#: Commands that change nothing that is kept, and those that do not without anything behind them.
_ASKING: Final = {
    *("status", "kill", "suspend", "get", "getrange", "getrangekeys", "getversion", "help"),
    *("sleep", "option", "writemode", "waitconnected", "waitopen"),
}
_LISTING: Final = {"exclude", "coordinators", "setclass", "maintenance", "consistencycheck"}


def _fdbcli(database: Database, asked: Exec) -> Fdbcli:
    found = Fdbcli(database, asked.path, Viewpoint(version=Version.parse(asked.version)))
    found.string = ConnectionString.parse(asked.string)
    found.is_writable = asked.is_writable
    found.log_group = asked.log_group
    found.files = asked.files.get
    return found
