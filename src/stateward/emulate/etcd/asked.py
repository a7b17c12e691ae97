"""What all calls to the stand-in have in common: who answers, who may ask, who has a majority."""

from __future__ import annotations

import asyncio
from typing import Final

from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.emulate.etcd.council import Leaderless
from stateward.emulate.etcd.reign import Change
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import State
from stateward.emulate.etcd.universe import Universe
from stateward.etcd.members.calls import Deadlines, server_patience
from stateward.etcd.members.errors import LearnerCannot, LoginNeeded, NoQuorum
from stateward.etcd.members.port import Endpoint

#: From these releases on, who has not logged in is told nothing at all.
_CLOSED: Final = {(3, 5): 28, (3, 6): 9}


class Asked:
    """The process at one endpoint."""

    def __init__(self, universe: Universe, endpoint: Endpoint, deadlines: Deadlines) -> None:
        self._universe = universe
        self._endpoint = endpoint
        self._deadlines = deadlines

    async def _open(self, seconds: float, *, writes: bool = False) -> Server:
        """Return the process that answers here, or say that none does."""
        server = self._universe.at(self._endpoint.address)
        if server is not None and server.hung:
            await self._universe.clock.sleep(seconds)
            raise self._lost("hangs", writes=writes)
        if server is None or not server.speaks:
            raise PeerUnreachable(f"{self._endpoint}: nobody answers")
        if server.start.client_url.startswith("https:") != (self._endpoint.trust is not None):
            raise PeerUnreachable(f"{self._endpoint}: one speaks TLS and the other does not")
        return server

    async def _voter(self, seconds: float | None = None, *, writes: bool = True) -> Server:
        """Return the process, if it answers everything and we may ask everything."""
        server = await self._open(seconds or self._deadlines.changes, writes=writes)
        if server.learner:
            raise LearnerCannot("rpc not supported for learner", code=14)
        self._log_in(server)
        now = self._universe.clock.monotonic()
        if now < server.busy:
            await self._universe.clock.sleep(server.busy - now)
        if server.ended:
            raise self._lost("ended", writes=writes)
        return server

    def _log_in(self, server: Server, *, asks_little: bool = False) -> None:
        trust = self._endpoint.trust
        shows = trust is not None and bool(trust.certificate)
        version = server.start.version
        is_open = asks_little and version[2] < _CLOSED.get(version[:2], 0)
        if server.state.auth and not shows and not is_open:
            raise LoginNeeded("user name is empty", code=3)

    def _lost(self, words: str, *, writes: bool) -> PeerUnreachable | OutcomeUnknown:
        kind = OutcomeUnknown if writes else PeerUnreachable
        return kind(f"{self._endpoint}: {words}")

    async def _quorum(self, server: Server, seconds: float) -> None:
        """Wait until there is a majority; in vain, as etcd does, when there is none."""
        await self._hears(server, server_patience(seconds))
        if server.ended:
            raise self._lost("ended", writes=False)
        if not server.hears:
            raise NoQuorum("request timed out", code=14)

    async def _commit(
        self, server: Server, change: Change, seconds: float, *, reads: bool = False
    ) -> State:
        """Have something agreed to; one that knows of no leader waits for one."""
        patience = server_patience(seconds)
        if not server.leader:
            begun = self._universe.clock.monotonic()
            await self._hears(server, patience)
            patience -= self._universe.clock.monotonic() - begun
        try:
            return self._universe.commit(server, change)
        except Leaderless as missing:
            found = await self._answer(missing.answer, patience)
        if found is not None:
            return found
        if server.ended or not reads:
            raise self._lost("request timed out", writes=not reads)
        raise NoQuorum("request timed out", code=14)

    async def _answer(self, answer: asyncio.Future[State] | None, seconds: float) -> State | None:
        """Wait for what may be agreed to after all."""
        if answer is None:
            await self._universe.clock.sleep(max(seconds, 0.0))
            return None
        await self._either(answer, seconds)
        return answer.result() if answer.done() and not answer.cancelled() else None

    async def _hears(self, server: Server, seconds: float) -> None:
        if server.hears or server.ended:
            return
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        server.waiting.append(heard)
        await self._either(heard, seconds)

    async def _either(
        self,
        future: asyncio.Future[None] | asyncio.Future[State],
        seconds: float,
    ) -> None:
        """Wait for something, or for so long."""
        if future.done() or seconds <= 0:
            return
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def opened(_: object = None) -> None:
            if not gate.done():
                gate.set_result(None)

        future.add_done_callback(opened)
        timer = self._universe.clock.call_later(seconds, opened)
        try:
            await gate
        finally:
            timer.cancel()
