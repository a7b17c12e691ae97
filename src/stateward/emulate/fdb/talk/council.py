"""Asking all coordinators: who controls the cluster, may I, what is kept, keep this."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from stateward.emulate.fdb.talk import messages, wire
from stateward.emulate.fdb.talk.messages import (
    Find,
    Forward,
    Found,
    Granted,
    Kept,
    Read,
    Release,
    Stand,
    Write,
)
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

M = TypeVar("M", bound=messages.Message)


#: Seconds that those who are late have when most have answered.
_MOMENT: Final = 0.15


class Outcome(Enum):
    """What came of asking coordinators to keep something."""

    DONE = "a majority keeps it"
    TOO_FEW = "fewer do, so it may be forgotten"
    DEPOSED = "somebody with a later term came"


@dataclass(frozen=True, slots=True)
class Speaker:
    """How one speaks to others."""

    protocol: str
    security: Security


@dataclass(slots=True)
class Council:
    """The coordinators of one generation, as somebody reaches them."""

    string: ConnectionString
    speaker: Speaker
    #: Those that spoke another protocol when they were asked last.
    foreign: set[Address] = field(default_factory=set)

    @property
    def cluster(self) -> str:
        """The name under which coordinators know the cluster."""
        return f"{self.string.description}:{self.string.id}"

    async def find(self, asker: str = "") -> dict[Address, Found]:
        """Return what each that answers says about who controls the cluster."""
        return await self._ask_all(Find(self.cluster, asker), Found)

    async def stand(self, candidate: str, term: int) -> tuple[bool, int]:
        """Ask to control it; tell whether a majority lets, and the highest term of any."""
        answers = await self._ask_all(Stand(self.cluster, candidate, term), Granted)
        agreed = sum(it.is_so for it in answers.values())
        return agreed >= self.string.quorum, max((it.term for it in answers.values()), default=0)

    async def renew(self, candidate: str, term: int) -> bool:
        """Go on; tell whether nobody else was let meanwhile.

        Who has lost a majority of the coordinators goes on as long as no other has it: it can still
        be asked how things are. Not so if most of them send everybody elsewhere.
        """
        answers = await self._ask_all(Stand(self.cluster, candidate, term), Granted)
        if sum(bool(it.forward) for it in answers.values()) >= self.string.quorum:
            return False
        return all(it.is_so or it.term <= term for it in answers.values())

    async def release(self, candidate: str) -> None:
        """Let others control it at once."""
        await self._ask_all(Release(self.cluster, candidate), Granted)

    async def read(self) -> Kept | None:
        """Return the newest that a majority keeps; None: no majority answers."""
        answers = await self._ask_all(Read(self.cluster), Kept)
        if len(answers) < self.string.quorum:
            return None
        return max(answers.values(), key=lambda it: (it.term, it.version))

    async def write(self, term: int, version: int, state: bytes) -> Outcome:
        """Have it kept; tell whether a majority does."""
        return await self._agreed(Write(self.cluster, term, version, state), term)

    async def forward(self, term: int, to: ConnectionString) -> Outcome:
        """Have everybody who asks be told how it is found from now on."""
        return await self._agreed(Forward(self.cluster, term, str(to)), term)

    async def _agreed(self, asked: messages.Any, term: int) -> Outcome:
        answers = (await self._ask_all(asked, Granted)).values()
        if any(it.term > term for it in answers):
            return Outcome.DEPOSED
        done = sum(
            it.is_so or (isinstance(asked, Forward) and it.forward == asked.to) for it in answers
        )
        return Outcome.DONE if done >= self.string.quorum else Outcome.TOO_FEW

    async def _ask_all(self, asked: messages.Any, kind: type[M]) -> dict[Address, M]:
        """Return who answers: when most have, the others have a moment more.

        One that stands still would otherwise hold up everything for as long as it is waited for.
        """
        self.foreign.clear()
        tasks = {
            asyncio.create_task(self._ask_one(it, asked, kind)): it
            for it in self.string.coordinators
        }
        waiting, found = set(tasks), dict[Address, M]()
        while waiting:
            most = len(found) >= self.string.quorum
            done, waiting = await asyncio.wait(
                waiting,
                timeout=_MOMENT if most else None,
                return_when=asyncio.ALL_COMPLETED if most else asyncio.FIRST_COMPLETED,
            )
            found |= {tasks[it]: answer for it in done if (answer := it.result()) is not None}
            if most:
                break
        for it in waiting:
            it.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return found

    async def _ask_one(self, place: Address, asked: messages.Any, kind: type[M]) -> M | None:
        try:
            return await wire.ask(place, self.speaker.security, self.speaker.protocol, asked, kind)
        except wire.Incompatible:
            self.foreign.add(place)
        except wire.Lost:
            pass
        return None


def holder_of(answers: dict[Address, Found]) -> str:
    """Return who controls a cluster, as most of those say who know of anybody."""
    named = [it.holder for it in answers.values() if it.holder]
    return max(named, key=named.count, default="")


def forward_of(answers: dict[Address, Found], quorum: int) -> ConnectionString | None:
    """Return how a cluster is found since, if most of its coordinators were told so."""
    told = [it.forward for it in answers.values() if it.forward]
    found = max(told, key=told.count, default="")
    return ConnectionString.parse(found) if found and told.count(found) >= quorum else None
