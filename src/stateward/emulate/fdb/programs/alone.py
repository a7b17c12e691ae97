"""A line of fdbcli for which there is nobody: all there is to see are coordinators that answer.

It is run on a model that has these alone: most commands wait there, and some say what is wrong.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from stateward.core.chance import Chance
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.servers import Disk, Server
from stateward.emulate.fdb.talk.seeker import Seeker

_FOREIGN: Final = (
    "WARNING: One or more of the processes in the cluster is incompatible with this version of"
    " fdbcli.\n"
)


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
    database = Database(typist.seeker.string, Chance.from_system(), typist.now())
    _see(database, typist.seeker)
    tape = Tape(database)
    steps = Fdbcli(database, typist.path).steps(line, tape, seconds)
    out = err = 0
    while True:
        try:
            waiting = next(steps)
        except StopIteration as end:
            shown.show(tape.out[out:], tape.err[err:] + _warning(typist.seeker, line))
            return int(end.value)
        shown.show(tape.out[out:], tape.err[err:])
        out, err = len(tape.out), len(tape.err)
        await asyncio.sleep(typist.pace.wall(waiting))
        database.advance(typist.now())
        if await typist.seeker.look() is not None:
            return None
        _see(database, typist.seeker)


def _see(database: Database, seeker: Seeker) -> None:
    """Have the coordinators that answer in the model, and nobody else."""
    database.servers = {str(it): Server((it,), Disk(str(it))) for it in seeker.answering}


def _warning(seeker: Seeker, line: str) -> str:
    return _FOREIGN if seeker.foreign and line.startswith("status") else ""
