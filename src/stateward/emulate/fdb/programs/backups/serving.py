"""Commands of backups, and those who do the work: answered by who controls a cluster."""

from __future__ import annotations

from typing import Final

import msgspec

from stateward.core.version import Version
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.asking.clients import Client
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.backups import agency
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.asked import Asked
from stateward.emulate.fdb.backups.pieces import Outcome
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.programs.lines import Reign, attended
from stateward.emulate.fdb.talk.messages import (
    Agent,
    Ended,
    Given,
    Perform,
    Printed,
    Refused,
    Reported,
)
from stateward.emulate.fdb.talk.wire import Lost, Wire

#: Actions after which all is as it was.
_ASKING: Final = {"status", "wait", "tags"}


async def serve_command(reign: Reign, wire: Wire, asked: Perform) -> None:
    """Carry out a command to its end, or until whoever asked has gone."""
    database = reign.database
    client = Client(database.clients.next_address(), (Version.parse(asked.version),))
    database.client_comes(client)
    try:
        await attended(wire, _perform(reign, wire, asked))
    finally:
        database.client_goes(client.address)


async def _perform(reign: Reign, wire: Wire, asked: Perform) -> None:
    database, tape = reign.database, Tape(reign.database)
    tape.view = Viewpoint(version=Version.parse(asked.version))
    command = msgspec.msgpack.decode(asked.asked, type=Asked)
    steps, before = commands.steps(command, tape), saving.essence(database)
    out, err, code = 0, 0, None
    while code is None:
        try:
            seconds = next(steps)
        except StopIteration as end:
            code, seconds = end.value, 0.0
        # Nobody is told of what might be forgotten.
        changes = command.action not in _ASKING and saving.essence(database) != before
        await reign.keep(surely=changes)
        if tape.out[out:] or tape.err[err:]:
            await wire.send(Printed(tape.out[out:], tape.err[err:]))
            out, err = len(tape.out), len(tape.err)
        await reign.sleep(seconds)
    await wire.send(Ended(code, str(database.string)))


async def serve_agent(reign: Reign, wire: Wire, first: Agent) -> None:
    """Give one work for as long as it comes for more; what it did is kept before it gets more."""
    host, port, *_ = wire.writer.get_extra_info("peername") or ("127.0.0.1", 1)
    about = AgentSeen(first.name, first.version, f"{host}:{port}", first.log_group)
    database = reign.database
    try:
        while True:
            await reign.sleep(0.0)
            piece = agency.take(database, about)
            if piece is not None:
                await reign.keep(surely=True)  # that it has begun
            await wire.send(Given(msgspec.msgpack.encode(piece) if piece is not None else b""))
            said = await wire.receive()
            if not isinstance(said, Reported):
                await wire.send(Refused("unknown", "an agent tells how it went"))
                return
            if said.outcome:
                agency.report(database, _outcome(said.outcome))
            await reign.keep(surely=bool(said.outcome))
    finally:
        agency.leave(database, about.name)


def _outcome(raw: bytes) -> Outcome:
    try:
        found: Outcome = msgspec.msgpack.decode(raw, type=Outcome)
    except msgspec.MsgspecError as error:
        raise Lost(f"an agent makes no sense: {error}") from None
    return found
