"""A database by fdbcli; its keys by a program beside it.

Nothing is ever asked twice here: a change of which nobody knows whether it was made raises
OutcomeUnknown, and who asked reads back. Any other error of a change means that nothing was done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin import answers, commands
from stateward.fdb.admin.answers import Answer, ExclusionList, Stage
from stateward.fdb.admin.errors import DatabaseRefused, PrintsTooMuch
from stateward.fdb.admin.keyed.optimistic import ProgramKeys
from stateward.fdb.admin.ports import (
    Configurer,
    CoordinatorChanger,
    Excluder,
    Killer,
    Maintainer,
    StatusReader,
)
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.status.maintenance import Maintenance
from stateward.fdb.status.reading import Status, read

_PROGRAM: Final = "fdbcli"
#: Seconds that fdbcli gives a command, and those more after which it is killed if it does not end.
_LONG, _SHORT, _GRACE = 40, 20, 10


class Console(Protocol):
    """Who runs fdbcli for one database: as a process, or as the stand-in in memory."""

    @property
    def file(self) -> Path:
        """The cluster file."""

    def now(self) -> float:
        """Return what time it is."""

    def found_by(self) -> ConnectionString:
        """Return how the database is found, as far as fdbcli was told."""

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a program to its end, or for so many seconds; raise PrintsTooMuch.

        What is typed is what it reads from its input.
        """


class Fdbcli(
    StatusReader, Configurer, Excluder, CoordinatorChanger, Killer, Maintainer, ProgramKeys
):
    """One database, asked and changed by programs: all ports of it."""

    def __init__(self, session: Console) -> None:
        ProgramKeys.__init__(self, session)  # ports before it have none of their own
        self._session = session

    # ------------------------------------------------------------------ asking

    async def status(self) -> Status:
        """Return what it says of itself."""
        answer = await self._exec(commands.STATUS, _LONG)
        return read(answers.check_read(answer), self._session.now())

    async def exclusions(self) -> ExclusionList:
        """Return who is excluded."""
        return answers.listed_exclusions(await self._exec(commands.EXCLUSIONS, _SHORT))

    async def maintenance(self) -> Maintenance | None:
        """Return the zone that may be away, if there is one."""
        return answers.maintenance(await self._exec(commands.MAINTENANCE, _SHORT))

    # ------------------------------------------------------------------ changing

    async def create(self, configuration: Configuration) -> None:
        """Make it."""
        text = commands.configure(configuration, new=True)
        answers.check_said(await self._change(text, _LONG), answers.CREATED)

    async def configure(self, configuration: Configuration) -> None:
        """Have it be so from now on."""
        text = commands.configure(configuration)
        answers.check_said(await self._change(text, _LONG), answers.CONFIGURED)

    async def exclude(self, targets: Sequence[Exclusion]) -> Mapping[Exclusion, Stage]:
        """Have data leave; return how far that is."""
        return answers.excluding(await self._change(commands.exclude(targets), _LONG))

    async def include(self, targets: Sequence[Exclusion]) -> None:
        """Let them have data again."""
        answers.check_silent(await self._change(commands.include(targets), _LONG))

    async def kill(self, addresses: Sequence[Address], *, twice: bool = False) -> int:
        """Have processes end, so that they are started again; return how many were told to."""
        return answers.killed(await self._change(commands.kill(addresses, twice=twice), _LONG))

    async def begin_maintenance(self, zone: str, seconds: int) -> None:
        """Let processes of a zone be away for a while."""
        answers.check_silent(await self._change(commands.maintenance(zone, seconds), _SHORT))

    async def end_maintenance(self) -> None:
        """End that."""
        answers.check_silent(await self._change(commands.MAINTENANCE_OFF, _SHORT))

    # ------------------------------------------------------------------ how it is found

    async def connection_string(self) -> ConnectionString:
        """Return how it is found, as far as fdbcli was told."""
        return self._session.found_by()

    async def change_coordinators(self, addresses: Sequence[Address]) -> ConnectionString:
        """Have others coordinate; return how the database is found from now on."""
        answer = await self._change(commands.coordinators(addresses), _LONG)
        answers.check_said(answer, answers.MOVED, answers.UNMOVED)
        try:
            found = self._session.found_by()
        except DatabaseRefused as error:
            raise OutcomeUnknown(f"nobody knows the new coordinators: {error.message}") from None
        if set(found.coordinators) != set(addresses):
            raise OutcomeUnknown("the cluster file does not name the new coordinators yet")
        return found

    async def _change(self, command: str, seconds: int) -> Answer:
        try:
            return await self._exec(command, seconds)
        except PrintsTooMuch as error:
            raise OutcomeUnknown(f"nobody knows whether it was done: {error.message}") from None

    async def _exec(self, command: str, seconds: int) -> Answer:
        words = ["-C", str(self._session.file), "--exec", command, "--timeout", str(seconds)]
        return await self._session.run(_PROGRAM, words, seconds + _GRACE)
