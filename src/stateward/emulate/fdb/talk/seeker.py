"""One who has a cluster file and looks for whoever controls the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.emulate.fdb.talk import clusterfile, wire
from stateward.emulate.fdb.talk.council import Council, Speaker, forward_of, holder_of
from stateward.emulate.fdb.talk.wire import Lost, Wire
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

_PAUSE: Final = 0.1
#: How often a cluster may have moved before somebody with an old file asks.
_FORWARDS: Final = 100


@dataclass(slots=True)
class Seeker:
    """Knows how a cluster is found, and learns it anew when it has moved."""

    string: ConnectionString
    speaker: Speaker
    #: Told of how the cluster is found from now on.
    learnt: Callable[[ConnectionString], None] = lambda _string: None
    #: Where the process is that looks; nothing: it is none.
    asker: str = ""
    #: Coordinators that answered when they were asked last, and those with another protocol.
    answering: set[Address] = field(default_factory=set)
    foreign: set[Address] = field(default_factory=set)

    async def look(self) -> Address | None:
        """Return who controls the cluster now, if coordinators know of anybody."""
        for _ in range(_FORWARDS):
            council = Council(self.string, self.speaker)
            answers = await council.find(self.asker)
            self.answering, self.foreign = set(answers), council.foreign
            forward = forward_of(answers, self.string.quorum)
            if forward is None:
                holder = holder_of(answers)
                return Address.parse(holder) if holder else None
            self.learn(forward)
        return None

    def learn(self, string: ConnectionString) -> None:
        """Find the cluster by this from now on."""
        if string != self.string:
            self.string = string
            self.learnt(string)

    async def controller(self) -> Wire:
        """Return a connection to who controls the cluster, however long that takes."""
        while True:
            holder = await self.look()
            if holder is not None:
                try:
                    return await wire.connect(holder, self.speaker.security, self.speaker.protocol)
                except Lost:
                    pass  # it is about to be known as gone
            await asyncio.sleep(_PAUSE)


def of_file(path: Path, speaker: Speaker, told: str = "") -> Seeker:
    """Return who looks by a cluster file, and writes it anew; raise Unusable."""
    string = clusterfile.read(path, told or str(path))
    return Seeker(string, speaker, learnt=lambda it: _write(path, it))


def _write(path: Path, string: ConnectionString) -> None:
    clusterfile.write(path, string)
