"""Asking all coordinators: who controls the cluster, may I, what is kept, keep this."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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

        Who has lost a majority of the coordinators goes on as long as no other has it: so does the
        real one, whose transactions go on until it needs them.
        """
        answers = await self._ask_all(Stand(self.cluster, candidate, term), Granted)
        return all(it.is_so for it in answers.values())

    async def release(self, candidate: str) -> None:
        """Let others control it at once."""
        await self._ask_all(Release(self.cluster, candidate), Granted)

    async def read(self) -> Kept | None:
        """Return the newest that a majority keeps; None: no majority answers."""
        answers = await self._ask_all(Read(self.cluster), Kept)
        if len(answers) < self.string.quorum:
            return None
        return max(answers.values(), key=lambda it: it.version)

    async def write(self, term: int, version: int, state: bytes) -> bool:
        """Have it kept by whoever answers; tell whether nobody has a later term."""
        return await self._all_agree(Write(self.cluster, term, version, state))

    async def forward(self, term: int, to: ConnectionString) -> bool:
        """Have everybody who asks be told how it is found from now on."""
        return await self._all_agree(Forward(self.cluster, term, str(to)))

    async def _all_agree(self, asked: messages.Any) -> bool:
        answers = await self._ask_all(asked, Granted)
        return bool(answers) and all(it.is_so for it in answers.values())

    async def _ask_all(self, asked: messages.Any, kind: type[M]) -> dict[Address, M]:
        self.foreign.clear()
        places: Sequence[Address] = self.string.coordinators
        answers = await asyncio.gather(*(self._ask_one(it, asked, kind) for it in places))
        return {place: it for place, it in zip(places, answers, strict=True) if it is not None}

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


def forward_of(answers: dict[Address, Found]) -> ConnectionString | None:
    """Return how a cluster is found since, if anybody was told."""
    found = next((it.forward for it in answers.values() if it.forward), "")
    return ConnectionString.parse(found) if found else None
