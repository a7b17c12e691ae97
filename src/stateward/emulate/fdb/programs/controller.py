"""Who controls a cluster: it has the model, hears of every process, and answers everybody.

What it knows is kept by the coordinators before anybody is told that something is done, so whoever
controls the cluster after it knows it too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from stateward.core.chance import Chance
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.programs import fitness, joining
from stateward.emulate.fdb.programs.backups.serving import serve_agent, serve_command
from stateward.emulate.fdb.programs.coordinator import TERM
from stateward.emulate.fdb.programs.joining import Awaited
from stateward.emulate.fdb.programs.keyed.serving import serve_transaction
from stateward.emulate.fdb.programs.lines import serve_line
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk.council import Council, Outcome
from stateward.emulate.fdb.talk.messages import (
    Agent,
    Any,
    Beat,
    Exec,
    Join,
    Kept,
    Perform,
    Refused,
    Told,
    Transact,
)
from stateward.emulate.fdb.talk.wire import Lost, Wire
from stateward.fdb.model import versions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass

#: Seconds between two looks at the model while nobody asks, and between two renewals.
_LOOK, _RENEWED = 0.2, TERM / 4
#: Seconds of the model after which a stranger that does not come again is forgotten.
_FORGOTTEN: Final = 20.0
#: Seconds that one who is told to end has left at most: what it sees meanwhile is for the next.
_LAST: Final = 10.0


#: Who answers what the model is asked by programs.
_SERVING: Final[Mapping[type, Callable[..., Awaitable[None]]]] = {
    Exec: serve_line,
    Perform: serve_command,
    Agent: serve_agent,
}


class Deposed(Exception):
    """Somebody else controls the cluster, or may."""


@dataclass(frozen=True, slots=True)
class Crown:
    """That a majority lets somebody control a cluster, for a term."""

    council: Council
    me: str
    term: int
    #: How well its class is made for it.
    rank: int = 0


def begun(crown: Crown, kept: Kept, pace: Pace, chance: Chance) -> Controller:
    """Return a reign that knows what is kept of the cluster; nothing is: it is a new one."""
    if kept.version:
        database = saving.restored(kept.state, chance, pace.now)
        for it in [*database.clients.here]:  # who asked the one before us asks again, or has gone
            database.client_goes(it)
        database.gathers = True  # nobody has come to us yet
    else:
        database = Database(crown.council.string, chance, pace.clock.now())
        database.line = versions.line_of(crown.council.speaker.protocol) or database.line
    return Controller(crown, database, kept.version, pace)


class Controller:
    """One reign over a cluster, until it is deposed."""

    def __init__(self, crown: Crown, database: Database, version: int, pace: Pace) -> None:
        self._council, self._me, self._term = crown.council, crown.me, crown.term
        self._rank = crown.rank
        self.database = database
        self._version = version
        self._pace = pace
        database.times = pace.times
        self._members: dict[str, Wire] = {}
        #: Strangers by address, and until when they are remembered.
        self._met: dict[str, float] = {}
        self._awaited = Awaited()
        #: Until when we shall have ended, if we were told to.
        self._ends = 0.0
        self._kept = b""
        self._asking = asyncio.Lock()
        self._deposed = asyncio.Event()

    # ------------------------------------------------------------------ the reign

    async def reign(self) -> None:
        """Control the cluster until somebody else does; what goes wrong meanwhile is raised."""
        every = (self._renew(), self._look(), self._deposed.wait())
        tasks = [asyncio.create_task(it) for it in every]
        try:
            for it in (await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))[0]:
                it.result()
        finally:
            for it in tasks:
                it.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for wire in self._members.values():
                wire.close()

    async def resign(self) -> None:
        """Let others control the cluster at once."""
        self._deposed.set()
        await self._council.release(self._me)

    async def _renew(self) -> None:
        is_let = True
        while is_let:
            await asyncio.sleep(_RENEWED)
            async with self._asking:
                is_let = await self._council.renew(self._me, self._term)
        self._deposed.set()

    async def _look(self) -> None:
        while not self._deposed.is_set():
            self.advance()
            if not self._is_ending:
                now = asyncio.get_running_loop().time()
                self._awaited.look(self.database, self._members.keys(), now)
            with suppress(Deposed):
                await self.keep()
            await asyncio.sleep(_LOOK)

    # ------------------------------------------------------------------ the model

    def falls(self, addresses: Iterable[str]) -> None:
        """Hear who is told to end. If we are among them, who controls it next sees to all of it.

        Others are told first. Were it a loss to us, all who are restarted at once would be two.
        """
        mine = self.database.server_at(Address.parse(self._me).plain)
        if mine is not None and any(self.database.server_at(it) is mine for it in addresses):
            self._ends = asyncio.get_running_loop().time() + _LAST

    @property
    def _is_ending(self) -> bool:
        return asyncio.get_running_loop().time() < self._ends

    def advance(self) -> None:
        """Let the model's time be the world's."""
        database = self.database
        if self._is_ending:
            return
        database.advance(self._pace.now(database.born))
        self._met = {it: until for it, until in self._met.items() if until >= database.now}
        database.met = set(self._met)

    async def sleep(self, seconds: float) -> None:
        """Let seconds of the model go by."""
        await asyncio.sleep(self._pace.wall(seconds))
        self.advance()

    async def keep(self, *, surely: bool = False) -> None:
        """Have coordinators keep what the model knows; raise Deposed when another reigns.

        ``surely``: wait for a majority that does, however long that takes.
        """
        while True:
            if await self._is_kept() or not surely:
                return
            await asyncio.sleep(_LOOK)

    async def _is_kept(self) -> bool:
        async with self._asking:
            if self._deposed.is_set():
                raise Deposed
            if self.database.string != self._council.string and not await self._has_moved():
                return False
            raw = saving.saved(self.database)
            if raw == self._kept:
                return True
            self._version += 1
            outcome = await self._council.write(self._term, self._version, raw)
            if self._is_done(outcome):
                self._kept = raw
        return outcome is Outcome.DONE

    async def _has_moved(self) -> bool:
        """Have others coordinate: they know all before most of the old ones send anybody there.

        Until these do, nobody is told: who comes after us goes on with the old ones.
        """
        there = Council(self.database.string, self._council.speaker)
        let, seen = await there.stand(self._me, self._term)
        if not let:
            self._term = max(self._term, seen) + 1
            let, _ = await there.stand(self._me, self._term)
        raw = saving.saved(self.database)
        if not let or not self._is_done(await there.write(self._term, self._version + 1, raw)):
            return False
        if not self._is_done(await self._council.forward(self._term, self.database.string)):
            return False
        self._council, self._version, self._kept = there, self._version + 1, raw
        await asyncio.gather(*map(self._tell, list(self._members.values())))
        return True

    def _is_done(self, outcome: Outcome) -> bool:
        if outcome is Outcome.DEPOSED:
            self._deposed.set()
            raise Deposed
        return outcome is Outcome.DONE

    async def _tell(self, wire: Wire) -> None:
        with suppress(Lost):
            await wire.send(Told(str(self.database.string)))

    # ------------------------------------------------------------------ whoever comes

    async def serve(self, wire: Wire, first: Any) -> None:
        """Answer one connection, which began with a message."""
        if self._deposed.is_set():
            return
        self.advance()
        try:
            match first:
                case Join():
                    await self._have(wire, first)
                case Exec() | Perform() | Agent():
                    await self._all_came()
                    await _SERVING[type(first)](self, wire, first)
                case Transact():
                    await self._all_came()
                    await serve_transaction(wire, self.database, partial(self.keep, surely=True))
                case _:
                    await wire.send(Refused("unknown", "nobody asks this of who controls"))
        except Deposed:
            pass  # whoever asked looks for who controls the cluster now

    async def _all_came(self) -> None:
        """Wait for those who were there before: what is known of them is from before as well."""
        while self.database.gathers:
            if self._deposed.is_set():
                raise Deposed
            await asyncio.sleep(_LOOK)
        self.advance()

    def _meet(self, strangers: Iterable[str]) -> None:
        """Remember those that speak another protocol, for as long as they come."""
        until = self.database.now + _FORGOTTEN
        self._met |= dict.fromkeys(strangers, until)

    async def _have(self, wire: Wire, asked: Join) -> None:
        """Have a process for as long as it is heard."""
        disk = asked.process_id
        started = self._pace.model(asked.started, self.database.born)
        self._awaited.has_restarted |= joining.join(self.database, asked, started)
        self._members[disk] = wire
        try:
            await self.keep()
            await self._tell(wire)
            if fitness.rank(ProcessClass(asked.process_class)) < self._rank:
                await self.resign()  # this one will want to, and sooner than others
            while True:
                said = await wire.hear()
                if isinstance(said, Beat):
                    self._meet(said.strangers)
                    await wire.send(Beat())
        finally:
            if self._members.get(disk) is wire:
                del self._members[disk]
                self.advance()
                gone = not self._deposed.is_set() and not self._is_ending
                if gone and disk in self.database.servers:
                    self.database.leave(disk)
