"""One process of a cluster: it belongs to who controls it, or controls it itself if nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from stateward.core.chance import Chance
from stateward.emulate.fdb.programs import fitness
from stateward.emulate.fdb.programs.coordinator import Coordinator
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk import wire as wires
from stateward.emulate.fdb.talk.council import Council
from stateward.emulate.fdb.talk.messages import (
    Agent,
    Any,
    Beat,
    Die,
    Done,
    Exec,
    Find,
    Join,
    Perform,
    Told,
    Transact,
)
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.wire import BEAT, Lost, Wire
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString

if TYPE_CHECKING:
    from stateward.emulate.fdb.programs.controller import Controller

#: Seconds between two looks for who controls the cluster.
_PAUSE: Final = 0.1
#: Seconds that one waits before it wants to control, for each kind that is made for it more.
_STEP: Final = 0.1
#: What only who controls the cluster answers.
_ITS: Final = (Agent, Exec, Join, Perform, Transact)


@dataclass(slots=True)
class Worker:
    """One process: what it is, whom it asks, and what it keeps as a coordinator."""

    about: Join
    address: Address
    seeker: Seeker
    coordinator: Coordinator
    pace: Pace
    chance: Chance
    #: Told once that it belongs to a cluster, and that it shall end.
    joined: Callable[[], None]
    ended: Callable[[float], None]
    controller: Controller | None = None
    _reign: asyncio.Task[None] | None = None
    _term: int = 0
    #: Addresses of those who came lately and speak another protocol.
    _strangers: set[str] = field(default_factory=set)

    async def live(self) -> None:
        """Belong to the cluster, or control it, for ever.

        One that was held up for longer than its term still reigns until it has asked again: two
        reigns of one process would end each other, and nobody would answer.
        """
        clock = asyncio.get_running_loop().time
        alone = clock()
        while True:
            if self._reign is not None and self._reign.done():
                self._reign.result()  # a reign that went wrong is the end of this process
            holder = await self.seeker.look()
            if holder is not None:
                await self._belong(holder)
                alone = clock()
            elif self.controller is None and clock() - alone >= self._patience():
                await self._stand()
                alone = clock()
            await asyncio.sleep(_PAUSE)

    async def resign(self) -> None:
        """Let others control the cluster, if this one does."""
        if self.controller is not None:
            await self.controller.resign()

    # ------------------------------------------------------------------ belonging

    async def _belong(self, holder: Address) -> None:
        """Be a process of the cluster for as long as whoever controls it does."""
        speaker = self.seeker.speaker
        try:
            wire = await wires.connect(holder, speaker.security, speaker.protocol)
        except Lost:
            return
        beat = asyncio.create_task(self._beat(wire))
        try:
            await wire.send(self.about)
            while True:
                told = await wire.hear()
                if isinstance(told, Told):
                    self.seeker.learn(ConnectionString.parse(told.string))
                    self.joined()
        except Lost:
            pass
        finally:
            beat.cancel()
            wire.close()

    # ------------------------------------------------------------------ controlling

    def _patience(self) -> float:
        """Return for how long nobody must control the cluster before this one wants to."""
        rank = fitness.rank(ProcessClass(self.about.process_class))
        return _STEP * (rank + self.chance.fraction())

    async def _stand(self) -> None:
        council = Council(self.seeker.string, self.seeker.speaker)
        me, self._term = str(self.address), self._term + 1
        let, seen = await council.stand(me, self._term)
        kept = await council.read() if let else None
        if kept is None:
            self._term = max(self._term, seen)
            await council.release(me)
            await asyncio.sleep(self.chance.between(0, _STEP * 3))
            return
        # The model is only needed here, and is most of what there is to load.
        from stateward.emulate.fdb.programs import controller  # noqa: PLC0415

        rank = fitness.rank(ProcessClass(self.about.process_class))
        crown = controller.Crown(council, me, self._term, rank)
        self.controller = controller.begun(crown, kept, self.pace, self.chance)
        self._reign = asyncio.create_task(self._reigned(self.controller))

    async def _reigned(self, controller: Controller) -> None:
        try:
            await controller.reign()
        finally:
            self.controller = None

    # ------------------------------------------------------------------ whoever comes

    async def serve(self, wire: Wire, first: Any) -> None:
        """Answer one connection, which began with a message."""
        answer = self.coordinator.answer(first)
        if answer is not None:
            await wire.send(answer)
        elif isinstance(first, Die):
            with suppress(Lost):
                await wire.send(Done())
            self.ended(first.seconds)
        elif self.controller is not None and isinstance(first, _ITS):
            await self.controller.serve(wire, first)

    def met(self, protocol: str, said: Any | None) -> None:
        """Hear of somebody who speaks another protocol."""
        del protocol
        with suppress(ValueError):
            if isinstance(said, Find) and said.asker:
                self._strangers.add(str(Address.parse(said.asker)))

    async def _beat(self, wire: Wire) -> None:
        with suppress(Lost):
            while True:
                await asyncio.sleep(BEAT)
                met, self._strangers = sorted(self._strangers), set()
                await wire.send(Beat(met))
