"""Who belongs to the cluster: what etcd allows, and what its refusals are called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

import pytest

from contract.etcd.stage import Voice, speaking
from fakes import etcds
from fakes.etcds import Etcd, Etcds
from stateward.etcd.members.errors import EtcdPacing, EtcdRefused, LearnerBehind

#: A line is: who is asked, what, about whom, and what comes of it. "?" is a member that never was.
GROWING = """
a  remove  a    QuorumAtRisk
a  remove  ?    MemberUnknown
a  promote ?    MemberUnknown
a  promote a    AlreadyVoter
a  add     b    done
a  add     b    MemberExists
a  add     c    TooManyLearners
a  promote b    LearnerBehind
a  remove  b    done
a  remove  b    MemberUnknown
a  readd   b    done
-  start   b    done
b  list    -    LearnerCannot
b  put     -    LearnerCannot
b  add     c    LearnerCannot
a  move    b    NotTheLeader
a  catchup b    done
a  promote b    AlreadyVoter
a  add     c    EtcdPacing
b  list    -    done
b  move    a    NotTheLeader
a  move    ?    NotTheLeader
a  move    b    done
b  move    a    done
a  remove  b    EtcdPacing
a  put     -    done
"""

SHRINKING = """
-  kill    c    done
a  remove  b    EtcdPacing
a  remove  c    done
a  remove  b    EtcdPacing
a  list    -    done
"""


@pytest.mark.parametrize(
    ("names", "script"), [("a", GROWING), ("abc", SHRINKING)], ids=["up", "down"]
)
async def test_changes_of_members(release, way, names, script, tmp_path):
    with etcds.running(release, tmp_path, names) as cluster:
        async with speaking(cluster, way) as voice:
            lines = [line.split() for line in script.strip().splitlines()]
            player = Player(voice)
            await player.begin(names)
            told = [[*line[:3], await player.play(*line[:3])] for line in lines]

    assert told == lines


async def test_members_that_run_are_removed_once_they_are_long_enough_connected(tmp_path):
    """All releases at once: the five seconds that etcd asks for pass for all of them."""
    with ExitStack() as stack:
        clusters = {}
        for release in etcds.releases():
            (folder := tmp_path / str(release)).mkdir()
            clusters[release] = stack.enter_context(etcds.running(release, folder, "abc"))
        left = await asyncio.gather(*map(shrunk, clusters.values()))

    assert dict(zip(clusters, left, strict=True)) == {it: ["a"] for it in clusters}


async def shrunk(cluster: Etcds) -> list[str]:
    """Remove one of three members in one way, and one of two in the other; return who is left."""
    async with speaking(cluster, "gateway") as one, speaking(cluster, "grpc") as other:
        player = Player(one)
        await player.begin("abc")
        await player.patiently(lambda: one["a"].remove(player.ids["c"]), EtcdPacing)
        await other["a"].remove(player.ids["b"])
        return [it.name for it in (await other["a"].members()).members]


async def test_an_added_member_is_a_learner_without_a_name(release, way, tmp_path):
    with etcds.running(release, tmp_path) as cluster:
        new = cluster.prepare("b")
        async with speaking(cluster, way) as voice:
            added = await voice["a"].add_learner(new.peer_url)
            listed = await voice["a"].members()

    assert (added.learner, added.started, added.peer_urls) == (True, False, (new.peer_url,))
    assert added in listed.members


class Player:
    """Plays the lines of a script."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self.ids = {"?": 12345}

    async def begin(self, names: str) -> None:
        """Learn the ids; whoever is asked for a move must lead."""
        self.ids |= await self.voice.ids()
        if (leader := await self.voice.leader()) != "a":
            await self.voice[leader].move_leader(self.ids["a"])

    async def play(self, asked: str, verb: str, whom: str) -> str:
        try:
            await getattr(self, f"_{verb}")(asked, whom)
        except EtcdRefused as refusal:
            return type(refusal).__name__
        return "done"

    async def _add(self, asked: str, whom: str) -> None:
        known = self.voice.etcds.members
        peer_url = (known[whom] if whom in known else self._prepared(whom)).peer_url
        self.ids[whom] = (await self.voice[asked].add_learner(peer_url)).id

    def _prepared(self, whom: str) -> Etcd:
        return self.voice.etcds.prepare(whom)

    async def _promote(self, asked: str, whom: str) -> None:
        await self.voice[asked].promote(self.ids[whom])

    async def _catchup(self, asked: str, whom: str) -> None:
        await self.patiently(lambda: self._promote(asked, whom), LearnerBehind)

    async def _readd(self, asked: str, whom: str) -> None:
        # Ids are made of address and second: in the same second it would be the one just removed.
        await self.patiently(lambda: self._add(asked, whom), EtcdPacing)

    async def patiently(
        self, act: Callable[[], Awaitable[None]], refusal: type[EtcdRefused]
    ) -> None:
        """Do something as soon as etcd no longer refuses it."""
        async with asyncio.timeout(20):
            while True:
                try:
                    return await act()
                except refusal:
                    await asyncio.sleep(0.02)

    async def _remove(self, asked: str, whom: str) -> None:
        await self.voice[asked].remove(self.ids[whom])

    async def _move(self, asked: str, whom: str) -> None:
        await self.voice[asked].move_leader(self.ids[whom])

    async def _list(self, asked: str, _whom: str) -> None:
        await self.voice[asked].members()

    async def _put(self, asked: str, _whom: str) -> None:
        await self.voice[asked].put(b"k", b"v")

    async def _start(self, _asked: str, whom: str) -> None:
        known = self.voice.etcds.members
        initial = ",".join(f"{name}={known[name].peer_url}" for name in ("a", whom))
        known[whom].start(initial, "existing")
        known[whom].wait(200, 503)  # a learner does not call itself healthy
        assert (await self.voice[whom].status()).learner

    async def _kill(self, _asked: str, whom: str) -> None:
        self.voice.etcds[whom].kill()
        # Until the others have noticed, they count it among the living.
        await asyncio.sleep(0.5)
