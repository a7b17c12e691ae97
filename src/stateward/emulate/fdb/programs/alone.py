"""A line of fdbcli for which there is nobody: all there is to see are coordinators that answer.

It is run on a model that has these alone, and only for who asks how things are: nothing can ever be
changed there, so most commands wait, and some say what is wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, Protocol

from stateward.core.chance import Chance
from stateward.core.version import Version
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.cli.words import Unterminated, split
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.programs import called
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.servers import Disk, Server
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass

#: Seconds between two looks for somebody.
_PAUSE: Final = 0.1
#: Commands that ask, or change, what only who controls a cluster has.
_NEEDY: Final = {
    *("configure", "fileconfigure", "exclude", "include", "maintenance", "lock", "unlock"),
    *("setclass", "kill", "suspend", "get", "getrange", "getrangekeys", "getversion", "set"),
    *("clear", "clearrange", "consistencycheck", "datadistribution", "waitopen"),
}


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
    while _needs_somebody(line) and _has_quorum(typist.seeker):
        # Most coordinators answer, so somebody will control the cluster soon.
        await asyncio.sleep(_PAUSE)
        if await typist.seeker.look() is not None:
            return None
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


def _needs_somebody(line: str) -> bool:
    """Tell whether a line has a command that nobody could carry out here."""
    try:
        return any(_needs(*it.words) for it in split(line))
    except Unterminated:
        return False


def _needs(name: str, *rest: str) -> bool:
    return name in _NEEDY or (name == "coordinators" and bool(rest))


def _has_quorum(seeker: Seeker) -> bool:
    return len(seeker.answering) >= seeker.string.quorum


def _see(database: Database, seeker: Seeker) -> None:
    """Have coordinators in the model that answer, or that speak otherwise, and nobody else."""
    mine = called.version()
    other = Version(mine.major, mine.minor + 1, 0)
    database.servers = _servers(seeker.answering, mine)
    database.strangers = _servers(seeker.foreign, other)


def _servers(addresses: Iterable[Address], version: Version) -> dict[str, Server]:
    """Return processes that coordinate and do nothing else."""
    return {
        str(it): Server((it,), Disk(str(it)), ProcessClass.COORDINATOR, version=version)
        for it in addresses
    }
