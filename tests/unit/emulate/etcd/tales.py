"""Plays of the stand-in alone, also about wires that are cut; see ``contract.etcd.plays``."""

from __future__ import annotations

import asyncio
from pathlib import Path

from contract.etcd.plays import Player
from contract.etcd.stage import Voice
from contract.etcd.standin import StandIn, StandIns
from fakes.etcds import Release
from stateward.emulate.etcd.servers import Server
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.model.members import MemberStatus

NEWEST = "3.6.16"
PATIENT = Deadlines(reads=1.5, changes=2.0)


class Teller(Player):
    """Plays lines, and cuts wires between letters: ``cut a bc``."""

    etcds: StandIns

    async def _cut(self, one: str, others: str) -> None:
        for it in others:
            self.etcds.universe.cut(self.etcds[one].address, self.etcds[it].address)

    async def _heal(self, one: str, others: str) -> None:
        for it in others:
            self.etcds.universe.heal(self.etcds[one].address, self.etcds[it].address)

    async def _mistake(self, one: str, others: str) -> None:
        for it in others:
            pair = (self.etcds[one].address, self.etcds[it].address)
            self.etcds.universe.links.mistaken.add(pair)

    async def _fill(self, whom: str) -> None:
        self.etcds.universe.fill(self.server(whom))

    def server(self, name: str) -> Server:
        """Return the process of a member."""
        found: StandIn = self.etcds[name]
        assert found.server is not None
        return found.server

    async def status(self, name: str) -> MemberStatus:
        """Return what a member says of itself."""
        return await self.voice[name].status()


async def telling(names: str, version: str = NEWEST, seed: int = 7) -> Teller:
    """Return who plays with so many members."""
    cluster = StandIns(Release(version, "played", Path()), seed=seed)
    await cluster.begin(names)
    releases = {"older": cluster.release, "newer": Release(NEWEST, "played", Path())}
    voice = Voice(cluster, "standin", cluster.dialer(PATIENT))
    teller = Teller(voice, releases=releases)
    await teller.begin()
    return teller


async def told(names: str, script: str, version: str = NEWEST) -> str:
    """Return a script as it came out."""
    return await (await telling(names, version)).play(script)


async def pause(seconds: float) -> None:
    await asyncio.sleep(seconds)
