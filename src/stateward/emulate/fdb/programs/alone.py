"""A line of fdbcli for which there is nobody: all there is to see are coordinators that answer.

It is run on a model that has these alone: most commands wait there, and some say what is wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol

from stateward.core.chance import Chance
from stateward.core.version import Version
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.programs import called
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.servers import Disk, Server
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.fdb.model.addresses import Address


class Shown(Protocol):
    """Where a line prints."""

    def show(self, out: str, err: str) -> None:
        """Print what was not printed yet."""


class Typist(Protocol):
    """Who typed the line."""

    seeker: Seeker
    path: str
    pace: Pace

    def now(self) -> float:
        """Return what time it is for the model."""


async def run(typist: Typist, line: str, shown: Shown, seconds: float) -> int | None:
    """Run a line; return its code. None: somebody controls the cluster by now, who can be asked."""
    view = Viewpoint(version=called.version())
    database = Database(typist.seeker.string, Chance.from_system(), typist.now())
    database.line = view.line
    _see(database, typist.seeker)
    tape = Tape(database)
    fdbcli = Fdbcli(database, typist.path, view)
    fdbcli.patience = 0.0  # somebody was looked for already
    steps = fdbcli.steps(line, tape, seconds)
    out = err = 0
    while True:
        try:
            waiting = next(steps)
        except StopIteration as end:
            shown.show(tape.out[out:], tape.err[err:])
            return int(end.value)
        shown.show(tape.out[out:], tape.err[err:])
        out, err = len(tape.out), len(tape.err)
        await asyncio.sleep(typist.pace.wall(waiting))
        database.advance(typist.now())
        if await typist.seeker.look() is not None:
            return None
        _see(database, typist.seeker)


def _see(database: Database, seeker: Seeker) -> None:
    """Have coordinators in the model that answer, or that speak otherwise, and nobody else."""
    mine = called.version()
    other = Version(mine.major, mine.minor + 1, 0)
    database.servers = _servers(seeker.answering, mine)
    database.strangers = _servers(seeker.foreign, other)


def _servers(addresses: Iterable[Address], version: Version) -> dict[str, Server]:
    return {str(it): Server((it,), Disk(str(it)), version=version) for it in addresses}
