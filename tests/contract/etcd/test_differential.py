"""A few random plays, told to the stand-in and then, with what came of them, to real etcd.

Etcd's check before changes of members is off: it goes by seconds, which are not the same in both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.etcd.plays import Player, odd_lines, undisturbed
from contract.etcd.stage import running, speaking
from contract.etcd.standin import StandIns
from fakes import etcds
from stateward.core.chance import Chance
from stateward.emulate.etcd.state import State
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.model.members import Member
from stateward.sim import loop as sim_loop

SEEDS = (2, 11, 31)
LENGTH = 12
FLAGS = ("--strict-reconfig-check=false",)
RELEASE = etcds.releases()[-1]
PATIENT = Deadlines(reads=1.5, changes=2.0)


class Author:
    """Makes up lines by what the stand-in came to."""

    def __init__(self, seed: int, player: Player) -> None:
        self._chance, self._player = Chance(seed, "plays"), player
        assert isinstance(player.etcds, StandIns)
        self._cluster = player.etcds

    async def write(self) -> str:
        """Return lines with their outcomes, until nobody leads any more."""
        lines: list[str] = []
        for _ in range(LENGTH):
            if (asked := self._somebody()) is None:
                break
            lines.append(await self._played(self._line(asked)))
            if (asked := self._somebody()) is None:
                break
            lines += [await self._played(f"{asked} {verb}") for verb in ("led", "list", "put")]
        return "\n".join(lines)

    async def _played(self, line: str) -> str:
        outcome = await self._player.outcome(line)
        words = line.split()
        removed = words[0] == "start" and not self._cluster[words[1]].disk.empty
        chance = removed and outcome in {"exit 0", "exit 1"}
        return f"{line} -> {'exit 0 or 1' if chance else outcome}"

    def _line(self, asked: str) -> str:
        """Return what is done next: mostly what makes a difference."""
        listed = {self._name(it): it for it in self._last().members.values()}
        whom = self._chance.choice("bcd")
        server = self._cluster[whom].server if whom in self._cluster.members else None
        runs = server is not None and not server.ended
        if self._chance.happens(0.1):
            return self._chance.choice([f"{asked} promote ?", f"{asked} add {asked}"])
        if whom not in listed:
            verbs = [f"{asked} readd {whom}", f"{asked} readd {whom}", self._start(whom)]
        elif not runs:
            verbs = [*[self._start(whom)] * 3, f"wipe {whom}", f"{asked} remove {whom}"]
        elif listed[whom].learner:
            verbs = [f"{asked} catchup {whom}", f"kill {whom}", f"{asked} lead {whom}"]
        else:
            verbs = [f"kill {whom}", f"{asked} lead {whom}", f"{asked} remove {whom}"]
        return self._chance.choice(verbs)

    def _start(self, whom: str) -> str:
        """Return a start by the list; now and then one is forgotten."""
        names = sorted(map(self._name, self._last().members.values()))
        return f"start {whom} existing of {''.join(names[self._chance.happens(0.1) :])}"

    def _last(self) -> State:
        (history,) = self._cluster.universe.histories.values()
        return history.states[-1]

    def _name(self, member: Member) -> str:
        urls = {it.peer_url: name for name, it in self._cluster.members.items()}
        return urls[member.peer_urls[0]]

    def _somebody(self) -> str | None:
        """Return a voter who has, or will have, a leader."""
        voters = self._last().voters
        up = [
            name
            for name, it in sorted(self._cluster.members.items())
            if it.server is not None and it.server.speaks and it.server.member_id in voters
        ]
        return up[0] if len(up) > len(voters) // 2 else None


async def written(seed: int) -> str:
    """Return a play as the stand-in came to it."""
    async with (
        running(RELEASE, "standin", Path(), "abc", *FLAGS) as cluster,
        speaking(cluster, "standin", PATIENT) as voice,
    ):
        player = Player(voice, *FLAGS)
        await player.begin()
        return await Author(seed, player).write()


@pytest.fixture(params=SEEDS)
def script(request: pytest.FixtureRequest) -> str:
    return sim_loop.run(written(request.param))


async def test_real_etcd_comes_to_the_same(script, tmp_path):
    async def attempt(folder: Path) -> list[str]:
        async with (
            running(RELEASE, "grpc", folder, "abc", *FLAGS) as cluster,
            speaking(cluster, "grpc", PATIENT) as voice,
        ):
            player = Player(voice, *FLAGS)
            await player.begin()
            return odd_lines(await player.play(script), script)

    assert await undisturbed(tmp_path, attempt) == []
